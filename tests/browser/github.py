"""How GitHub would show a comment: an approximation.

Markdown as GFM, then only the elements and attributes that GitHub's sanitiser lets through (as
its markup pipeline publishes them), in GitHub's published stylesheet.
"""

from pathlib import Path

import nh3
from markdown_it import MarkdownIt

CSS = Path(__file__).parents[2] / "node_modules" / "github-markdown-css" / "github-markdown.css"
ELEMENTS = (
    "h1 h2 h3 h4 h5 h6 br b i strong em a pre code img tt div ins del sup sub p picture ol ul",
    "table thead tbody tfoot blockquote dl dt dd kbd q samp var hr ruby rt rp li tr td th s",
    "strike summary details caption figure figcaption abbr bdo cite dfn mark small source span",
    "time wbr",
)
ATTRIBUTES = {
    "*": {"align", "alt", "colspan", "dir", "open", "rowspan", "start", "title", "width"},
    "a": {"href"},
    "img": {"src"},
    "th": {"align"},
}
PAGE = """<!doctype html><html lang="{language}"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1"><title>comment</title>
<style>{css}
body {{ margin: 0; color-scheme: light dark; }}
main {{ max-width: 860px; padding: 16px; }}
</style></head><body><main class="markdown-body">{body}</main></body></html>"""


def as_github_shows_it(comment: str, language: str) -> str:
    """The comment as a page of its own."""
    markdown = MarkdownIt("gfm-like", {"linkify": True})
    assert markdown.linkify is not None
    markdown.linkify.add("//", None)  # GFM makes links of http, https, www and addresses alone
    rendered = markdown.render(comment)
    safe = nh3.clean(
        rendered,
        tags={name for line in ELEMENTS for name in line.split()},
        attributes={name: set(given) for name, given in ATTRIBUTES.items()},
        url_schemes={"http", "https", "mailto"},
        link_rel="nofollow",
    )
    css = CSS.read_text(encoding="utf-8")
    return PAGE.format(css=css, body=safe, language=language)
