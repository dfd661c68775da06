"""The image, run as GitHub's runner runs it: what a pull request gets to see of it."""

import json
import subprocess
import tarfile
import tempfile
import time
from pathlib import Path

from tests.container.change import Change, break_paris, desk, hand_over
from tests.container.conftest import StepMaker
from tests.container.engine import CERTIFICATES, ROOT, Engine, Figures, base_files
from tests.standins.gemini.server import GeminiStandin
from tests.standins.github import JOB_TOKEN, GitHubStandIn


def test_a_planted_regression_blocks(
    tmp_path: Path,
    step: StepMaker,
    github: GitHubStandIn,
    gemini: GeminiStandin,
    figures: Figures,
) -> None:
    """Comment, completed check, outputs, summary, exit 1; and nothing of the token in the log."""
    project = desk(tmp_path / "repo")
    break_paris(project)
    change = Change(project, github)
    hand_over(project.root)
    running = step(project.root)
    started = time.monotonic()
    with running.start("pull_request", change.payload) as process:
        assert process.stdout is not None
        first = process.stdout.readline()
        first_line = time.monotonic() - started
        log = first + process.stdout.read()
    ended = running.ended(process.wait(), log)
    figures.note(f"container start to first line: {first_line:.2f} s")
    figures.note(f"container start to first judge call: {gemini.requests[0].at - started:.2f} s")
    figures.note(f"planted regression, whole run: {time.monotonic() - started:.1f} s")
    assert ended.code == 1, ended.log
    (comment,) = github.comments(1)
    assert "The agent got worse" in comment.body
    assert "paris" in comment.body
    (check,) = github.check_runs(change.head)
    assert (check.status, check.conclusion) == ("completed", "failure")
    assert ended.outputs["decision"] == "fail"
    assert ended.outputs["regressions"] == "1"
    assert ended.outputs["comment-url"].endswith(f"#issuecomment-{comment.id}")
    report = json.loads((project.root / ended.outputs["report"]).read_text())
    paris = next(one for one in report["cases"] if one["eval_id"] == "paris")
    assert paris["criteria"]["final_response_match_v2"]["verdict"] == "regressed"
    assert "The agent got worse" in ended.summary
    without_masks = [line for line in log.splitlines() if not line.startswith("::add-mask::")]
    assert JOB_TOKEN not in "\n".join(without_masks)


def test_a_change_of_nothing_passes(
    tmp_path: Path, step: StepMaker, github: GitHubStandIn, figures: Figures
) -> None:
    """Exit 0, nothing is run, and the report says so."""
    project = desk(tmp_path / "repo")
    project.put("notes.txt", "hello")
    project.commit("notes")
    change = Change(project, github)
    hand_over(project.root)
    with figures.timed("pull request that changes nothing, whole run"):
        ended = step(project.root).run("pull_request", change.payload)
    assert ended.code == 0, ended.log
    assert ended.outputs["decision"] == "pass"
    (check,) = github.check_runs(change.head)
    assert (check.status, check.conclusion) == ("completed", "success")
    report = json.loads((project.root / ended.outputs["report"]).read_text())
    assert report["cases"] == []


def test_a_wrong_input_is_named(tmp_path: Path, step: StepMaker, github: GitHubStandIn) -> None:
    """Inputs arrive with their hyphens; exit 2 says which is wrong."""
    project = desk(tmp_path / "repo")
    change = Change(project, github)
    ended = step(project.root, {"INPUT_FAIL-ON": "regresion"}).run("pull_request", change.payload)
    assert ended.code == 2, ended.log
    assert "`fail-on`" in ended.log
    assert "did you mean `regression`" in ended.log


def test_nothing_is_inside_that_need_not_be(engine: Engine, image: str, figures: Figures) -> None:
    """No compilers, no caches, no keys or certificates of the machine it was built on."""
    script = (
        "for p in gcc cc g++ c++ clang make ld as rustc cargo; do command -v $p; done;"
        "find /var/lib/apt/lists /var/cache/apt /tmp /src /opt/uv -type f 2>/dev/null;"
        "find /root /home -type f -not -name .bashrc -not -name .profile;"
        "find / -xdev -name pip.conf -o -xdev -name '*.sqlite' -o -xdev -name '.git'"
    )
    told = engine.call("podman", "run", "--rm", "--entrypoint", "/bin/sh", image, "-c", script)
    assert told == ""
    mounted = engine.call("buildah", "from", "--pull-never", image).strip()
    try:
        root = Path(engine.call("buildah", "mount", mounted).strip())
        inside = (root / CERTIFICATES.relative_to("/")).read_bytes()
    finally:
        engine.call("buildah", "rm", mounted)
    with tarfile.open(base_files(figures)) as base:
        public = base.extractfile(f".{CERTIFICATES}")
        assert public is not None
        assert inside == public.read()
    (config,) = json.loads(engine.call("podman", "image", "inspect", image))
    labels = config["Config"]["Labels"]
    assert labels["org.opencontainers.image.title"] == "gradegate"
    assert labels["org.opencontainers.image.version"]
    assert config["Config"].get("User", "") == ""
    assert config["Config"]["Entrypoint"][0] == "/usr/bin/tini"


def test_the_smaller_size_leaves_googles_evaluation_service_out(
    engine: Engine, image: str, figures: Figures
) -> None:
    """Everything else is in it."""
    slim = "localhost/gradegate:slim"
    engine.build(slim, "runtime")
    find = "import importlib.util as u; print(u.find_spec('agentplatform') is not None)"
    python = ("podman", "run", "--rm", "--entrypoint", "/opt/gradegate/bin/python")
    assert engine.call(*python, image, "-c", find).strip() == "True"
    assert engine.call(*python, slim, "-c", find).strip() == "False"
    gradegate = ("podman", "run", "--rm", "--entrypoint", "/opt/gradegate/app/bin/gradegate")
    assert engine.call(*gradegate, slim, "demo").strip()
    for name in (image, slim):
        packed = compressed_size(engine, name)
        figures.note(f"{name}: {engine.size_of(name)}, {packed} to download")


def compressed_size(engine: Engine, image: str) -> str:
    """What a runner downloads."""
    with tempfile.TemporaryDirectory() as folder:
        engine.call("podman", "push", "-q", "--compress", image, f"dir:{folder}")
        total = sum(file.stat().st_size for file in Path(folder).iterdir())
    return f"{total / 1e6:.0f} MB"


def test_the_tests_pass_in_the_image(engine: Engine, image: str, figures: Figures) -> None:
    """Against what is installed there; the release runs all of them so."""
    tests = (
        "tests/unit/test_init.py",
        "tests/unit/test_release.py",
        "tests/end_to_end/test_action.py",
    )
    with figures.timed("tests in the image"):
        done = subprocess.run(
            [ROOT / ".ci" / "test-in-image.sh", image, *tests],
            env={**engine.environ, "ENGINE": "podman"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stdout[-4000:]
