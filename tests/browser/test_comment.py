"""The comment as GitHub would show it, in Chromium: an approximation, see github.py."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gradegate.report.render import render
from tests.browser.conftest import PHONE, SITUATIONS, report_of
from tests.browser.github import as_github_shows_it
from tests.browser.test_page import overflow

Opened = Callable[..., Any]


@pytest.mark.parametrize("language", ["en", "ja"])
@pytest.mark.parametrize("situation", SITUATIONS)
def test_the_comment_fits_and_stays_dead(
    situation: str, language: str, open_file: Opened, tmp_path: Path
) -> None:
    """Light, dark and on a phone; no text of others becomes a link, a picture or a mention."""
    comment = render(report_of(situation), "comment", language=language)
    path = tmp_path / "comment.html"
    path.write_text(as_github_shows_it(comment, language), encoding="utf-8")
    for scheme, size in (("light", (900, 800)), ("dark", (900, 800)), ("light", PHONE)):
        with open_file(path, size=size, color_scheme=scheme) as page:
            page.evaluate("document.querySelectorAll('details').forEach((one) => one.open = true)")
            assert page.locator("h2").count() == 1
            assert [one for one in overflow(page) if "<t" not in one] == []
            assert page.locator("img, script, svg, iframe, input").count() == 0
            links = page.evaluate("() => [...document.links].map((one) => one.href)")
            assert [link for link in links if "gradegate" not in link] == []
