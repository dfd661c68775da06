"""Inside the container: what the pull request's agent can do, and what is left of it."""

import re
import signal
import time
from pathlib import Path

import pytest

from tests.container.change import CASES, Change, desk, hand_over
from tests.container.conftest import StepMaker
from tests.container.engine import ROOT, Figures
from tests.container.runner import Ended
from tests.project import SETTINGS, Project, case, expected, scripted, turn
from tests.standins.github import GitHubStandIn

TOKEN = "ghs_" + "Zz9" * 12
PLACES = "/github /tmp /var/tmp /run /dev/shm /root /home /etc /opt/gradegate/app"
SAID = '"\\n".join(hunt(words))'
TOLD = 'f"uid={os.getuid()} found={hunt(words)}"'
ANSWER = 'answer = {"session": message["session"], "invocation": invocation}'
ERROR = 'answer = {"session": message["session"], "error": parts[0]["text"]}'
LEAVES_ONE_BEHIND = (
    "\nimport subprocess\n"
    'subprocess.Popen(["setsid", "sleep", "600"], start_new_session=True)\n'
    'subprocess.Popen(["setsid", "-f", "sleep", "601"])\n'
)
STILL_THERE = "grep -lE '^Uid:\\s[1-9][0-9]{4}' /proc/[0-9]*/status | sed s/^/LEFT:/"


def hunting(root: Path) -> Project:
    """A repository whose agent hunts for the token and fails with what it found."""
    source = (ROOT / "tests/standins/agents/hunter.py").read_text(encoding="utf-8")
    assert SAID in source
    assert ANSWER in source
    source = source.replace(SAID, TOLD).replace(ANSWER, ERROR)
    before, loop, after = source.partition("\nfor line in sys.stdin")
    project = scripted(root, [case("hunt", turn(f"hunt {PLACES}", "nothing"))])
    project.put("agent.py", before + LEAVES_ONE_BEHIND + loop + after)
    project.commit("an agent that hunts")
    return project


def hunted(step: StepMaker, project: Project, github: GitHubStandIn, folder: Path) -> Ended:
    """Run the hunt with the token everywhere a runner has it, and then look what is left."""
    github.add_token(TOKEN, "github-actions[bot]", app_slug="github-actions")
    change = Change(project, github)
    project.git("config", "http.extraheader", f"AUTHORIZATION: basic {TOKEN}")
    hand_over(project.root)
    temporary = folder / "runner" / "_temp"
    temporary.mkdir(parents=True)
    (temporary / "git-credentials").write_text(TOKEN)
    secret = {"GITHUB_TOKEN": TOKEN, "ACTIONS_RUNTIME_TOKEN": TOKEN}
    payload = {**change.payload, "token": TOKEN}
    running = step(project.root, secret, token=TOKEN, afterwards=STILL_THERE)
    ended = running.run("pull_request", payload)
    assert ended.outputs, ended.log
    return ended


def told_by_agent(project: Project) -> tuple[int, str]:
    """The uid that the agent saw, and what it found."""
    text = (project.root / ".gradegate" / "report" / "report.json").read_text(encoding="utf-8")
    found = re.search(r"uid=(\d+) found=(\[.*?\])", text)
    assert found, text[:2000]
    return int(found[1]), found[2]


def test_the_agent_finds_no_token_and_leaves_nothing_running(
    tmp_path: Path, step: StepMaker, github: GitHubStandIn
) -> None:
    """Not in files, environments, memory, command lines or descriptors; and it is not root."""
    project = hunting(tmp_path / "repo")
    project.put("notes.txt", "a change")
    ended = hunted(step, project, github, tmp_path)
    uid, found = told_by_agent(project)
    assert uid > 10000
    assert found == "[]"
    assert "LEFT:" not in ended.log


def test_the_hunter_would_have_found_one(
    tmp_path: Path, step: StepMaker, github: GitHubStandIn
) -> None:
    """In a file that it can read: its own checkout's."""
    project = hunting(tmp_path / "repo")
    project.put("agent.py", f"# {TOKEN}\n{(project.root / 'agent.py').read_text()}")
    hunted(step, project, github, tmp_path)
    _, found = told_by_agent(project)
    assert "agent.py" in found


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT"])
def test_a_cancelled_job_completes_its_check(
    tmp_path: Path, step: StepMaker, github: GitHubStandIn, figures: Figures, name: str
) -> None:
    """Within five seconds, in the middle of a turn that would take a minute."""
    project = desk(tmp_path / "repo", SETTINGS)
    project.answers({one["eval_id"]: expected(one) for one in CASES}, delay=60)
    change = Change(project, github)
    hand_over(project.root)
    running = step(project.root)
    with running.start("pull_request", change.payload) as process:
        assert process.stdout is not None
        _until_under_way(github, change.head)
        sent = running.signal(name)
        while github.check_runs(change.head)[0].status != "completed":
            assert time.monotonic() - sent < 10
            time.sleep(0.02)
        took = time.monotonic() - sent
        log = process.stdout.read()
    figures.note(f"{name} to a check that is cancelled: {took:.2f} s")
    (check,) = github.check_runs(change.head)
    assert check.conclusion == "cancelled", log
    assert took < 5
    assert process.returncode == 128 + signal.Signals[name], log


def _until_under_way(github: GitHubStandIn, sha: str) -> None:
    """Wait until the check is there, and give the agent the time to be asked."""
    for _ in range(600):
        if github.check_runs(sha):
            time.sleep(2)
            return
        time.sleep(0.05)
    raise AssertionError("the check never appeared")
