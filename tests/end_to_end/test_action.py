"""The container's entry point, run as GitHub runs it: inputs, event file, a real repository."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.project import case, eval_set, expected, scripted, turn
from tests.standins.github import JOB_TOKEN, GitHubStandIn
from tests.workflow_step import (
    BROKEN,
    CASES,
    Change,
    Runner,
    breaking,
    finished,
    from_fork,
    pull_request,
)

COMMENT_LIMIT = 65_536
CHECK_LIMIT = 65_535
SUMMARY_LIMIT = 1024 * 1024


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
    assert change.runner.written("report").is_file()
    assert change.runner.written("html").is_file()
    assert "The agent got worse" in change.runner.summary
    assert JOB_TOKEN not in done.stderr


def test_headline_and_body_agree_whatever_blocks(tmp_path: Path, github: GitHubStandIn) -> None:
    """A regression that the settings let through is named above as it is below."""
    change = breaking(tmp_path, github)
    assert change.run(fail_on="budget").returncode == 0
    (comment,) = github.comments(1)
    (check,) = github.check_runs(change.head)
    assert check.conclusion == "success"
    for text in (comment.body, str(check.title)):
        assert "No regression" not in text
        assert "the settings let this through: 1 regressed case" in text


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
    report = json.loads(change.runner.written("report").read_text())
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


def test_a_run_that_ends_early_leaves_no_green_comment(
    tmp_path: Path, github: GitHubStandIn
) -> None:
    """What was green is of an older commit: comment and summary say that nothing is known."""
    project = scripted(tmp_path / "repo", CASES)
    project.git("switch", "-qc", "change")
    project.put("notes.txt", "harmless")
    assert Change(project, github, tmp_path / "runner").run().returncode == 0
    (green,) = github.comments(1)
    assert "No regression" in green.body
    project.git("checkout", "-q", "change")
    project.put("evals/basic.evalset.json", "{")
    change = Change(project, github, tmp_path / "runner")
    assert change.run(language="ja").returncode == 2
    (comment,) = github.comments(1)
    assert comment.id == green.id
    assert "No regression" not in comment.body
    for text in (comment.body, change.runner.summary):
        assert "評価できませんでした" in text
        assert "basic.evalset.json:1" in text
        assert change.head[:7] in text


def test_files_that_are_ours_alone_are_refused_where_everybody_sees_it(
    tmp_path: Path, github: GitHubStandIn
) -> None:
    """The check says so as well: a required one would stay pending for ever."""
    project = scripted(tmp_path / "repo", CASES)
    project.git("switch", "-qc", "change")
    project.put(".gradegate/store/gradegate.sqlite", "mine")
    project.git("add", "-f", ".gradegate")
    change = Change(project, github, tmp_path / "runner")
    assert change.run().returncode == 2
    (check,) = github.check_runs(change.head)
    assert check.conclusion == "failure"
    assert ".gradegate/store" in str(check.summary)


def test_what_a_killed_job_left_is_closed_by_the_next(
    tmp_path: Path, github: GitHubStandIn
) -> None:
    """On this commit, and on the one that it replaces."""
    change = breaking(tmp_path, github)
    before = github.add_commit("c" * 40)
    for sha in (change.head, before):
        github.add_check(sha, external_id="76", status="in_progress")
    github.state.runs[76] = "completed"
    payload = pull_request(change.head, change.base) | {"before": before}
    assert change.runner.run("pull_request", payload).returncode == 1
    dead, ours = github.check_runs(change.head)
    assert [run.conclusion for run in (dead, *github.check_runs(before))] == ["cancelled"] * 2
    assert ours.conclusion == "failure"


def test_a_rerun_has_one_check(tmp_path: Path, github: GitHubStandIn) -> None:
    """The same run again, as `Re-run jobs` makes it."""
    change = breaking(tmp_path, github)
    for _ in range(2):
        assert change.run().returncode == 1
    (check,) = github.check_runs(change.head)
    assert len(check.annotations) == 1


def test_a_missing_permission_is_a_warning_with_the_line_to_add(
    tmp_path: Path, github: GitHubStandIn
) -> None:
    """Where the workflow's author looks, and only once each."""
    github.allow(checks="none", pull_requests="read")
    done = breaking(tmp_path, github).run()
    warnings = [line for line in done.stdout.splitlines() if line.startswith("::warning")]
    assert len(warnings) == 2, done.stdout
    assert "`checks: write`" in warnings[0]
    assert "`pull-requests: write`" in warnings[1]
    assert "`permissions:`" in warnings[1]


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
    assert len(comment.body) <= COMMENT_LIMIT
    named = {one["eval_id"] for one in cases[:broken] if one["eval_id"] in comment.body}
    assert len(named) == broken or "Left out" in comment.body
    assert f"Regressed ({broken}), 1 cause" in comment.body
    (check,) = github.check_runs(change.head)
    assert all(len(str(part).encode()) <= CHECK_LIMIT for part in (check.summary, check.text))
    assert 50 < len(check.annotations) <= broken
    assert len(change.runner.summary.encode()) < SUMMARY_LIMIT
    report = json.loads(change.runner.written("report").read_text())
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


def test_a_forks_report_is_shown_as_base_wants_it(tmp_path: Path, github: GitHubStandIn) -> None:
    """In base's language, whatever the fork's own settings say."""
    change = breaking(tmp_path, github)
    change.runner.run("pull_request", from_fork(change))
    github.add_file("gradegate.toml", '[report]\nlanguage = "ja"\n')
    assert change.runner.run("workflow_run", finished(change)).returncode == 0
    (comment,) = github.comments(1)
    assert "エージェントが悪化しました" in comment.body


@pytest.mark.parametrize(
    ("forged", "why"),
    [
        ({"state": "pass"}, "contradicts itself"),
        ({"state": "pass", "accepted_by": "mona"}, "accepts nothing"),
    ],
)
def test_a_forks_report_cannot_talk_itself_green(
    tmp_path: Path, github: GitHubStandIn, forged: dict[str, Any], why: str
) -> None:
    """Neither by hiding what it found nor by naming somebody who accepted it: a red check."""
    change = breaking(tmp_path, github)
    change.runner.run("pull_request", from_fork(change))
    file = change.runner.written("report")
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
    report = json.loads(change.runner.written("report").read_text())
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
