"""Which report a check is of: written into the check itself, where no step of a job can write.

A later step of the same job may post the report again, with the address that it has by then. What
lies in the workspace may have been changed meanwhile by whatever ran between the two steps; the
check on GitHub has not.
"""

import hashlib
import re
from typing import NamedTuple

_MARK = re.compile(r"<!-- gradegate:report ([0-9a-f]{64}) ([\w-]+) -->")


class ReportMark(NamedTuple):
    """The text of a report.json, by its digest, and the language it was shown in."""

    digest: str
    language: str

    @classmethod
    def of(cls, text: str, language: str) -> "ReportMark":
        """The mark of this text."""
        return cls(hashlib.sha256(text.encode(errors="backslashreplace")).hexdigest(), language)

    @classmethod
    def read(cls, summary: str) -> "ReportMark | None":
        """The mark at the end of a check's summary; views escape what looks like one."""
        found = _MARK.findall(summary)
        return cls(*found[-1]) if found else None

    def line(self) -> str:
        """As it is written down: a line that nobody sees."""
        return f"<!-- gradegate:report {self.digest} {self.language} -->"

    def is_of(self, text: str) -> bool:
        """Whether it is this text's."""
        return self.of(text, self.language) == self
