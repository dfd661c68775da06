"""What a user did wrong, said so that they can mend it.

GradegateError              anything that ends a command with a message and no traceback
├── InputError              exit 2: a file, an option or a ref is wrong
│   ├── FileError           … in a file: knows path, line and column
│   └── ForgeError          … GitHub refused what we need (token, permissions, missing PR)
└── Interrupted             exit 130/143: what was finished is kept

Expected failures of the work itself (an agent that crashed, a judge that did not answer,
a comment that could not be posted) are values, not exceptions.
"""

from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import PurePath


def did_you_mean(name: str, known: Iterable[str], *, cutoff: float = 0.6) -> str | None:
    """The known name that was probably meant."""
    return next(iter(get_close_matches(name, sorted(known), n=1, cutoff=cutoff)), None)


class GradegateError(Exception):
    """Base of everything a command reports as one message instead of a traceback."""

    exit_code = 2


class InputError(GradegateError):
    """The user's input is wrong; the message says what to write instead."""


class FileError(InputError):
    """A file is wrong, at a place we can name."""

    def __init__(
        self, path: PurePath | str, message: str, *, line: int | None = None, column: int = 1
    ) -> None:
        self.path = str(path)
        self.line = line
        self.column = column
        self.message = message
        place = self.path if line is None else f"{self.path}:{line}:{column}"
        super().__init__(f"{place}: {message}")


class ForgeError(InputError):
    """GitHub refused something the job cannot do without."""


class Interrupted(GradegateError):  # noqa: N818 - an event, not an error of anyone's
    """The run was told to stop; finished units are in the journal."""

    def __init__(self, signal_number: int) -> None:
        self.exit_code = 128 + signal_number
        super().__init__("interrupted; what was finished is kept, run the same command to continue")
