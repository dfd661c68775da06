"""The comment as GitHub would show it, in Chromium: an approximation, see github.py."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gradegate.report.render import render
from tests.browser.conftest import LINKS, SITUATIONS, report_of
from tests.browser.github import as_github_shows_it
from tests.browser.test_page import in_every_look

SIDEWAYS = "document.documentElement.scrollWidth > innerWidth"
OURS = (LINKS.report, LINKS.run, LINKS.files)
Opened = Callable[..., Any]


@pytest.mark.parametrize("language", ["en", "ja"])
@pytest.mark.parametrize("situation", SITUATIONS)
def test_the_comment_fits_and_stays_dead(
    situation: str, language: str, open_file: Opened, tmp_path: Path
) -> None:
    """Light, dark and on a phone; no text of others becomes a picture, or a link in disguise."""
    comment = render(report_of(situation), "comment", language=language, links=LINKS)
    path = tmp_path / "comment.html"
    path.write_text(as_github_shows_it(comment, language), encoding="utf-8")
    with open_file(path) as page:
        page.evaluate("document.querySelectorAll('details').forEach((one) => one.open = true)")
        assert page.locator("h2").count() == 1
        assert page.locator("img, script, svg, iframe, input").count() == 0
        links = page.evaluate("() => [...document.links].map((one) => [one.href, one.innerText])")
        others = [(href, text) for href, text in links if not href.startswith(OURS)]
        assert [one for one in others if one[0].rstrip("/") != one[1]] == []
        # What is wider than the window scrolls in its own box, as tables and code do on GitHub.
        assert in_every_look(page, lambda page: page.evaluate(SIDEWAYS)) == {}
