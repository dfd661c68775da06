"""The first ten minutes with gradegate: what it says to someone who has read nothing."""

import json
import os
import pty
import subprocess
import tomllib
from pathlib import Path

import pytest

from gradegate.agents.uv_calls import find_uv
from tests.project import GRADEGATE, Project, case, expected, scripted, turn

CASES = [case(name, turn("hello", f"hi from {name}")) for name in ("paris", "rome")]
SET = "evals/basic.evalset.json"
WIDTH = 80
ROOT = Path(__file__).parents[2]
COMMANDS = [
    "demo",
    "run",
    "check",
    "init",
    "criteria",
    "score",
    "record",
    "compare",
    "merge",
    "render",
    "baseline",
    "history",
    "publish",
    "schema",
    "action",
]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A repository with a scripted agent, on a branch off main."""
    made = scripted(tmp_path / "repo", CASES)
    made.git("switch", "-qc", "change")
    return made


def worse(project: Project) -> None:
    """One answer is wrong now."""
    project.answers({"paris": expected(CASES[0]), "rome": {"text": "who knows, " * 20}})


def test_without_a_command_there_is_help_and_not_only_a_complaint(project: Project) -> None:
    """On standard error, with the exit code of wrong input."""
    done = project.gradegate(COLUMNS=str(WIDTH))
    assert (done.returncode, done.stdout) == (2, "")
    assert "gradegate demo" in done.stderr
    assert "exit codes:" in done.stderr


@pytest.mark.parametrize(
    "command",
    ["", *COMMANDS],
)
def test_help_fits_a_terminal_and_explains_every_option(project: Project, command: str) -> None:
    """No line is broken by the terminal, and no option stands there without a word."""
    done = project.gradegate(*filter(None, [command]), "--help", COLUMNS=str(WIDTH))
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert max(map(len, lines)) <= WIDTH
    options = done.stdout.partition("options:")[2].partition("\n\n")[0].splitlines()
    for line, following in zip(options, [*options[1:], ""], strict=True):
        if line.startswith("  -"):
            assert "  " in line.strip() or following.startswith(" " * 10), line


def test_the_first_line_is_the_verdict_and_no_line_ends_in_blanks(project: Project) -> None:
    """What is said of a case can be copied as it stands."""
    worse(project)
    done = project.gradegate("run", COLUMNS=str(WIDTH))
    lines = done.stdout.splitlines()
    assert (done.returncode, done.stderr) == (1, "")
    assert lines[0] == "❌ The agent got worse: 1 regressed case in 2 cases"
    of_the_case = lines[lines.index("❌ Regressed (1)") :]
    assert any(line.startswith("    - hi from rome") for line in of_the_case)
    assert [line for line in of_the_case if line != line.rstrip()] == []
    assert max(map(len, of_the_case)) <= WIDTH


def test_what_fails_on_base_too_is_no_red_cross_under_a_green_verdict(project: Project) -> None:
    """It is one where it blocks."""
    project.git("switch", "-q", "main")
    worse(project)
    project.commit()
    project.git("switch", "-qc", "notes")
    project.put("notes.txt", "a change")
    done = project.gradegate("run")
    assert done.returncode == 0
    assert "✅ No regression in 2 cases" in done.stdout
    assert "\nBelow threshold (1)" in done.stdout
    assert "❌" not in done.stdout
    assert "❌" not in done.stdout
    alone = project.gradegate("run", "--base", "none")
    assert alone.returncode == 1
    assert "❌ Below threshold (1)" in alone.stdout


def test_a_terminal_sees_progress_and_is_left_as_it_was(project: Project) -> None:
    """The line that changes stays one row, and is gone when the report comes."""
    worse(project)
    main, theirs = pty.openpty()
    environ = {**project.environ, "HOME": str(project.root.parent), "COLUMNS": "10"}
    with subprocess.Popen(
        [str(GRADEGATE), "run"],
        cwd=project.root,
        env=environ,
        stdout=subprocess.PIPE,
        stderr=theirs,
    ) as started:
        started.communicate()
    os.close(theirs)
    said = os.read(main, 100_000).decode()
    os.close(main)
    assert "4/4 runs" in said
    assert max(map(len, said.split("\r\x1b[K"))) < 10
    assert said.endswith("\r\x1b[K")


def test_where_nothing_changed_it_says_how_to_see_scores_all_the_same(project: Project) -> None:
    """On standard error: the report is what it is."""
    done = project.gradegate("run")
    assert done.returncode == 0
    assert done.stdout.startswith("✅ Nothing to evaluate")
    assert "(stored)" not in done.stdout
    assert "`gradegate run --base none`" in done.stderr
    alone = project.gradegate("run", "--base", "none")
    assert alone.stdout.startswith("✅ Thresholds met in 2 cases")
    assert "2 other cases meet their thresholds." in alone.stdout
    assert "unchanged" not in alone.stdout


def test_a_dry_run_counts_as_people_do(project: Project) -> None:
    """One case is a case."""
    worse(project)
    done = project.gradegate("run", "--dry-run", "--case", "rome")
    assert done.stdout.splitlines()[0] == "1 case"


def test_a_dry_run_says_suite_by_suite_what_would_happen(project: Project) -> None:
    """Who answers, to which sets, by which config and criteria, how often; the same as JSON."""
    worse(project)
    project.put("evals/test_config.json", '{"criteria": {"response_match_score": 0.5}}')
    done = project.gradegate("run", "--dry-run")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[:4] == [
        "2 cases",
        "suite desk: python3 agent.py",
        "  runs: 4 to 68",
        "  evals/basic.evalset.json: 2 cases, evals/test_config.json (response_match_score ≥ 0.5)",
    ]
    told = json.loads(project.gradegate("run", "--dry-run", "--json").stdout)
    (suite,) = told["suites"]
    assert (told["schema"], told["nothing_changed"]) == ("gradegate/dry-run/v1", False)
    assert (suite["agent"], suite["runs"]) == ("python3 agent.py", {"least": 4, "most": 68})
    assert suite["eval_sets"] == [
        {
            "eval_set": "evals/basic.evalset.json",
            "cases": 2,
            "config": "evals/test_config.json",
            "criteria": {"response_match_score": 0.5},
        }
    ]
    assert told["judge_calls"] == {"least": 0, "most": 0, "criteria": {}}
    assert project.gradegate("run", "--json").returncode == 2


def test_a_dry_run_on_main_tells_the_suites_all_the_same(project: Project) -> None:
    """With nothing to run, as base and head are one."""
    told = project.gradegate("run", "--dry-run").stdout.splitlines()
    assert told[0] == "nothing changed between base and head: nothing would be run or asked"
    assert told[2:4] == ["suite desk: python3 agent.py", "  runs: 0"]
    assert "no config: google-adk's defaults (tool_trajectory_avg_score ≥ 1, " in told[4]


@pytest.mark.parametrize("arguments", [["run", "--base", "none"], ["demo"]])
def test_a_folder_that_cannot_be_written_is_found_out_before_the_work(
    project: Project, arguments: list[str]
) -> None:
    """Nobody waits for a report that then has nowhere to go."""
    project.put("file", "")
    done = project.gradegate(*arguments, "--out", "file/report")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("gradegate: file/report: cannot be written to: Not a directory")


def traces(eval_set: str, **more: str) -> str:
    """Recorded runs that are all as expected."""
    runs = [
        {"eval_set": eval_set, "eval_id": one["eval_id"], "invocations": one["conversation"]}
        for one in CASES
    ]
    cases = [{**run, **more} for run in runs]
    return json.dumps({"schema": "gradegate/traces/v1", "cases": cases})


@pytest.mark.parametrize("evals", [SET, "evals", "evals/", "."])
@pytest.mark.parametrize("name", [SET, "basic"])
def test_traces_are_scored_by_any_name_of_their_set_and_whatever_their_suite(
    project: Project, evals: str, name: str
) -> None:
    """What a suite's `traces` are good for, `score` is good for too."""
    project.put("traces.json", traces(name, suite="weather"))
    done = project.gradegate("score", "--evals", evals, "--traces", "traces.json")
    assert (done.returncode, done.stderr) == (0, "2 passed\n")
    project.put("traces.json", traces("basic.evalset.json"))
    done = project.gradegate("score", "--evals", "evals", "--traces", "traces.json")
    assert (done.returncode, done.stderr) == (0, "2 passed\n")


def test_the_files_that_steps_write_tell_what_they_came_to(project: Project) -> None:
    """Each step says in a line what it found; a file that cannot be written is named."""
    project.put("traces.json", traces(SET))
    scored = project.gradegate(
        "score", "--evals", SET, "--traces", "traces.json", "--out", "a.json"
    )
    assert (scored.returncode, scored.stderr) == (0, "2 passed\n")
    compared = project.gradegate("compare", "a.json", "a.json", "--out", "report.json")
    assert (compared.returncode, compared.stderr) == (0, "✅ No regression in 2 cases\n")
    shown = project.gradegate("render", "report.json")
    assert shown.stdout.startswith("✅ No regression in 2 cases\n")
    refused = project.gradegate("merge", "a.json", "--out", "a.json/b.json")
    assert refused.returncode == 2
    assert "a.json/b.json: cannot be written" in refused.stderr


def rendered(project: Project, template: str) -> subprocess.CompletedProcess[str]:
    """The comment of a small report, by a template of the user's."""
    project.gradegate("run", "--base", "none", "--out", "../report")
    project.put("templates/comment.md.j2", template)
    report = "../report/report.json"
    return project.gradegate("render", report, "--format", "comment", "--template", "templates")


def test_a_template_that_extends_its_own_name_extends_ours(project: Project) -> None:
    """One block is another, the rest as it was."""
    done = rendered(
        project, '{% extends "comment.md.j2" %}{% block footer %}Ask the desk.{% endblock %}'
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("<!-- gradegate:comment:gradegate -->")
    assert "## ✅ Thresholds met in 2 cases" in done.stdout
    assert done.stdout.endswith("Ask the desk.\n")
    assert "<sub>" not in done.stdout


def test_templates_in_a_circle_and_a_folder_that_is_none_are_refused(project: Project) -> None:
    """With what to mend."""
    project.put("templates/mine.md.j2", '{% extends "comment.md.j2" %}')
    circle = rendered(project, '{% extends "mine.md.j2" %}')
    assert circle.returncode == 2
    assert "break the circle" in circle.stderr
    nowhere = project.gradegate("render", "../report/report.json", "--template", "nowhere")
    assert (nowhere.returncode, nowhere.stdout) == (2, "")
    assert "nowhere is not a folder" in nowhere.stderr


def test_check_says_how_much_it_looked_at(project: Project) -> None:
    """Nothing wrong in three files is not the same as nothing there."""
    done = project.gradegate("check")
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.splitlines() == [
        "1 eval set with no config: google-adk's defaults apply",
        "2 files checked: nothing to complain about",
    ]
    project.put("evals/test_config.json", '{"criteria": {"response_match_scor": 0.8}}')
    done = project.gradegate("check")
    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        "1 eval set with evals/test_config.json",
        "3 files checked: 1 error",
    ]
    project.put("empty/readme.md", "")
    done = project.gradegate("check", "empty")
    assert done.returncode == 0
    assert done.stderr.startswith("nothing to check: no eval sets")


def test_check_in_a_folder_of_the_project_checks_the_project(project: Project) -> None:
    """Its settings are part of it, and files are named as seen from there."""
    project.put("gradegate.toml", "[gate]\nalpha = 2\n")
    inside = Project(project.root / "evals", project.environ)
    done = inside.gradegate("check")
    assert done.returncode == 2
    assert done.stdout.startswith("../gradegate.toml:2:1: error: `gate.alpha`")
    assert inside.gradegate("check", "basic.evalset.json").returncode == 0
    assert "is not below" in inside.gradegate("check", "../..").stderr


def test_check_refuses_eval_sets_that_no_agent_answers_to(project: Project) -> None:
    """As `run` and the dry run do; all of them name the folders that hold an agent."""
    project.put("gradegate.toml", "")
    done = project.gradegate("check")
    assert done.returncode == 2
    told = "no agent answers to suite `evals`: none is in a folder at or above its eval sets"
    assert done.stdout.startswith(f"{SET}:1:1: error: {told}, and no other folder holds an ADK")
    project.put("bots/desk/agent.py", "root_agent = None\n")
    for arguments in (["check"], ["run", "--base", "none"], ["run", "--dry-run"]):
        done = project.gradegate(*arguments)
        assert done.returncode == 2
        assert f"{told}; agents are in `bots/desk`; write `agent`" in done.stdout + done.stderr


def test_what_builds_the_agents_environments_comes_with_the_package() -> None:
    """`pip install gradegate` is all that a terminal needs; PATH need not know of it."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    needed = tomllib.loads(text)["project"]["dependencies"]
    assert [one for one in needed if one.startswith("uv>=")]
    assert find_uv({"PATH": "/nowhere"}) == str(GRADEGATE.with_name("uv"))


def test_a_repository_without_commits_wants_one(tmp_path: Path) -> None:
    """Nobody has misspelt anything."""
    done = Project.create(tmp_path / "repo").gradegate("run")
    assert done.returncode == 2
    assert done.stderr.endswith("yet: make a first one\n")


@pytest.mark.parametrize("remote", ["", "file:///nowhere"])
def test_a_misspelt_base_is_told_in_one_line(project: Project, remote: str) -> None:
    """Whether or not there is a remote to ask; git's own words are not repeated at length."""
    if remote:
        project.git("remote", "add", "origin", remote)
    done = project.gradegate("run", "--base", "mian")
    assert done.returncode == 2
    assert done.stderr.startswith("gradegate: there is no commit 'mian'")
    assert done.stderr.count("\n") == 1
    assert ("git says" in done.stderr) == bool(remote)
