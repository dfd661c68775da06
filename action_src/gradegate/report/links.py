"""Addresses within the page: from the comment, an annotation or a terminal to a case and a turn."""

from urllib.parse import quote

from gradegate.model.evalset import CaseKey


def case_address(key: CaseKey) -> str:
    """What a case is known by in the page's address: suite, eval set and id."""
    return "::".join(part.replace("%", "%25").replace(":", "%3A") for part in key)


def case_fragment(key: CaseKey, turn: int | None = None) -> str:
    """What follows the page's own address to show a case, and a turn of it."""
    fragment = f"#case={quote(case_address(key), safe='/')}"
    return fragment if turn is None else f"{fragment}&turn={turn}"
