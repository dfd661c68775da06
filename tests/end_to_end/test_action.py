"""The container's entry point, run as GitHub runs it: inputs, event file, a real repository."""

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from tests.project import WEATHER, Project, case, eval_set, expected, scripted, turn
from tests.standins.github import JOB_TOKEN, GitHubStandIn

COMMENT_LIMIT = 65_536
CHECK_LIMIT = 65_535
SUMMARY_LIMIT = 1024 * 1024


class Runner:
    """A GitHub runner's step: a checkout, an event, and the files that a step writes to."""

    def __init__(self, project: Project, github: GitHubStandIn, folder: Path) -> None:
        self.project = project
        self.github = github
        self.folder = folder
        self.outputs_file = folder / "output"
        self.summary_file = folder / "summary"

    def run(
        self,
        event: str,
        payload: dict[str, Any],
        inputs: dict[str, str] | None = None,
        words: Sequence[str] = (),
    ) -> CompletedProcess[str]:
        """Run the entry point once, with fresh output files."""
        self.folder.mkdir(exist_ok=True)
        for file in (self.outputs_file, self.summary_file):
            file.write_text("")
        event_file = self.folder / "event.json"
        event_file.write_text(json.dumps(payload))
        given = {"github-token": JOB_TOKEN, "check-name": "gradegate", **(inputs or {})}
        environ = {
            "GITHUB_ACTIONS": "true",
            "GITHUB_API_URL": self.github.url,
            "GITHUB_SERVER_URL": self.github.url,
            "GITHUB_REPOSITORY": "octo/agents",
            "GITHUB_EVENT_NAME": event,
            "GITHUB_EVENT_PATH": str(event_file),
            "GITHUB_WORKSPACE": str(self.project.root),
            "GITHUB_RUN_ID": "77",
            "GITHUB_SHA": self.project.git("rev-parse", "HEAD"),
            "GITHUB_REF": "refs/pull/1/merge",
            "GITHUB_OUTPUT": str(self.outputs_file),
            "GITHUB_STEP_SUMMARY": str(self.summary_file),
            **{f"INPUT_{name.upper()}": value for name, value in given.items()},
        }
        return self.project.gradegate("action", *words, **environ)

    @property
    def outputs(self) -> dict[str, str]:
        """The step's outputs as the runner reads them."""
        text = self.outputs_file.read_text(encoding="utf-8")
        return dict(re.findall(r"(?ms)^([\w-]+)<<(?:\S+)\n(.*?)\ngradegate_\w+$", text))

    @property
    def summary(self) -> str:
        """The step's summary."""
        return self.summary_file.read_text(encoding="utf-8")


def pull_request(head: str, base: str, **more: Any) -> dict[str, Any]:
    """The payload of a pull request from a branch of the same repository."""
    repo = {"full_name": "octo/agents"}
    pull = {
        "number": 1,
        "head": {"sha": head, "ref": "change", "repo": repo},
        "base": {"sha": base, "ref": "main", "repo": repo},
        "labels": [],
        **more,
    }
    return {"action": "synchronize", "pull_request": pull, "repository": repo}


@pytest.fixture
def github() -> Iterator[GitHubStandIn]:
    """A GitHub of its own, which noticed nothing wrong by the end of the test."""
    with GitHubStandIn() as standin:
        yield standin
        assert standin.violations == []


CASES = [
    case("paris", turn("Weather in Paris?", "It is sunny in Paris today.", WEATHER)),
    case(
        "rome", turn("And in Rome?", "It rains in Rome today."), turn("Thanks", "You are welcome")
    ),
    case("tokyo", turn("東京の天気を教えて", "東京は晴れです。")),
]
BROKEN = [{"text": "I cannot say.", "tools": [{"name": "get_weather", "args": {"city": "Pari"}}]}]


class Change:
    """A pull request, checked out as actions/checkout does: detached at its merge commit."""

    def __init__(self, project: Project, github: GitHubStandIn, folder: Path) -> None:
        self.project = project
        self.base = project.git("rev-parse", "main")
        self.head = project.commit("the change")
        project.git("checkout", "-q", "--detach", "main")
        project.git("merge", "-q", "--no-ff", "-m", "merge", self.head)
        github.add_pull_request(1, head_sha=self.head)
        github.add_commit(self.base)
        self.runner = Runner(project, github, folder)

    def run(self, **inputs: str) -> CompletedProcess[str]:
        """Let the workflow run on it."""
        payload = pull_request(self.head, self.base)
        named = {name.replace("_", "-"): value for name, value in inputs.items()}
        return self.runner.run("pull_request", payload, named)


def breaking(tmp_path: Path, github: GitHubStandIn) -> Change:
    """A pull request that breaks one of three cases."""
    project = scripted(tmp_path / "repo", CASES)
    project.git("switch", "-qc", "change")
    project.answers({one["eval_id"]: expected(one) for one in CASES} | {"paris": BROKEN})
    return Change(project, github, tmp_path / "runner")


def test_a_regression_is_commented_checked_and_blocked(
    tmp_path: Path, github: GitHubStandIn
) -> None:
    """One comment, one completed check on the head sha with a remark on the case's line."""
    change = breaking(tmp_path, github)
    done = change.run()
    assert done.returncode == 1, done.stderr
    (comment,) = github.comments(1)
    assert "The agent got worse" in comment.body
    assert "paris" in comment.body
    (check,) = github.check_runs(change.head)
    assert (check.status, check.conclusion) == ("completed", "failure")
    assert "got worse" in str(check.title)
    (remark,) = check.annotations
    path, line = remark["path"], remark["start_line"]
    assert path == "evals/basic.evalset.json"
    text = (change.project.root / path).read_text(encoding="utf-8").splitlines()
    assert '"paris"' in "".join(text[line - 1 : line + 1])
    assert change.runner.outputs["decision"] == "fail"
    assert change.runner.outputs["regressions"] == "1"
    assert change.runner.outputs["comment-url"].endswith(f"#issuecomment-{comment.id}")
    assert change.runner.outputs["check-url"]
    assert Path(change.runner.outputs["report"]).is_file()
    assert Path(change.runner.outputs["html"]).is_file()
    assert "The agent got worse" in change.runner.summary
    assert JOB_TOKEN not in done.stderr


def test_the_second_run_edits_the_same_comment(tmp_path: Path, github: GitHubStandIn) -> None:
    """However often the workflow runs, the pull request has one comment."""
    change = breaking(tmp_path, github)
    change.run()
    (first,) = github.comments(1)
    project = change.project
    project.git("checkout", "-q", "change")
    project.answers({one["eval_id"]: expected(one) for one in CASES})
    project.put("notes.txt", "mended")
    mended = Change(project, github, tmp_path / "runner")
    done = mended.run()
    assert done.returncode == 0, done.stderr
    (second,) = github.comments(1)
    assert second.id == first.id
    assert "No regression" in second.body
    (check,) = github.check_runs(mended.head)
    assert check.conclusion == "success"


def test_a_pull_request_that_changes_nothing_runs_nothing(
    tmp_path: Path, github: GitHubStandIn
) -> None:
    """Equal fingerprints: pass, at once, and the report says so."""
    project = scripted(tmp_path / "repo", CASES)
    project.git("switch", "-qc", "change")
    change = Change(project, github, tmp_path / "runner")
    done = change.run()
    assert done.returncode == 0, done.stderr
    assert change.runner.outputs["decision"] == "pass"
    report = json.loads(Path(change.runner.outputs["report"]).read_text())
    assert report["cases"] == []
    assert report["base"]["fingerprint"] == report["head"]["fingerprint"] != ""


def test_bad_eval_sets_complete_the_check_and_name_the_place(
    tmp_path: Path, github: GitHubStandIn
) -> None:
    """The user's mistake is exit 2, and the check does not stay in progress for ever."""
    project = scripted(tmp_path / "repo", CASES)
    project.git("switch", "-qc", "change")
    project.put("evals/basic.evalset.json", eval_set(*CASES).replace("\n ]\n", ",\n ]\n"))
    change = Change(project, github, tmp_path / "runner")
    done = change.run()
    assert done.returncode == 2
    assert "evals/basic.evalset.json:" in done.stderr
    assert "Traceback" not in done.stderr
    (check,) = github.check_runs(change.head)
    assert (check.status, check.conclusion) == ("completed", "failure")
    assert "basic.evalset.json" in str(check.summary)


@pytest.mark.parametrize(
    ("size", "broken"), [(150, 120), pytest.param(2_000, 700, marks=pytest.mark.slow)]
)
def test_many_cases_stay_within_every_limit(
    tmp_path: Path, github: GitHubStandIn, size: int, broken: int
) -> None:
    """Most of them or 700 broken, with long answers: GitHub's limits hold, nothing is lost."""
    cases = [
        case(f"case-{n:04}", turn(f"Question {n}?", f"The answer to question {n} is {n * 7}."))
        for n in range(size)
    ]
    settings = '[[suite]]\nname = "desk"\ntraces = "traces.json"\nevals = ["evals"]\n'
    project = scripted(tmp_path / "repo", cases, settings)
    project.put("traces.json", traces(cases, broken=0))
    project.commit("traces")
    project.git("switch", "-qc", "change")
    project.put("traces.json", traces(cases, broken=broken))
    change = Change(project, github, tmp_path / "runner")
    done = change.run()
    assert done.returncode == 1, done.stderr[-2000:]
    (comment,) = github.comments(1)
    assert "Left out" in comment.body
    assert len(comment.body) <= COMMENT_LIMIT
    (check,) = github.check_runs(change.head)
    assert all(len(str(part).encode()) <= CHECK_LIMIT for part in (check.summary, check.text))
    assert 50 < len(check.annotations) <= broken
    assert len(change.runner.summary.encode()) < SUMMARY_LIMIT
    report = json.loads(Path(change.runner.outputs["report"]).read_text())
    regressed = [one for one in report["cases"] if "regressed" in json.dumps(one["criteria"])]
    assert len(regressed) == broken
    assert str(broken) in comment.body


def traces(cases: list[dict[str, Any]], broken: int) -> str:
    """A recording of all cases, so many of them gone wrong at length."""
    wrong = "Sorry, <b>@everyone</b> | ``` I have **no** idea about that. " * 40
    recorded = [
        {
            "eval_set": "evals/basic.evalset.json",
            "eval_id": one["eval_id"],
            "run": 1,
            "invocations": [
                said | {"final_response": {"parts": [{"text": wrong}]}} if n < broken else said
                for said in one["conversation"]
            ],
        }
        for n, one in enumerate(cases)
    ]
    return json.dumps({"schema": "gradegate/traces/v1", "cases": recorded})


def test_checks_forbidden_a_commit_status_says_it(tmp_path: Path, github: GitHubStandIn) -> None:
    """A token that may not write checks still gates the merge."""
    github.allow(checks="none")
    change = breaking(tmp_path, github)
    done = change.run()
    assert done.returncode == 1, done.stderr
    assert github.check_runs(change.head) == []
    assert [status.state for status in github.statuses(change.head)][-1] == "failure"


def from_fork(change: Change) -> dict[str, Any]:
    """The payload of the same pull request, had a stranger made it."""
    fork = pull_request(change.head, change.base)
    fork["pull_request"]["head"]["repo"] = {"full_name": "stranger/agents"}
    return fork


def finished(change: Change) -> dict[str, Any]:
    """The payload of the end of its workflow."""
    run = {
        "event": "pull_request",
        "head_sha": change.head,
        "head_branch": "change",
        "head_repository": {"owner": {"login": "octo"}},
    }
    return {"workflow_run": run}


def test_a_forks_report_is_written_and_left_to_the_other_workflow(
    tmp_path: Path, github: GitHubStandIn
) -> None:
    """The untrusted half posts nothing; the trusted half validates, renders and posts."""
    change = breaking(tmp_path, github)
    done = change.runner.run("pull_request", from_fork(change))
    assert done.returncode == 1, done.stderr
    assert github.comments(1) == []
    assert github.check_runs(change.head) == []
    posted = change.runner.run("workflow_run", finished(change))
    assert posted.returncode == 0, posted.stderr
    (comment,) = github.comments(1)
    assert "paris" in comment.body
    (check,) = github.check_runs(change.head)
    assert check.conclusion == "failure"


@pytest.mark.parametrize(
    ("forged", "why"),
    [
        ({"state": "pass"}, "contradicts itself"),
        ({"state": "pass", "accepted_by": "mona"}, "no label `gradegate-accept`"),
    ],
)
def test_a_forks_report_cannot_talk_itself_green(
    tmp_path: Path, github: GitHubStandIn, forged: dict[str, Any], why: str
) -> None:
    """Neither by hiding what it found nor by naming somebody who accepted it: a red check."""
    change = breaking(tmp_path, github)
    change.runner.run("pull_request", from_fork(change))
    file = Path(change.runner.outputs["report"])
    report = json.loads(file.read_text())
    if "accepted_by" in forged:
        forged = {**forged, "notes": report["decision"]["reasons"]}
    file.write_text(json.dumps({**report, "decision": forged}))
    posted = change.runner.run("workflow_run", finished(change))
    assert posted.returncode == 2
    assert why in posted.stderr
    assert github.comments(1) == []
    (check,) = github.check_runs(change.head)
    assert check.conclusion == "failure"


def test_an_accepted_regression_passes_and_says_who_accepted_it(
    tmp_path: Path, github: GitHubStandIn
) -> None:
    """The label waives it for this commit; the report names the person. A later push is red."""
    change = breaking(tmp_path, github)
    github.label(1, "gradegate-accept", by="mona")
    payload = pull_request(change.head, change.base, labels=[{"name": "gradegate-accept"}])
    done = change.runner.run("pull_request", payload | {"action": "labeled"})
    assert done.returncode == 0, done.stderr
    assert "mona" in github.comments(1)[0].body
    done = change.runner.run("pull_request", payload | {"action": "synchronize"})
    assert done.returncode == 1, done.stderr
    assert "was set for an earlier commit" in github.comments(1)[0].body


def test_pull_request_target_is_refused(tmp_path: Path, github: GitHubStandIn) -> None:
    """It would run a stranger's code beside base's secrets."""
    change = breaking(tmp_path, github)
    done = change.runner.run("pull_request_target", pull_request(change.head, change.base))
    assert done.returncode == 2
    assert "workflow_run" in done.stderr


def test_a_push_to_the_default_branch_keeps_a_baseline_that_costs_the_next_pr_nothing(
    tmp_path: Path, github: GitHubStandIn
) -> None:
    """Base comes from the store then, measured more than once."""
    project = scripted(tmp_path / "repo", CASES)
    runner = Runner(project, github, tmp_path / "runner")
    push = {"ref": "refs/heads/main", "repository": {"default_branch": "main"}}
    done = runner.run("push", push)
    assert done.returncode == 0, done.stderr
    assert "baseline" in done.stderr
    project.git("switch", "-qc", "change")
    project.answers({one["eval_id"]: expected(one) for one in CASES} | {"paris": BROKEN})
    change = Change(project, github, tmp_path / "runner")
    done = change.run()
    report = json.loads(Path(change.runner.outputs["report"]).read_text())
    (paris,) = [one for one in report["cases"] if one["eval_id"] == "paris"]
    assert paris["criteria"]["tool_trajectory_avg_score"]["confirmed"]
    rome = next(one for one in report["cases"] if one["eval_id"] == "rome")
    assert rome["criteria"]["response_match_score"]["runs"] == [2, 1]


def test_a_secret_that_the_agent_repeats_is_hidden_everywhere(
    tmp_path: Path, github: GitHubStandIn
) -> None:
    """Not in the comment, the check, the files, the log, or the store."""
    project = scripted(tmp_path / "repo", CASES)
    project.git("switch", "-qc", "change")
    leak = [{"text": f"My token is {JOB_TOKEN}."}]
    project.answers({one["eval_id"]: expected(one) for one in CASES} | {"paris": leak})
    change = Change(project, github, tmp_path / "runner")
    done = change.run()
    assert done.returncode == 1, done.stderr
    assert "My token is ***" in github.comments(1)[0].body.replace("&#42;", "*").replace("\\*", "*")
    (check,) = github.check_runs(change.head)
    written = [path for path in (tmp_path / "repo" / ".gradegate").rglob("*") if path.is_file()]
    assert len(written) > 5
    for place in [str(check), str(github.comments(1)), done.stderr, *map(_text, written)]:
        assert JOB_TOKEN not in place


def _text(path: Path) -> str:
    return path.read_bytes().decode(errors="replace")
