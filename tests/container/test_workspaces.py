"""Checkouts as they come: somebody else's, shallow, detached, with submodules, oddly named."""

import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.container.change import CASES, Change, break_paris, desk, hand_over
from tests.container.conftest import StepMaker
from tests.container.runner import STRANGER
from tests.project import AGENT, Project, eval_set, expected
from tests.standins.github import GitHubStandIn

ODD = "机 の 係"


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve all repositories below a folder, as a remote that the container can reach."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [
        *("git", "daemon", "--export-all", "--reuseaddr", "--listen=127.0.0.1"),
        *(f"--port={port}", f"--base-path={folder}", str(folder)),
    ]
    with subprocess.Popen(command, start_new_session=True) as daemon:
        try:
            _until_listening(port)
            yield f"git://127.0.0.1:{port}"
        finally:
            daemon.terminate()


def _until_listening(port: int) -> None:
    for _ in range(100):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise AssertionError("git daemon did not start")


def test_a_shallow_clone_at_a_detached_merge_ref(
    tmp_path: Path, step: StepMaker, github: GitHubStandIn
) -> None:
    """Depth 1, as actions/checkout does it: base is fetched from the remote, which is asked."""
    project = desk(tmp_path / "remotes" / "agents")
    break_paris(project)
    change = Change(project, github)
    project.git("update-ref", "refs/pull/1/merge", change.merge)
    project.git("config", "uploadpack.allowAnySHA1InWant", "true")
    clone = Project.create(tmp_path / "clone")
    with served(tmp_path / "remotes") as address:
        clone.git("remote", "add", "origin", f"{address}/agents")
        ref = "refs/remotes/pull/1/merge"
        clone.git("fetch", "-q", "--depth=1", "origin", f"+{change.merge}:{ref}")
        clone.git("checkout", "-q", "--detach", ref)
        assert clone.git("rev-list", "--count", "HEAD") == "1"
        hand_over(clone.root)
        ended = step(clone.root).run("pull_request", change.payload)
    assert ended.code == 1, ended.log
    assert ended.outputs["regressions"] == "1"
    assert "paris" in github.comments(1)[0].body


def test_a_repository_with_submodules(
    tmp_path: Path, step: StepMaker, github: GitHubStandIn
) -> None:
    """Checked out with `submodules: true`; whose files are whose is git's business."""
    library = Project.create(tmp_path / "library")
    library.put("words.txt", "hello")
    library.commit("words")
    project = desk(tmp_path / "repo")
    allow = ("-c", "protocol.file.allow=always")
    project.git(*allow, "submodule", "--quiet", "add", str(library.root), "libs/words")
    project.commit("a submodule")
    break_paris(project)
    change = Change(project, github)
    hand_over(project.root)
    ended = step(project.root).run("pull_request", change.payload)
    assert ended.code == 1, ended.log
    assert ended.outputs["regressions"] == "1"


def test_spaces_and_japanese_in_every_path(
    tmp_path: Path, step: StepMaker, github: GitHubStandIn
) -> None:
    """The project's folder, the eval set, the agent and the report's folder."""
    project = Project.create(tmp_path / "repo")
    settings = f'[[suite]]\nname = "係"\ncommand = ["python3", "{ODD}.py"]\nevals = ["評価 集"]\n'
    project.put(f"{ODD}/gradegate.toml", settings)
    project.put(f"{ODD}/{ODD}.py", AGENT)
    project.put(f"{ODD}/評価 集/東京 の 天気.evalset.json", eval_set(*CASES))
    inner = Project(project.root / ODD, project.environ)
    inner.answers({one["eval_id"]: expected(one) for one in CASES})
    project.commit("base")
    break_paris(inner)
    change = Change(project, github)
    hand_over(project.root)
    inputs = {"working-directory": ODD, "report-dir": f"報告 書/{ODD}"}
    ended = step(project.root, inputs=inputs).run("pull_request", change.payload)
    assert ended.code == 1, ended.log
    assert ended.outputs["report"] == f"/github/workspace/報告 書/{ODD}/report.json"
    (remark,) = github.check_runs(change.head)[0].annotations
    assert remark["path"] == f"{ODD}/評価 集/東京 の 天気.evalset.json"


def test_later_steps_can_read_what_was_left(
    tmp_path: Path, step: StepMaker, github: GitHubStandIn
) -> None:
    """The store for a cache, the report for an upload: both belong to the workspace's owner."""
    project = desk(tmp_path / "repo")
    break_paris(project)
    change = Change(project, github)
    hand_over(project.root)
    ended = step(project.root).run("pull_request", change.payload)
    assert ended.code == 1, ended.log
    left = list((project.root / ".gradegate").rglob("*"))
    assert {"gradegate.sqlite", "report.json", "report.html"} <= {path.name for path in left}
    assert {path.stat().st_uid for path in left} == {STRANGER}
