"""One remark about one place of a file."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal, Self

from gradegate.model.errors import FileError
from gradegate.model.notice import Notice, notice, with_code

Level = Literal["error", "warning"]


@dataclass(frozen=True, order=True)
class Finding:
    """Something wrong, or doubtful, at a line and column (both counted from 1)."""

    path: str
    line: int
    column: int
    level: Level
    message: str
    notice: Notice | None = field(default=None, compare=False)
    """The message as it can be told in another language, where it can."""

    def __str__(self) -> str:
        """As editors and terminals like to link it."""
        return f"{self.path}:{self.line}:{self.column}: {self.level}: {self.message}"

    @classmethod
    def at(cls, path: str, place: tuple[int, int], level: Level, told: Notice | str) -> Self:
        """A finding at a line and column, in anyone's words."""
        if isinstance(told, str):
            return cls(path, *place, level, told)
        return cls(path, *place, level, told.text, with_code(told))

    def as_notice(self) -> Notice:
        """The same for the reader of a report."""
        what = self.notice or self.message
        place = f"{self.path}:{self.line}:{self.column}"
        if self.level == "error":
            return notice("finding.error", place=place, what=what)
        return notice("finding.warning", place=place, what=what)

    @classmethod
    def of(cls, error: FileError) -> "Finding":
        """The same as a finding, for those who go on reading after an error."""
        return cls(error.path, error.line or 1, error.column, "error", error.message)


def refuse_errors(findings: Iterable[Finding]) -> None:
    """Raise the first error among the findings; warnings are no reason to stop."""
    for finding in findings:
        if finding.level == "error":
            raise FileError(finding.path, finding.message, line=finding.line, column=finding.column)
