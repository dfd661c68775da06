"""A report's page, photographed in Chromium: `make pictures`.

Needs Chromium on PATH, and Playwright (`make test-browser` brings both).
"""

import shutil
import sys
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

WIDE, PHONE = (1280, 800), (390, 760)
OVERVIEW, CASE, TURN = "overview", "case", "turn"
PICTURES = {
    "page": (OVERVIEW, WIDE, "light"),
    "page-case": (CASE, WIDE, "light"),
    "page-dark": (TURN, WIDE, "dark"),
    "page-phone": (CASE, PHONE, "light"),
}


def photograph(browser: Any, report: Path, picture: Path, what: tuple[str, Any, str]) -> None:
    """Take one picture: of the overview, of the first case in the list, or of its second turn."""
    shown, (width, height), scheme = what
    size = {"width": width, "height": height}
    page = browser.new_page(viewport=size, color_scheme=scheme, device_scale_factor=1.5)
    page.goto(report.resolve().as_uri())
    page.wait_for_selector("body.alive")
    if shown != OVERVIEW:
        page.locator("#list a").first.click()
        page.wait_for_selector(".case")
        if shown == TURN:
            page.evaluate("location.hash += '&turn=2'")
            page.wait_for_selector(".turn.target")
        page.mouse.move(width - 1, height - 1)
    page.screenshot(path=picture)
    page.close()


def main() -> None:
    """Usage: page_pictures.py report.html folder [name…]."""
    report, folder, *names = sys.argv[1:]
    with sync_playwright() as playwright:
        program = shutil.which("chromium")
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        for name in names or PICTURES:
            photograph(browser, Path(report), Path(folder) / f"{name}.png", PICTURES[name])
        browser.close()


if __name__ == "__main__":
    main()
