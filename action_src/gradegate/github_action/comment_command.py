"""What a comment on a pull request asks for: `/gradegate rerun`, `/gradegate accept all: …`.

The comment is data. Its first line is read here, and GitHub is asked what its author may do; none
of it becomes part of a command, and nothing of the pull request is checked out or run.
"""

import re
from typing import Literal

from gradegate.model.base import Value

WORD = "/gradegate"
ALL = "all"
_LONGEST = 300
_LINE = re.compile(r"/gradegate(?:\s+(?P<name>\S+)(?:\s+(?P<rest>.*))?)?")
_ACCEPT = re.compile(r"(?P<case>\"[^\"]+\"|\S+?):?\s+(?P<reason>\S.*)")


class Rerun(Value):
    """Run the workflow of the newest report again."""


class Accept(Value):
    """Accept what base would object to, in one case or in all."""

    case: str
    """An eval id, or `all`."""
    reason: str


class Misunderstood(Value):
    """Something else behind `/gradegate`."""

    why: Literal["name", "accept"] = "name"


Command = Rerun | Accept | Misunderstood


def command_in(body: str) -> Command | None:
    """The command of a comment's first line; None where it has none for us."""
    first = body.strip()[:_LONGEST].split("\n", 1)[0].strip()
    found = _LINE.fullmatch(first)
    if found is None:
        return None
    name, rest = found["name"], (found["rest"] or "").strip()
    if name == "rerun" and not rest:
        return Rerun()
    if name == "accept":
        given = _ACCEPT.fullmatch(rest)
        if given is None:
            return Misunderstood(why="accept")
        return Accept(case=given["case"].strip('"'), reason=given["reason"])
    return Misunderstood()
