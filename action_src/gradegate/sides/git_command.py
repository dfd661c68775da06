"""How git is called: never through a shell, never asking, never changing what is ours not."""

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from gradegate.model.errors import InputError

_SETTINGS = (
    "safe.directory=*",
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "gc.auto=0",
    "maintenance.auto=false",
)
_OPTIONS = tuple(word for setting in _SETTINGS for word in ("-c", setting))
_ELSEWHERE = (
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_DIR",
    "GIT_INDEX_FILE",
    "GIT_NAMESPACE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_SHALLOW_FILE",
    "GIT_WORK_TREE",
)
"""Set where we are called from a hook; they would send git to another repository."""
_CALM = {"LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0"}


@dataclass(frozen=True)
class Output:
    """What a git command said."""

    code: int
    raw: bytes
    complaint: str

    @property
    def ok(self) -> bool:
        """Whether it did what was asked."""
        return self.code == 0

    @property
    def text(self) -> str:
        """Standard output as one word or line."""
        return self.raw.decode(errors="surrogateescape").strip()

    @property
    def paths(self) -> list[str]:
        """Standard output of a command with `-z`."""
        return [p.decode(errors="surrogateescape") for p in self.raw.split(b"\0") if p]


@dataclass(frozen=True)
class Git:
    """The git program, called in one folder with one environment."""

    folder: Path
    environ: Mapping[str, str] = field(repr=False)

    def call(self, *arguments: str, env: Mapping[str, str] | None = None) -> Output:
        """Run one command and have what it said, whether it worked or not."""
        inherited = {k: v for k, v in self.environ.items() if k not in _ELSEWHERE}
        try:
            done = subprocess.run(
                ["git", *_OPTIONS, *arguments],
                cwd=self.folder,
                env={**inherited, **_CALM, **(env or {})},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                check=False,
            )
        except FileNotFoundError:
            if not self.folder.is_dir():
                raise InputError(f"{self.folder} is not a folder: correct `--repo DIR`") from None
            raise InputError("git is not installed: gradegate needs it on PATH") from None
        return Output(done.returncode, done.stdout, done.stderr.decode(errors="replace").strip())

    def with_settings(self, *settings: tuple[str, str]) -> dict[str, str]:
        """Settings for one command, as environment: names and values may be anybody's."""
        before = int(self.environ.get("GIT_CONFIG_COUNT") or 0)
        told = {"GIT_CONFIG_COUNT": str(before + len(settings))}
        for number, (key, value) in enumerate(settings, start=before):
            told |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
        return told

    def must(self, *arguments: str, env: Mapping[str, str] | None = None) -> Output:
        """Run a command that cannot fail in a sound repository."""
        output = self.call(*arguments, env=env)
        if not output.ok:
            raise InputError(f"git {arguments[0]} failed in {self.folder}: {output.complaint}")
        return output
