"""The demo's comment as GitHub shows it, photographed: `make pictures`.

Needs Chromium on PATH, and github-markdown-css from npm (`npm ci` brings it).
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from markdown_it import MarkdownIt

PAGE = """<!doctype html><meta charset="utf-8"><style>{css}
body {{ margin: 0; background: #f6f8fa; padding: 24px; width: 852px;
       font-family: "Noto Sans", "DejaVu Sans", sans-serif; }}
.box {{ border: 1px solid #d1d9e0; border-radius: 6px; background: #fff; }}
.by {{ border-bottom: 1px solid #d1d9e0; background: #f6f8fa; padding: 10px 16px;
      font-size: 14px; color: #59636e; border-radius: 6px 6px 0 0; }}
.by b {{ color: #1f2328; }}
.markdown-body {{ padding: 16px; font-size: 14px;
                 font-family: "Noto Sans", "Noto Sans CJK JP", "Noto Color Emoji", sans-serif; }}
.bot {{ border: 1px solid #d1d9e0; border-radius: 2em; padding: 0 7px; font-size: 12px; }}
</style><div class="box">
<div class="by"><b>github-actions</b> <span class="bot">bot</span> commented now</div>
<div class="markdown-body">{body}</div></div>"""


def page_of(comment: str, css: str) -> str:
    """The comment's Markdown as a page; details are shown as GitHub shows them, folded."""
    rendered = MarkdownIt("gfm-like", {"linkify": False}).render(comment)
    return PAGE.format(css=css, body=rendered)


def photograph(html: str, picture: Path, height: int) -> None:
    """Take a picture of the page with headless Chromium."""
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "page.html"
        page.write_text(html, encoding="utf-8")
        subprocess.run(
            [
                "chromium",
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--hide-scrollbars",
                "--force-device-scale-factor=2",
                f"--user-data-dir={folder}/profile",
                f"--window-size=900,{height}",
                f"--screenshot={picture}",
                f"file://{page}",
            ],
            check=True,
            capture_output=True,
        )


def main() -> None:
    """Usage: picture.py comment.md style.css picture.png [height]."""
    comment, css, picture, *height = sys.argv[1:]
    html = page_of(Path(comment).read_text("utf-8"), Path(css).read_text("utf-8"))
    photograph(html, Path(picture), int(height[0]) if height else 900)


if __name__ == "__main__":
    main()
