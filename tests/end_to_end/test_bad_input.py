"""What a user can get wrong: exit 2, and a message that says what to write instead."""

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from tests.project import SETTINGS, Project, case, eval_set, scripted, turn

CASES = [case(name, turn("hello", f"hi from {name}")) for name in ("paris", "rome")]
SET = "evals/basic.evalset.json"
RECORDED = """
[[suite]]
name = "desk"
traces = "traces.json"
evals = ["evals/*.evalset.json"]
"""


@pytest.fixture(scope="module")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A repository with nothing wrong in it, made once."""
    return scripted(tmp_path_factory.mktemp("pristine") / "repo", CASES)


@pytest.fixture
def project(pristine: Project, tmp_path: Path) -> Iterator[Project]:
    """A copy of it, to get something wrong in."""
    shutil.copytree(pristine.root, tmp_path / "repo")
    yield Project(tmp_path / "repo", {**pristine.environ, "XDG_CACHE_HOME": str(tmp_path / "c")})
    assert not list((tmp_path / "repo" / ".git" / "worktrees").glob("*"))


def refused(done: CompletedProcess[str], *said: str) -> str:
    """The one message of a command that exits 2."""
    assert done.returncode == 2, (done.stdout, done.stderr)
    assert "Traceback" not in done.stderr
    assert "internal error" not in done.stderr
    for text in said:
        assert text in done.stderr
    return done.stderr


def trace(eval_id: str, text: str = "hi") -> dict[str, Any]:
    """A recorded run."""
    turn_ = {
        "user_content": {"parts": [{"text": "hello"}]},
        "final_response": {"parts": [{"text": text}]},
    }
    return {"eval_set": SET, "eval_id": eval_id, "run": 1, "invocations": [turn_]}


def traces(*eval_ids: str) -> str:
    """A traces file in which each case says what is expected of it."""
    cases = [trace(name, f"hi from {name}") for name in eval_ids]
    return json.dumps({"schema": "gradegate/traces/v1", "cases": cases})


def workflow(project: Project, **environ: str) -> CompletedProcess[str]:
    """The container's entry point on a push."""
    event = project.root.parent / "event.json"
    event.write_text(
        json.dumps({"ref": "refs/heads/x", "repository": {"default_branch": "main"}}),
        encoding="utf-8",
    )
    return project.gradegate(
        "action",
        GITHUB_EVENT_NAME="push",
        GITHUB_EVENT_PATH=str(event),
        GITHUB_WORKSPACE=str(project.root),
        **environ,
    )


def test_a_missing_token(project: Project) -> None:
    """The line to write is in the message."""
    refused(workflow(project), "`github-token` is missing", "${{ github.token }}")


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("mode", "evalute", "did you mean `evaluate`?"),
        ("fail-on", "regression, remove", "did you mean `removed`?"),
        ("comment", "sometimes", "`always`, `changes`, `failures`, `never`"),
        ("shard", "9/8", "from `1/8` to `8/8`"),
        ("runs", "0", "write a whole number"),
        ("tolerance", "2", "a number from 0 to 1"),
    ],
)
def test_an_unknown_value_of_an_input(project: Project, name: str, value: str, said: str) -> None:
    """Input, value and what to write."""
    done = workflow(project, **{f"INPUT_{name.upper()}": value})
    refused(done, f"input `{name}`", said)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("[gate\ntolerance = 0.1\n", ":1:6: not valid TOML"),
        (f"{SETTINGS}\n[gate]\ntolerence = 0.1\n", "did you mean `tolerance`?"),
        (f"{SETTINGS}\n[gate]\ntolerance = 2\n", "gradegate.toml:9:"),
        (f"{SETTINGS}traces = 'x'\n", "write only one of `command` and `traces`"),
    ],
)
def test_a_broken_settings_file(project: Project, text: str, place: str) -> None:
    """With line and column."""
    project.put("gradegate.toml", text)
    message = refused(project.gradegate("run"), place)
    assert re.search(r"gradegate\.toml:\d+:\d+: ", message)


def test_an_eval_set_with_a_trailing_comma(project: Project) -> None:
    """Line and column of the comma, and no guess at what was meant."""
    project.put(SET, '{\n "eval_set_id": "basic",\n "eval_cases": [],\n}\n')
    for command in (["run"], ["check"]):
        done = project.gradegate(*command)
        assert done.returncode == 2
        assert f"{SET}:3:18: " in done.stdout + done.stderr


def test_an_unknown_criterion(project: Project) -> None:
    """With the nearest one that there is."""
    project.put("evals/test_config.json", '{"criteria": {"response_match": 0.8}}')
    message = refused(project.gradegate("run"), "did you mean `response_match_score`?")
    assert re.search(r"evals/test_config\.json:1:\d+: ", message)


def test_a_trace_for_scoring_of_a_case_that_does_not_exist(project: Project) -> None:
    """The file, the case and the set are named."""
    project.put("traces.json", traces("paris", "london"))
    done = project.gradegate("score", "--evals", SET, "--traces", "traces.json")
    refused(done, "traces.json", "'london'", SET)
    assert done.stdout == ""


def test_a_trace_of_head_of_a_case_that_does_not_exist(project: Project) -> None:
    """A slip in a name would otherwise look like a case that was not recorded."""
    project.put("gradegate.toml", RECORDED)
    project.put("traces.json", traces("paris", "rome", "london"))
    refused(project.gradegate("run", "--base", "none"), "traces.json", "'london'")


def test_traces_of_base_may_hold_cases_that_are_removed(project: Project) -> None:
    """The recording is as old as base, and the gate says what was removed."""
    project.put("gradegate.toml", RECORDED)
    project.put("traces.json", traces("paris", "rome"))
    project.commit()
    project.put("traces.json", traces("paris"))
    project.put(SET, eval_set(CASES[0]))
    done = project.gradegate("run", "--base", "HEAD", "--out", "../out")
    assert done.returncode == 1, done.stderr
    report = json.loads((project.root.parent / "out/report.json").read_text(encoding="utf-8"))
    assert [reason["kind"] for reason in report["decision"]["reasons"]] == ["removed"]
    assert report["base"]["source"] == "run"
    assert report["warnings"] == []


def test_a_base_that_does_not_exist(project: Project) -> None:
    """With what to fetch or set."""
    refused(project.gradegate("run", "--base", "v9.9"), "'v9.9'", "fetch-depth: 0")


def test_a_head_that_does_not_exist(project: Project) -> None:
    """The same of head."""
    refused(project.gradegate("run", "--head", "nowhere"), "'nowhere'")


def test_not_a_git_repository(project: Project, tmp_path: Path) -> None:
    """With the option that names one."""
    done = project.gradegate("run", "--repo", str(tmp_path))
    refused(done, f"{tmp_path} is not in a git repository", "--repo DIR")
    done = project.gradegate("run", "--repo", str(tmp_path / "missing"))
    refused(done, f"{tmp_path / 'missing'} is not a folder", "--repo DIR")


def test_an_unknown_suite(project: Project) -> None:
    """With those that there are."""
    refused(project.gradegate("run", "--suite", "dsk"), "no suite `dsk`", "`desk`")


def test_a_glob_that_matches_no_case(project: Project) -> None:
    """With one that would."""
    project.put("agent.py", "changed")
    refused(project.gradegate("run", "--case", "london*"), "`--case london*`", "`paris`")


def test_no_eval_sets_at_all(project: Project) -> None:
    """What they are called is in the message."""
    (project.root / SET).unlink()
    refused(project.gradegate("run"), "suite `desk` has no eval sets", "evals/*.evalset.json")
    (project.root / "gradegate.toml").unlink()
    refused(project.gradegate("run", "--base", "none"), "*.evalset.json")


@pytest.mark.parametrize("runs", [1, 3])
def test_too_few_runs_ever_to_confirm_anything(project: Project, runs: int) -> None:
    """The reason, and how many would do."""
    project.put("gradegate.toml", f"{SETTINGS}\n[gate]\nconfirm_runs = {runs}\n")
    refused(project.gradegate("run"), f"`confirm_runs` under [gate] is {runs}", "write 4 or more")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", ":1:2: "),
        ("[]", '"schema": "gradegate/report/v1"'),
        ('{"schema": "gradegate/report/v1"}', "`decision` is missing"),
        (
            '{"schema": "gradegate/report/v1", "decision": {"state": "fine"}}',
            "`decision.state` must be 'pass', 'fail' or 'inconclusive'",
        ),
    ],
)
def test_a_broken_report(project: Project, text: str, said: str) -> None:
    """It is data from elsewhere, and checked as such."""
    project.put("report.json", text)
    done = project.gradegate("render", "report.json", "--format", "comment")
    refused(done, "report.json", said)
    assert done.stdout == ""


def test_a_report_that_is_not_there(project: Project) -> None:
    """Named, not traced back."""
    refused(project.gradegate("render", "no.json", "--format", "html"), "no.json")


@pytest.mark.parametrize(
    ("folder", "said"),
    [("services", "no folder 'services'"), ("..", "leads outside"), ("/tmp", "leads outside")],  # noqa: S108 - a name
)
def test_a_working_directory_that_is_none_of_the_repositorys(
    project: Project, folder: str, said: str
) -> None:
    """Written from the repository's top."""
    refused(project.gradegate("run", "--working-directory", folder), said)


def test_a_store_that_is_no_store(project: Project) -> None:
    """With what to do about it."""
    done = project.gradegate("run", "--base", "none", "--store", "agent.py")
    refused(done, "agent.py", "--store FILE")


def test_options_that_do_not_parse(project: Project) -> None:
    """Counts, kinds, shards and formats."""
    refused(project.gradegate("run", "--runs", "none"), "write 1 or more")
    refused(project.gradegate("run", "--fail-on", "regresion"), "did you mean `regression`?")
    refused(project.gradegate("run", "--shard", "3"), "which part of how many")
    refused(project.gradegate("render", "x", "--format", "pdf"), "invalid choice: 'pdf'")
    refused(project.gradegate("rnu"), "rnu")


def test_debug_shows_the_traceback_wherever_it_is_asked_for(project: Project) -> None:
    """Before the command or after it."""
    for arguments in (["--debug", "run"], ["run", "--debug"]):
        done = project.gradegate(*arguments, "--suite", "dsk")
        assert "Traceback" in done.stderr
        assert "InputError" in done.stderr
        assert done.returncode == 2, "as without it"
