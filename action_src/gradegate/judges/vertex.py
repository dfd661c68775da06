"""Vertex AI's evaluation service, through google-cloud-aiplatform's client.

The SDK takes seconds and half a gigabyte to import, and it is synchronous: it is imported with
the first question, off the loop, and works in threads of its own.
"""

import asyncio
import warnings
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gradegate.judges.vertex_access import VertexAccess
from gradegate.model.question import VERTEX, Question
from gradegate.ports import Reply, Trouble

if TYPE_CHECKING:
    from gradegate.judges.vertex_service import VertexService

NOT_INSTALLED = (
    "Vertex AI's SDK is not installed: `pip install 'gradegate[vertex]'`, or use the image that "
    "has it"
)
_LONGEST_CALL = 120.0


class VertexAnswerer:
    """Has one answer, or one conversation, scored once."""

    def __init__(self, access: VertexAccess, max_parallel: int) -> None:
        self._access = access
        self._threads = ThreadPoolExecutor(max_parallel, thread_name_prefix="gradegate-vertex")
        self._opening: asyncio.Task[VertexService | Trouble] | None = None

    @classmethod
    def from_environ(
        cls, environ: Mapping[str, str], folders: Iterable[Path], max_parallel: int
    ) -> "VertexAnswerer | str":
        """The service that the environment gives access to, or which variable to set."""
        access = VertexAccess.from_environ(environ, folders)
        return access if isinstance(access, str) else cls(access, max_parallel)

    async def answer(self, question: Question[Any], sample: int) -> Reply | Trouble:
        """Answer; the service itself tells repeated askings apart."""
        del sample
        service = await self._service()
        if isinstance(service, Trouble):
            return service
        loop = asyncio.get_running_loop()
        metric = question.model.removeprefix(VERTEX)
        return await loop.run_in_executor(
            self._threads, service.evaluate, metric, dict(question.data)
        )

    async def close(self) -> None:
        """Let go of what is under way."""
        if self._opening is not None:
            self._opening.cancel()
            (service,) = await asyncio.gather(self._opening, return_exceptions=True)
            if not isinstance(service, BaseException | Trouble):
                await service.close()
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def _service(self) -> "VertexService | Trouble":
        """The service, opened once for all who ask; what may pass is tried again."""
        if self._opening is not None and self._opening.done():
            found = self._opening.result()
            if not isinstance(found, Trouble) or not found.may_pass:
                return found
            self._opening = None
        if self._opening is None:
            self._opening = asyncio.create_task(self._open())
        return await asyncio.shield(self._opening)

    async def _open(self) -> "VertexService | Trouble":
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, _opened, self._access, loop)


def _opened(access: VertexAccess, loop: asyncio.AbstractEventLoop) -> "VertexService | Trouble":
    """Import the SDK and open it; what it has to say to its developers is nobody's here."""
    with warnings.catch_warnings(action="ignore"):
        try:
            from gradegate.judges.vertex_service import VertexService
        except ImportError as error:
            return Trouble(f"{NOT_INSTALLED} ({error})", may_pass=False, for_all=True)
        return VertexService.open(access, loop, timeout=_LONGEST_CALL)
