"""Requests that wait for each other, so that a race happens every time."""

import re
import threading
from dataclasses import dataclass, field

PATIENCE_SECONDS = 300.0


@dataclass
class _Meeting:
    method: str
    path: re.Pattern[str]
    missing: int
    everybody_came: threading.Event = field(default_factory=threading.Event)


class Meetings:
    """Holds requests back until as many have come as were arranged."""

    def __init__(self) -> None:
        self._arranged: list[_Meeting] = []
        self._lock = threading.Lock()

    def arrange(self, method: str, path: str, parties: int) -> None:
        """Let the next `parties` requests of this kind go on together."""
        self._arranged.append(_Meeting(method, re.compile(path), parties))

    def attend(self, method: str, path: str) -> None:
        """Wait for the others; who comes when all have met goes straight on."""
        meeting = self._join(method, path)
        if meeting is not None and not meeting.everybody_came.wait(PATIENCE_SECONDS):
            raise TimeoutError(f"{method} {path} waited in vain for {meeting.missing} more")

    def _join(self, method: str, path: str) -> _Meeting | None:
        with self._lock:
            for meeting in self._arranged:
                if meeting.method == method and meeting.path.search(path):
                    meeting.missing -= 1
                    if not meeting.missing:
                        self._arranged.remove(meeting)
                        meeting.everybody_came.set()
                    return meeting
        return None
