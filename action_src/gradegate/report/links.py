"""Addresses that a view may lead to: the full report, the run, the files at head's commit."""

from dataclasses import dataclass
from urllib.parse import quote

from gradegate.model.evalset import CaseKey

_SAFE = ":/?#@!$&'*+,;=%~"
"""What an address keeps; brackets, quotes and blanks would end a Markdown link early."""


@dataclass(frozen=True)
class Links:
    """Where things are; empty: nowhere that is known."""

    report: str = ""
    """The full report, as a page."""
    run: str = ""
    """The workflow's run."""
    files: str = ""
    """What the repository's paths are put behind, such as `https://github.com/o/r/blob/1a2b3c4`."""
    folder: str = "."
    """The project's folder in the repository."""

    @property
    def full(self) -> str:
        """The report's page, or else the run, whose artifacts have it."""
        return self.report or self.run

    def file(self, path: str, line: int) -> str:
        """A line of a file of the project's."""
        if not self.files:
            return ""
        prefix = "" if self.folder in ("", ".") else f"{self.folder.strip('/')}/"
        return f"{self.files}/{quote(prefix + path.removeprefix('./'))}#L{max(line, 1)}"

    def case(self, key: CaseKey) -> str:
        """A case on the report's page."""
        return f"{self.report}{case_fragment(key)}" if self.report else ""


NOWHERE = Links()


def web_address(text: str) -> str:
    """An http address made safe to be put between the brackets of a Markdown link; else nothing."""
    if not text.startswith(("https://", "http://")):
        return ""
    return quote(text, safe=_SAFE)


def case_address(key: CaseKey) -> str:
    """What a case is known by in the page's address: suite, eval set and id."""
    return "::".join(part.replace("%", "%25").replace(":", "%3A") for part in key)


def case_fragment(key: CaseKey, turn: int | None = None) -> str:
    """What follows the page's own address to show a case, and a turn of it."""
    fragment = f"#case={quote(case_address(key), safe='/')}"
    return fragment if turn is None else f"{fragment}&turn={turn}"
