"""`gradegate init`: what it writes, when it keeps its hands off, and what it says."""

import re
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest
from pydantic import BaseModel
from ruamel.yaml import YAML

from gradegate import __version__
from gradegate.files.settings_toml import parse_settings
from gradegate.model.settings import (
    CaseGate,
    CriterionGate,
    Gate,
    JudgeSettings,
    Quarantine,
    ReportSettings,
    Settings,
    Suite,
)
from tests.project import Project, case, eval_set, turn

WORKFLOW = ".github/workflows/gradegate.yml"
PUBLISHER = ".github/workflows/gradegate-publish.yml"
NOWHERE = "file:///nowhere"
SETS = eval_set(case("one", turn("Hello", "Hello")))
AGENT = "root_agent = None\n"


def init(project: Project, *arguments: str, server: str = NOWHERE) -> str:
    """Run it as a user would; what it said on both streams."""
    done = project.gradegate("init", *arguments, GITHUB_SERVER_URL=server)
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A repository with one agent and its eval sets."""
    made = Project.create(tmp_path / "repo")
    made.put("agents/weather/agent.py", AGENT)
    made.put("agents/weather/requirements.txt", "google-adk\n")
    made.put("agents/weather/evals/basic.evalset.json", SETS)
    made.commit()
    return made


def read(project: Project, name: str) -> str:
    """A file that was written."""
    return (project.root / name).read_text(encoding="utf-8")


def test_agents_and_eval_sets_are_found(project: Project) -> None:
    """The settings name them, and are as `gradegate check` wants them."""
    project.put("agents/news/agent.py", AGENT)
    project.put("agents/news/headlines.test.json", SETS)
    said = init(project)
    news, weather = parse_settings("gradegate.toml", read(project, "gradegate.toml")).suite
    assert (news.agent, news.evals) == ("agents/news", ("agents/news",))
    assert (weather.agent, weather.evals) == ("agents/weather", ("agents/weather/evals",))
    assert weather.requirements == "agents/weather/requirements.txt"
    assert news.requirements is None
    assert "found weather: 1 eval set for agents/weather" in said
    checked = project.gradegate("check")
    assert checked.returncode == 0, checked.stdout


def test_sets_that_share_their_folder_with_anothers_are_named_one_by_one(tmp_path: Path) -> None:
    """A folder would take in what is another agent's."""
    project = Project.create(tmp_path / "repo")
    for name in ("desk", "desk/news"):
        project.put(f"{name}/agent.py", AGENT)
        project.put(f"{name}/one.test.json", SETS)
        project.put(f"{name}/two.test.json", SETS)
    init(project)
    suites = parse_settings("gradegate.toml", read(project, "gradegate.toml")).suite
    evals = {suite.agent: suite.evals for suite in suites}
    assert evals["desk/news"] == ("desk/news",)
    assert evals["desk"] == ("desk/one.test.json", "desk/two.test.json")


def test_without_an_agent_the_suite_waits_for_one(tmp_path: Path) -> None:
    """The file is valid all the same, and the output says what is missing."""
    project = Project.create(tmp_path / "repo")
    project.put("evals/basic.evalset.json", SETS)
    project.commit()
    said = init(project)
    assert "no agent: name one in gradegate.toml" in said
    text = read(project, "gradegate.toml")
    assert parse_settings("gradegate.toml", text).suite == ()
    assert '#name = "evals"' in text


def test_an_empty_repository_gets_files_and_a_hint(tmp_path: Path) -> None:
    """Not even a commit is needed."""
    project = Project.create(tmp_path / "repo")
    said = init(project)
    assert "found no eval sets" in said
    assert parse_settings("gradegate.toml", read(project, "gradegate.toml")) == Settings()


def test_suites_that_the_settings_name_are_the_ones_it_found(project: Project) -> None:
    """Nobody is asked for an agent that the kept file names."""
    project.put(
        "gradegate.toml",
        '[[suite]]\nname = "desk"\ncommand = ["python", "serve.py"]\nevals = ["agents"]\n',
    )
    said = init(project)
    assert "found desk: 1 eval set for `python serve.py`\n" in said
    assert "found weather" not in said


def test_settings_in_pyproject_are_not_pushed_aside(project: Project) -> None:
    """A gradegate.toml beside them would win."""
    project.put("pyproject.toml", "[tool.gradegate.report]\nlanguage = 'ja'\n")
    said = init(project)
    assert "kept      [tool.gradegate] in pyproject.toml" in said
    assert "found weather: 1 eval set for agents/weather" in said
    assert not (project.root / "gradegate.toml").exists()
    project.put("pyproject.toml", "[project]\nname = 'x'\n")
    init(project)
    assert (project.root / "gradegate.toml").exists()


def test_what_it_says_fits_a_terminal(project: Project) -> None:
    """In eighty columns."""
    assert max(map(len, init(project).splitlines())) <= 80


def test_outside_a_repository_it_says_what_to_do(tmp_path: Path) -> None:
    """Exit 2, as for every wrong input."""
    project = Project(tmp_path, {"PATH": "/usr/bin:/bin"})
    done = project.gradegate("init")
    assert done.returncode == 2
    assert "--repo DIR" in done.stderr


def test_nothing_is_overwritten_without_force(project: Project) -> None:
    """What differs is kept and named; what is missing is written."""
    project.put("gradegate.toml", "# mine\n")
    said = init(project)
    assert read(project, "gradegate.toml") == "# mine\n"
    assert "kept      gradegate.toml" in said
    assert (project.root / WORKFLOW).is_file()
    said = init(project, "--force")
    assert read(project, "gradegate.toml") != "# mine\n"
    assert f"unchanged {WORKFLOW}" in said


def test_diff_shows_and_writes_nothing(project: Project) -> None:
    """A unified diff that git can apply; nothing once all is written."""
    project.put("gradegate.toml", "# mine\n")
    before = project.git("status", "--porcelain", "--untracked-files=all")
    diff = init(project, "--diff")
    assert project.git("status", "--porcelain", "--untracked-files=all") == before
    assert "--- a/gradegate.toml\n+++ b/gradegate.toml\n" in diff
    assert "-# mine\n" in diff
    applied = subprocess.run(
        ["git", "apply"], input=diff, cwd=project.root, text=True, check=False, capture_output=True
    )
    assert applied.returncode == 0, applied.stderr
    assert init(project, "--diff") == ""


def test_the_default_branch_is_the_one_that_measures(tmp_path: Path) -> None:
    """Whatever it is called."""
    project = Project.create(tmp_path / "repo")
    project.git("switch", "-qc", "trunk/新")
    init(project)
    assert 'branches: ["trunk/新"]' in read(project, WORKFLOW)


def test_the_action_is_pinned_by_its_commit(project: Project, tmp_path: Path) -> None:
    """The commit, not the tag's own object; the version stands beside it."""
    released = Project.create(tmp_path / "server" / "gradegate" / "gradegate")
    sha = released.commit("release")
    released.git("tag", "-a", "-m", "release", f"v{__version__}")
    init(project, server=f"file://{tmp_path / 'server'}")
    pin = f"uses: gradegate/gradegate@{sha} # v{__version__}\n"
    assert pin in read(project, WORKFLOW)
    assert pin in read(project, PUBLISHER)


@pytest.mark.parametrize("arguments", [(), ("--shards", "8")])
def test_every_other_action_is_pinned_too(project: Project, arguments: Sequence[str]) -> None:
    """By a commit, with the version as a comment."""
    init(project, *arguments)
    for name in (WORKFLOW, PUBLISHER):
        used = re.findall(r"(?m)^\s*(?:- )?uses: (.*)", read(project, name))
        others = [line for line in used if not line.startswith("gradegate/")]
        assert others
        assert all(re.fullmatch(r"[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", o) for o in others)


def test_what_to_do_next_names_secret_and_check(project: Project) -> None:
    """The two things that only a person can do."""
    said = init(project)
    assert "gh secret set GOOGLE_API_KEY" in said
    assert "Require the check `gradegate`" in said
    assert "name: gradegate\n" in read(project, WORKFLOW)


def test_every_option_is_there_with_a_line_of_why(project: Project) -> None:
    """All that the settings know, each under a comment of its own."""
    init(project)
    lines = read(project, "gradegate.toml").splitlines()
    options = {
        match[1]: before
        for before, line in pairwise(lines)
        if (match := re.match(r"#?(\w+) = ", line))
    }
    models: list[type[BaseModel]] = [
        Suite,
        JudgeSettings,
        Gate,
        CriterionGate,
        Quarantine,
        ReportSettings,
    ]
    known = {name for model in models for name in model.model_fields} - {"criteria", "budget"}
    assert known <= set(options)
    assert all(re.match(r"# \S.{10,}", why) for why in options.values()), options


def test_the_options_shown_are_the_defaults(project: Project) -> None:
    """To take the `#` away changes nothing, until the value is changed."""
    init(project)
    text = read(project, "gradegate.toml")
    shown = tomllib.loads(re.sub(r"(?m)^#(?=\S)", "", text))
    suite = shown["suite"][0]
    for alternative in ("command", "traces", "eval_config", "python", "paths", "fresh"):
        suite.pop(alternative)
    own = {"response_match_score": {"tolerance": 0.05, "level": "blocking"}}
    assert shown["gate"].pop("criteria") == own
    (case,) = shown["gate"].pop("case")
    assert CaseGate.model_validate(case).level == "critical"
    assert shown["gate"].pop("budget") == {"token_usage_v1": "+20%"}
    assert Gate.model_validate(shown["gate"]) == Gate()
    assert JudgeSettings.model_validate(shown["judge"]) == JudgeSettings()
    assert ReportSettings.model_validate(shown["report"]) == ReportSettings()
    given = {"name", "agent", "evals", "requirements", "env"}
    written = Suite.model_validate(suite).model_dump(exclude=given)
    assert written == Suite().model_dump(exclude=given)
    assert Quarantine.model_validate(shown["quarantine"][0]).eval_id == "paris"


def test_nothing_heavy_is_needed(project: Project) -> None:
    """It runs before anything is set up."""
    script = (
        "import sys; from gradegate.cli import main; main(['init', '--diff']);"
        "print(sorted({'google.genai', 'github', 'scipy', 'jinja2'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=project.root,
        env={**project.environ, "GITHUB_SERVER_URL": NOWHERE},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines()[-1] == "[]"


def test_shards_get_a_job_each_and_one_more_that_decides(project: Project) -> None:
    """Only that one may write; the publishing half is the same."""
    init(project)
    one_job, publisher = read(project, WORKFLOW), read(project, PUBLISHER)
    init(project, "--shards", "3", "--force")
    assert read(project, PUBLISHER) == publisher
    text = read(project, WORKFLOW)
    assert "__" not in text
    jobs = YAML(typ="safe").load(text)["jobs"]
    assert jobs["shards"]["strategy"]["matrix"] == {"shard": [1, 2, 3]}
    (shard,) = (step for step in jobs["shards"]["steps"] if step.get("id") == "gradegate")
    assert shard["with"] == {"shard": "${{ matrix.shard }}/3"}
    assert jobs["shards"]["permissions"] == {"contents": "read"}
    alone = YAML(typ="safe").load(one_job)
    assert jobs["merge"]["permissions"] == alone["jobs"]["evaluate"]["permissions"]
    assert YAML(typ="safe").load(text)["on"] == alone["on"]
    used = [set(re.findall(r"\buses: actions/(?!download).*", each)) for each in (text, one_job)]
    assert used[0] == used[1]
    assert set(re.findall(r"\buses: actions/download.*", text + publisher)) == set(
        re.findall(r"\buses: actions/download.*", publisher)
    )


@pytest.mark.parametrize("number", ["1", "0", "257", "many"])
def test_a_matrix_has_two_to_256_jobs(project: Project, number: str) -> None:
    """GitHub takes no more."""
    done = project.gradegate("init", "--shards", number)
    assert done.returncode == 2
    assert "write 2 to 256" in done.stderr
    assert not (project.root / WORKFLOW).exists()


def test_an_agent_on_vertex_gets_what_vertex_needs(project: Project) -> None:
    """In its suite and in the workflow; who has a key as well gets both."""
    project.put("agents/weather/.env.example", "GOOGLE_GENAI_USE_VERTEXAI=1\n")
    said = init(project)
    (suite,) = parse_settings("gradegate.toml", read(project, "gradegate.toml")).suite
    assert list(suite.variables) == [
        "GOOGLE_GENAI_USE_VERTEXAI",
        "GOOGLE_CLOUD_PROJECT",
        "GOOGLE_CLOUD_LOCATION",
        "GOOGLE_APPLICATION_CREDENTIALS",
    ]
    assert step_environment(project) == {
        "GOOGLE_GENAI_USE_VERTEXAI": "true",
        "GOOGLE_CLOUD_PROJECT": "${{ vars.GOOGLE_CLOUD_PROJECT }}",
        "GOOGLE_CLOUD_LOCATION": "${{ vars.GOOGLE_CLOUD_LOCATION }}",
    }
    assert "gh variable set GOOGLE_CLOUD_PROJECT" in said
    assert "gh secret set" not in said
    assert max(map(len, said.splitlines())) <= 80
    project.put("agents/news/agent.py", AGENT)
    project.put("agents/news/headlines.test.json", SETS)
    said = init(project, "--force")
    news, _ = parse_settings("gradegate.toml", read(project, "gradegate.toml")).suite
    assert list(news.variables) == ["GOOGLE_API_KEY"]
    assert len(step_environment(project)) == 4
    assert "gh secret set GOOGLE_API_KEY" in said
    assert "gh variable set GOOGLE_CLOUD_PROJECT" in said


def step_environment(project: Project) -> dict[str, str]:
    """The variables of gradegate's own step."""
    steps = YAML(typ="safe").load(read(project, WORKFLOW))["jobs"]["evaluate"]["steps"]
    (step,) = (step for step in steps if step.get("id") == "gradegate")
    environment: dict[str, str] = step["env"]
    return environment


def test_runs_are_carried_over_from_test_eval(project: Project) -> None:
    """For the first suite, and for those whose options are not all shown."""
    test = 'AgentEvaluator.evaluate(agent_module="{}", num_runs={})\n'
    project.put("agents/test_eval.py", test.format("news", 3) + test.format("weather", 4))
    project.put("agents/news/agent.py", AGENT)
    project.put("agents/news/headlines.test.json", SETS)
    init(project)
    news, weather = parse_settings("gradegate.toml", read(project, "gradegate.toml")).suite
    assert (news.runs, weather.runs) == (3, 4)


@pytest.mark.parametrize(
    ("file", "line"),
    [
        (None, None),
        ("pyproject.toml", '#requirements = "pyproject.toml"'),
        ("agents/requirements.txt", '#requirements = "agents/requirements.txt"'),
    ],
)
def test_requirements_are_a_file_that_is_there(
    project: Project, file: str | None, line: str | None
) -> None:
    """One above the agent is found by itself, and shown."""
    (project.root / "agents/weather/requirements.txt").unlink()
    if file:
        project.put(file, "")
    init(project)
    written = [x for x in read(project, "gradegate.toml").splitlines() if "requirements =" in x]
    assert written == ([line] if line else [])
