"""The hidden lines by which our comments and checks are known to be ours."""

import hashlib
import re

HIDDEN = "<!-- gradegate:"
"""What our hidden lines begin with."""
_UNSAFE = re.compile(r"[^A-Za-z0-9._]+")


def marker(check_name: str) -> str:
    """The HTML comment that is the first or last line of the comment of this check.

    Different check names have different markers, so that a matrix or a monorepo keeps
    one comment each.
    """
    return f"{HIDDEN}comment:{_slug(check_name)} -->"


def carries_marker(body: str, check_name: str) -> bool:
    """Whether the text is marked as the comment of this check.

    Only the first and the last line count: text that is merely quoted in a comment
    must not claim it.
    """
    lines = [line.strip() for line in body.strip().split("\n")]
    return marker(check_name) in (lines[0], lines[-1])


def _slug(check_name: str) -> str:
    slug = _UNSAFE.sub("-", check_name).strip("-")
    if slug == check_name:
        return slug
    return f"{slug}-{hashlib.sha256(check_name.encode()).hexdigest()[:8]}".lstrip("-")
