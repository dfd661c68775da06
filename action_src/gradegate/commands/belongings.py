"""What the action keeps in the runner's workspace: ours alone, and the runner's afterwards.

The container is root, the steps around it are not: a cache or an upload must be able to read
what we leave. And the workspace is the pull request's checkout: a store, an environment or a
link that it brought along would speak for itself.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from gradegate.model.errors import InputError
from gradegate.sides.git import Repo

_OPEN = 0o755
"""Others may pass through: agents to their environments, later steps to the report."""


@dataclass(frozen=True)
class Belongings:
    """Our folder in the workspace, and what a workflow may have put elsewhere in it."""

    workspace: Path
    folder: Path
    report: Path
    store: Path

    @property
    def places(self) -> tuple[Path, ...]:
        """All of them that lie in the workspace."""
        all_of_them = (self.folder, self.report, self.store)
        return tuple(place for place in all_of_them if self._below(place) is not None)

    def refuse_foreign(self, repo: Repo) -> None:
        """See that no commit has files where our own things go.

        Raises:
            InputError: it has; the message says which.
        """
        for place in self.places:
            path = f":(literal){os.path.normpath(place.absolute())}"
            tracked = repo.git.must("ls-files", "-z", "--", path).paths
            if tracked:
                raise _foreign(tracked[0])

    @contextmanager
    def kept(self) -> Iterator[None]:
        """Have our folder, and leave everything to the workspace's owner at the end.

        Raises:
            InputError: a link stands where our things go, and would lead them elsewhere.
        """
        for place in self.places:
            for path in (place, *place.parents):
                if self._below(path) and path.is_symlink():
                    raise _foreign(str(self._below(path)))
        self.folder.mkdir(mode=_OPEN, parents=True, exist_ok=True)
        try:
            yield
        finally:
            owner = self.workspace.stat()
            if os.geteuid() == 0 and owner.st_uid != 0:
                for place in self.places:
                    self._give_back(place, owner)

    def _below(self, place: Path) -> Path | None:
        """The path within the workspace as it is written, links not followed."""
        path, top = (Path(os.path.normpath(p.absolute())) for p in (place, self.workspace))
        return path.relative_to(top) if path != top and path.is_relative_to(top) else None

    def _give_back(self, place: Path, owner: os.stat_result) -> None:
        beside = place.parent.glob(f"{place.name}*") if place == self.store else [place]
        above = [folder for folder in place.parents if self._below(folder)]
        for path in (*beside, *above):
            _chown(path, owner)
        for folder, folders, files in os.walk(place):
            for name in (*folders, *files):
                _chown(Path(folder, name), owner)


def _foreign(name: str) -> InputError:
    return InputError(
        f"the repository has `{name}` where gradegate keeps what it measured, and a pull request "
        "must not bring its own: remove it from git, and add `.gradegate/` to .gitignore"
    )


def _chown(path: Path, owner: os.stat_result) -> None:
    if path.is_symlink() or path.exists():
        os.chown(path, owner.st_uid, owner.st_gid, follow_symlinks=False)
