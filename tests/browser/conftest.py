"""Chromium as Debian has it, driven by Playwright: `make test-browser` brings both."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from gradegate.model.report import Report
from gradegate.report.links import Links
from gradegate.report.render import render
from tests import situations
from tests.browser import reports

ROOT = Path(__file__).parents[2]
NAMES = ("chromium", "chromium-browser", "google-chrome")
SITUATIONS: dict[str, Callable[[], Report]] = {
    **situations.SITUATIONS,
    "long_conversation": reports.long_conversation,
    "hostile_page": reports.hostile,
    "large_20": lambda: reports.large(2_000, 20),
    "large_700": lambda: reports.large(2_000, 700),
}
LINKS = Links(
    report="https://ci.example/report.html",
    run="https://github.com/acme/desk/actions/runs/7",
    files="https://github.com/acme/desk/blob/b81e3a07c5d94e2f6610aa92f7de01c3b4455c66",
)
WIDE, NARROW, PHONE = (1360, 860), (1000, 800), (390, 844)


@cache
def report_of(situation: str) -> Report:
    """The report of a situation, made once."""
    return SITUATIONS[situation]()


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """The browser; a machine that has none says what is missing."""
    program = next(filter(None, map(shutil.which, NAMES)), None)
    if program is None:
        pytest.skip("no Chromium here: apt-get install chromium, and run make test-browser again")
    sync_api = pytest.importorskip("playwright.sync_api", reason="run make test-browser")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()


@dataclass
class Seen:
    """What went wrong while a page was open."""

    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)


@pytest.fixture
def open_file(chromium: Any) -> Callable[..., Any]:
    """Opens a file in a page of its own, which may ask for nothing and complain of nothing."""

    @contextmanager
    def opened(
        path: Path, *, fragment: str = "", may_complain: bool = False, **options: Any
    ) -> Iterator[Any]:
        size = options.pop("size", WIDE)
        context = chromium.new_context(
            viewport={"width": size[0], "height": size[1]}, offline=True, **options
        )
        page, seen = context.new_page(), Seen()
        page.on("pageerror", lambda error: seen.errors.append(str(error)))
        page.on("console", lambda said: seen.errors.append(said.text))
        page.on("dialog", lambda dialog: seen.dialogs.append(dialog.message))
        page.on("request", lambda request: seen.requests.append(request.url))
        page.goto(f"{path.as_uri()}{fragment}")
        yield page
        context.close()
        assert seen.dialogs == []
        if may_complain:
            return
        assert seen.errors == []
        assert [url for url in seen.requests if not url.startswith(path.as_uri())] == []

    return opened


@pytest.fixture
def open_page(
    open_file: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory
) -> Callable[..., Any]:
    """Opens a situation's page and waits until its script has run."""

    @contextmanager
    def opened(situation: str, *, language: str = "en", **options: Any) -> Iterator[Any]:
        path = tmp_path_factory.getbasetemp() / f"{situation}.{language}.html"
        if not path.exists():
            path.write_text(page_text(situation, language), encoding="utf-8")
        with open_file(path, **options) as page:
            page.wait_for_selector("body.alive")
            yield page

    return opened


@cache
def page_text(situation: str, language: str) -> str:
    """The page of a situation."""
    return render(report_of(situation), "html", language=language, links=LINKS)
