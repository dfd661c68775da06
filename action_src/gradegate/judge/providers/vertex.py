"""Vertex AI's evaluation service, through google-cloud-aiplatform's client.

The SDK takes seconds and half a gigabyte to import, and it is synchronous: `vertex_sdk`, which
imports it, is imported with the first question, off the loop, and works in threads of its own.
"""

import asyncio
import warnings
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gradegate.model.question import VERTEX, Question
from gradegate.model.settings import JudgeSettings
from gradegate.ports import CallFailure, Reply

if TYPE_CHECKING:
    from gradegate.judge.providers.vertex_sdk import VertexService

PROJECT = "GOOGLE_CLOUD_PROJECT"
LOCATION = "GOOGLE_CLOUD_LOCATION"
KEY = "GOOGLE_API_KEY"
BASE_URL = "GRADEGATE_VERTEX_BASE_URL"
CREDENTIALS = "GOOGLE_APPLICATION_CREDENTIALS"
DOTENV = ".env"

_WHERE = (
    "under the step's `env:` in the workflow, in the shell, or in the `.env` of the agent's folder"
)
_NOTHING = (
    "this criterion is scored by Vertex AI's evaluation service, and nothing says whose: set "
    f"{PROJECT} and {LOCATION} {_WHERE} (or {KEY}, for Vertex AI's express mode)"
)
_OTHER = {PROJECT: LOCATION, LOCATION: PROJECT}
_NOT_INSTALLED = (
    "Vertex AI's SDK is not installed: `pip install 'gradegate[vertex]'`, or use the image that "
    "has it"
)
_LONGEST_CALL = 120.0


def open_provider(
    environ: Mapping[str, str], folders: Iterable[Path], settings: JudgeSettings
) -> "VertexProvider | str":
    """The provider; where there is no access, which variable to set."""
    return VertexProvider.from_environ(environ, folders, settings.max_parallel)


class VertexProvider:
    """Has one answer, or one conversation, scored once."""

    def __init__(self, access: "VertexAccess", max_parallel: int) -> None:
        self._access = access
        self._threads = ThreadPoolExecutor(max_parallel, thread_name_prefix="gradegate-vertex")
        self._opening: asyncio.Task[VertexService | CallFailure] | None = None

    @classmethod
    def from_environ(
        cls, environ: Mapping[str, str], folders: Iterable[Path], max_parallel: int
    ) -> "VertexProvider | str":
        """The service that the environment gives access to, or which variable to set."""
        access = VertexAccess.from_environ(environ, folders)
        return access if isinstance(access, str) else cls(access, max_parallel)

    async def answer(self, question: Question[Any], sample: int) -> Reply | CallFailure:
        """Answer; the service itself tells repeated askings apart."""
        del sample
        service = await self._service()
        if isinstance(service, CallFailure):
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
            if not isinstance(service, BaseException | CallFailure):
                await service.close()
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def _service(self) -> "VertexService | CallFailure":
        """The service, opened once for all who ask; what may pass is tried again."""
        if self._opening is not None and self._opening.done():
            found = self._opening.result()
            if not isinstance(found, CallFailure) or not found.retryable:
                return found
            self._opening = None
        if self._opening is None:
            self._opening = asyncio.create_task(self._open())
        return await asyncio.shield(self._opening)

    async def _open(self) -> "VertexService | CallFailure":
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, _opened, self._access, loop)


def _opened(
    access: "VertexAccess", loop: asyncio.AbstractEventLoop
) -> "VertexService | CallFailure":
    """Import the SDK and open it; what it has to say to its developers is nobody's here."""
    with warnings.catch_warnings(action="ignore"):
        try:
            from gradegate.judge.providers.vertex_sdk import VertexService
        except ImportError as error:
            return CallFailure(f"{_NOT_INSTALLED} ({error})", retryable=False, for_all=True)
        return VertexService.open(access, loop, timeout=_LONGEST_CALL)


@dataclass(frozen=True)
class VertexAccess:
    """A project that credentials open, or a key of Vertex AI's express mode.

    Without a file of credentials, the machine's own are taken (Google's default credentials).
    """

    project: str | None = None
    location: str | None = None
    api_key: str | None = field(default=None, repr=False)
    base_url: str | None = None
    credentials: str | None = None
    """A file."""

    @classmethod
    def from_environ(
        cls, environ: Mapping[str, str], folders: Iterable[Path] = ()
    ) -> "VertexAccess | str":
        """Read what the environment says, or say which variable to set.

        `folders` are those of the agents: a `.env` there may name project and location.
        """
        given = {name: value.strip() for name, value in environ.items() if value.strip()}
        where = {**project_in(folders), **given}
        base_url = given.get(BASE_URL)
        named = [name for name in (PROJECT, LOCATION) if name in where]
        if len(named) == len(_OTHER):
            return cls(
                project=where[PROJECT],
                location=where[LOCATION],
                base_url=base_url,
                credentials=given.get(CREDENTIALS),
            )
        if named:
            missing = _OTHER[named[0]]
            return f"{named[0]} is set and {missing} is not: set it {_WHERE}"
        key = given.get(KEY)
        return cls(api_key=key, base_url=base_url) if key else _NOTHING


def project_in(folders: Iterable[Path]) -> dict[str, str]:
    """Project and location, and nothing else, from the first `.env` that names them.

    The file belongs to the repository: neither keys nor endpoints are taken from it.
    """
    found: dict[str, str] = {}
    for folder in folders:
        file = folder / DOTENV
        if file.is_file():
            said = _assignments(file.read_text(encoding="utf-8", errors="replace"))
            for name in (PROJECT, LOCATION):
                if said.get(name):
                    found.setdefault(name, said[name])
    return found


def _assignments(text: str) -> dict[str, str]:
    """`NAME=value` by line, with or without `export`, quotes and a remark behind."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        name, equals, value = line.strip().removeprefix("export ").partition("=")
        if equals:
            found[name.strip()] = _unquoted(value.strip())
    return found


def _unquoted(value: str) -> str:
    for quote in ('"', "'"):
        if value.startswith(quote):
            return value[1:].partition(quote)[0]
    return value.partition(" #")[0].strip()
