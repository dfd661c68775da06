"""One remark about one place of a file."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from gradegate.model.errors import FileError

Level = Literal["error", "warning"]


@dataclass(frozen=True, order=True)
class Finding:
    """Something wrong, or doubtful, at a line and column (both counted from 1)."""

    path: str
    line: int
    column: int
    level: Level
    message: str

    def __str__(self) -> str:
        """As editors and terminals like to link it."""
        return f"{self.path}:{self.line}:{self.column}: {self.level}: {self.message}"

    @classmethod
    def of(cls, error: FileError) -> "Finding":
        """The same as a finding, for those who go on reading after an error."""
        return cls(error.path, error.line or 1, error.column, "error", error.message)


def refuse_errors(findings: Iterable[Finding]) -> None:
    """Raise the first error among the findings; warnings are no reason to stop."""
    for finding in findings:
        if finding.level == "error":
            raise FileError(finding.path, finding.message, line=finding.line, column=finding.column)
