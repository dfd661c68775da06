"""Which variables a suite may hand to its agent: the same word in `check` and in `run`."""

from pathlib import Path

import pytest

from tests.project import AGENT, SETTINGS, Project, case, scripted, turn

TOKEN = "ghs_0123456789abcdef"  # noqa: S105 - nobody's
CASES = [case("hello", turn("Hello?", "desk-42"))]
TELLS = AGENT.replace('said["text"]', 'os.environ.get("DESK") or "nothing"')


def with_env(folder: Path, env: str) -> Project:
    """A repository whose agent answers with the variable DESK."""
    settings = SETTINGS.replace('env = ["AGENT_LOG"]', f"env = {env}")
    project = scripted(folder / "repo", CASES, settings)
    project.put("agent.py", TELLS)
    project.commit("base")
    return project


@pytest.mark.parametrize(
    ("env", "environ"),
    [
        ('["DESK"]', {"DESK": "desk-42"}),
        ('{DESK = "GITHUB_DESK"}', {"GITHUB_DESK": "desk-42", "GITHUB_TOKEN": TOKEN}),
    ],
    ids=["named", "renamed"],
)
def test_an_agent_sees_variables_under_the_names_of_its_suite(
    tmp_path: Path, env: str, environ: dict[str, str]
) -> None:
    """Those of the workflow by a list, others by a table."""
    project = with_env(tmp_path, env)
    checked = project.gradegate("check", **environ)
    assert checked.returncode == 0, checked.stdout
    done = project.evaluate("--base", "none", **environ)
    assert (done.code, done.state) == (0, "pass"), done.stderr


@pytest.mark.trust
@pytest.mark.parametrize(
    ("env", "environ", "why"),
    [
        ('["GITHUB_TOKEN"]', {"GITHUB_TOKEN": TOKEN}, "GITHUB_TOKEN, which the runner sets"),
        ('{DESK = "ACTIONS_X"}', {"ACTIONS_X": TOKEN}, "ACTIONS_X, which the runner sets"),
        ('["DESK"]', {"DESK": TOKEN, "GITHUB_TOKEN": TOKEN}, "DESK: its value is the job's own"),
        (
            '{DESK = "BOT"}',
            {"BOT": f"Bearer {TOKEN}", "INPUT_GITHUB-TOKEN": TOKEN},
            "BOT: its value is the job's own",
        ),
    ],
    ids=["by name", "by a source's name", "by value", "by a source's value"],
)
def test_the_jobs_token_is_refused_before_an_agent_runs(
    tmp_path: Path, env: str, environ: dict[str, str], why: str
) -> None:
    """The job's token under another name, in `check` as in `run`."""
    project = with_env(tmp_path, env)
    for words in (("check",), ("run", "--base", "none")):
        done = project.gradegate(*words, **environ)
        assert done.returncode == 2, done.stdout + done.stderr
        assert why in done.stdout + done.stderr
        assert TOKEN not in done.stdout + done.stderr
