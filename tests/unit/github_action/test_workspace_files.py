"""What lies in the workspace is ours while we run, and the runner's afterwards."""

import os
from pathlib import Path

import pytest

from gradegate.github_action.step import WorkspaceFiles
from gradegate.model.errors import InputError
from gradegate.sides.git import Repo
from tests.project import Project

RUNNER = 1001
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")


def belongings(root: Path, report: str = ".gradegate/report") -> WorkspaceFiles:
    """Those of a workspace with everything in its usual place, but perhaps the report."""
    folder = root / ".gradegate"
    store, shards = folder / "store.sqlite", folder / "shards"
    return WorkspaceFiles(root, folder, root / report, store, shards)


@as_root
def test_the_workspaces_owner_can_read_what_was_left(tmp_path: Path) -> None:
    """A cache and an upload run as the runner's user, not as root."""
    workspace = tmp_path / "work"
    workspace.mkdir()
    os.chown(workspace, RUNNER, RUNNER)
    ours = belongings(workspace, "out/report")
    with ours.kept():
        assert ours.folder.stat().st_mode & 0o777 == 0o755
        ours.report.mkdir(parents=True)
        for file in (ours.store, ours.folder / "store.sqlite-wal", ours.report / "report.json"):
            file.touch(mode=0o600)
    left = [path for path in workspace.rglob("*") if path.name != "work"]
    assert len(left) == 6
    assert {path.stat().st_uid for path in left} == {RUNNER}


@as_root
def test_they_are_left_to_the_owner_whatever_happened(tmp_path: Path) -> None:
    """A gate that says no, and a job that was cancelled, leave readable files as well."""
    workspace = tmp_path / "work"
    workspace.mkdir()
    os.chown(workspace, RUNNER, RUNNER)
    ours = belongings(workspace)
    ours.folder.mkdir()
    ours.store.touch(mode=0o600)
    with pytest.raises(KeyboardInterrupt), ours.kept():
        raise KeyboardInterrupt
    assert ours.store.stat().st_uid == RUNNER


@pytest.mark.parametrize("name", [".gradegate/store.sqlite", ".gradegate/environments/x/python"])
def test_a_commit_must_not_bring_a_store_or_an_environment(tmp_path: Path, name: str) -> None:
    """It would judge itself."""
    project = Project.create(tmp_path / "repo")
    project.put(name, "verdicts of my own")
    project.git("add", "--force", name)
    with pytest.raises(InputError, match=name):
        belongings(project.root).refuse_foreign(Repo.open(project.root))


def test_what_we_left_there_ourselves_is_no_offence(tmp_path: Path) -> None:
    """The store of an earlier run, restored by a cache, is not in git."""
    project = Project.create(tmp_path / "repo")
    project.put(".gradegate/store.sqlite", "ours")
    project.put("gradegate.toml", "")
    project.git("add", "gradegate.toml")
    belongings(project.root).refuse_foreign(Repo.open(project.root))


@pytest.mark.parametrize("link", [".gradegate", ".gradegate/report", "out"])
def test_links_that_lead_elsewhere_are_refused_untouched(tmp_path: Path, link: str) -> None:
    """Root would write through them."""
    workspace, elsewhere = tmp_path / "work", tmp_path / "elsewhere"
    elsewhere.mkdir()
    (workspace / link).parent.mkdir(parents=True)
    (workspace / link).symlink_to(elsewhere)
    report = "out/report" if link == "out" else ".gradegate/report"
    with pytest.raises(InputError, match=link), belongings(workspace, report).kept():
        pass
    assert list(elsewhere.iterdir()) == []
