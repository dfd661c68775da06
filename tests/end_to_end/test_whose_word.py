"""Settings that would help a pull request more than its agent does."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.places import open_place
from tests.project import (
    AGENT,
    SETTINGS,
    WEATHER,
    Outcome,
    Project,
    case,
    eval_set,
    expected,
    scripted,
    turn,
)
from tests.standins.github import GitHubStandIn
from tests.workflow_step import Change

CASES = [
    case("paris", turn("Weather in Paris?", "It is sunny in Paris today.", WEATHER)),
    case("rome", turn("And in Rome?", "It rains in Rome today.")),
    case("oslo", turn("And in Oslo?", "It snows in Oslo today.")),
    case("bonn", turn("And in Bonn?", "There is fog in Bonn today.")),
]
RIGHT = {one["eval_id"]: expected(one) for one in CASES}
BROKEN = [{"text": "No idea whatsoever."}]
CRASH = {name: [{"crash": "out of order"}] for name in RIGHT}
HOARDER = f"hoard = bytearray(150 << 20)\n{AGENT}"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A main branch whose agent answers as expected."""
    return scripted(tmp_path / "repo", CASES)


def branch(project: Project) -> None:
    """What was written so far is base; what comes is head."""
    project.commit("base")
    project.git("switch", "-qc", "change")


def said(done: Outcome) -> str:
    """All reasons, a line each."""
    return "\n".join(reason["text"] for reason in done.report["decision"]["reasons"])


SLOW, LARGE, USUAL = "slow", "large", "usual"


@pytest.mark.trust
@pytest.mark.parametrize(
    ("base", "trick", "keys"),
    [
        (SLOW, "", ""),
        (SLOW, "turn_timeout = 0.3", "`turn_timeout`"),
        (SLOW, "case_timeout = 0.3", "`case_timeout`"),
        (LARGE, "memory_mb = 64", "`memory_mb`"),
        (USUAL, "max_parallel = 1\npython = 'no/python'", "`python`, `max_parallel`"),
    ],
    ids=["control", "turn_timeout", "case_timeout", "memory_mb", "python"],
)
def test_a_pull_request_cannot_hamper_base(
    project: Project, base: str, trick: str, keys: str
) -> None:
    """Limits of head's under which base fails everything."""
    if base == SLOW:
        project.answers(RIGHT, delay=1)
    if base == LARGE:
        project.put("agent.py", HOARDER)
    branch(project)
    project.put("agent.py", AGENT)
    project.answers(RIGHT | {"paris": BROKEN})
    project.put("gradegate.toml", f"{SETTINGS}{trick}\n")
    done = project.evaluate()
    assert (done.code, "regression" in done.kinds) == (1, True), done.stderr
    assert done.case("paris")["criteria"]["response_match_score"]["base"] == 1.0
    assert keys in done.warnings


@pytest.mark.trust
@pytest.mark.parametrize("name", ["desk", "counter"])
def test_another_program_of_heads_is_heads_alone(project: Project, name: str) -> None:
    """A program that base has not got, under the same name or another."""
    branch(project)
    project.put("cheat.py", AGENT)
    project.answers(RIGHT | {"paris": BROKEN})
    renamed = SETTINGS.replace('"desk"', f'"{name}"').replace('"agent.py"', '"cheat.py"')
    project.put("gradegate.toml", renamed)
    done = project.evaluate()
    assert (done.code, set(done.kinds)) == (1, {"regression"})
    assert done.case("paris")["criteria"]["response_match_score"]["base"] == 1.0
    assert "changes `command`; each side is run with its own" in done.warnings


@pytest.mark.trust
def test_a_base_that_fails_everything_is_no_base(project: Project) -> None:
    """A base that crashes everywhere, so that nothing of head's can be worse."""
    project.answers(CRASH)
    branch(project)
    project.answers(RIGHT | {"paris": BROKEN})
    done = project.evaluate()
    assert (done.code, set(done.kinds)) == (1, {"threshold"})
    assert "base fails 4 of 4 runs and this pull request does not" in done.warnings
    assert "paris: " in said(done)


@pytest.mark.trust
def test_a_base_that_talks_nonsense_is_no_base(tmp_path: Path) -> None:
    """A base that answers everything wrong, so that nothing of head's can be worse."""
    more = [case(f"town-{n}", turn(f"Town {n}?", f"It is sunny in town {n}.")) for n in range(8)]
    right = {one["eval_id"]: expected(one) for one in more}
    project = scripted(tmp_path / "repo", more, SETTINGS)
    project.answers(dict.fromkeys(right, BROKEN))
    branch(project)
    project.answers(right | {"town-0": BROKEN})
    done = project.evaluate()
    assert (done.code, done.kinds) == (1, ["threshold"])
    assert "its thresholds alone decide" in done.warnings


def test_whoever_repairs_a_broken_main_gets_through(project: Project) -> None:
    """By the thresholds alone."""
    project.answers(CRASH)
    branch(project)
    project.answers(RIGHT)
    done = project.evaluate()
    assert (done.code, done.state) == (0, "pass")
    assert "its thresholds alone decide" in done.warnings


def test_whoever_repairs_the_settings_of_a_broken_main_gets_through(project: Project) -> None:
    """A program that is not there on base."""
    project.put("gradegate.toml", SETTINGS.replace("agent.py", "gone.py"))
    branch(project)
    project.put("gradegate.toml", SETTINGS)
    done = project.evaluate()
    assert (done.code, done.state) == (0, "pass"), done.stderr


def test_a_renamed_script_is_no_reason(project: Project) -> None:
    """Each side starts its own."""
    branch(project)
    project.git("mv", "agent.py", "desk.py")
    project.put("gradegate.toml", SETTINGS.replace("agent.py", "desk.py"))
    done = project.evaluate()
    assert (done.code, done.state) == (0, "pass"), done.stderr


def test_more_memory_for_ones_own_agent_is_accepted_and_then_there(project: Project) -> None:
    """Nobody gets more without somebody's word; the agent needs it to answer at all."""
    tight = SETTINGS + "memory_mb = 96\n"
    project.put("gradegate.toml", tight)
    branch(project)
    project.put("agent.py", HOARDER)
    assert project.evaluate().code == 1
    project.put("gradegate.toml", SETTINGS + "memory_mb = 1024\n")
    done = project.evaluate()
    assert (done.code, set(done.kinds)) == (1, {"loosened"})
    assert "suite desk: `memory_mb` goes from 96 to 1024" in said(done)
    assert project.evaluate("--accept").code == 0


READS_TABLE = """
import json
table = json.load(open("table.json", encoding="utf-8"))
if "notes" not in table:
    turn = table["cases"][0]["invocations"][0]
    table["notes"] = json.loads(turn["user_content"]["parts"][0]["text"])
table = {"cases": table["notes"], "default": {"text": "?"}}
"""
SECOND_SUITE = """
[[suite]]
name = "second"
{kind}
evals = ["second/*.evalset.json"]
"""


def as_recording(answers: dict[str, Any]) -> str:
    """A table of answers that is a file of recorded runs as well."""
    asked = {"user_content": {"parts": [{"text": json.dumps(answers)}]}}
    recorded = [{**CASES[1]["conversation"][0], **asked}]
    run = {"eval_set": "second/basic.evalset.json", "eval_id": "rome", "invocations": recorded}
    return json.dumps({"schema": "gradegate/traces/v1", "cases": [{**run, "run": 1}]})


def as_config(answers: dict[str, Any]) -> str:
    """A table of answers that is an EvalConfig as well."""
    return json.dumps({"criteria": {"response_match_score": 0.5}, "notes": answers})


@pytest.mark.trust
@pytest.mark.parametrize(
    ("kind", "table"),
    [
        ("", as_recording),
        ('traces = "table.json"', as_recording),
        ('command = ["python3", "agent.py"]\neval_config = "table.json"', as_config),
    ],
    ids=["control", "a recording", "a config"],
)
def test_a_file_that_an_agent_reads_is_a_part_of_it(
    project: Project, kind: str, table: Callable[[dict[str, Any]], str]
) -> None:
    """A broken agent under the runs that a good one left, with its answers where nobody looks."""
    _, _, rest = AGENT.partition('encoding="utf-8"))')
    project.put("agent.py", f"import os, sys, time\n{READS_TABLE}{rest}")
    project.put("table.json", json.dumps({"notes": RIGHT}))
    project.put("second/basic.evalset.json", eval_set(CASES[1]))
    branch(project)
    if kind:
        project.put("gradegate.toml", SETTINGS + SECOND_SUITE.format(kind=kind))
    project.put("table.json", table(RIGHT))
    project.commit("good")
    project.evaluate("--head", "HEAD")
    project.put("table.json", table(RIGHT | {"paris": BROKEN}))
    project.commit("bad")
    done = project.evaluate("--head", "HEAD")
    assert done.code == 1, done.stderr


@pytest.mark.trust
def test_what_is_no_part_of_an_agent_is_not_there_for_it(project: Project) -> None:
    """Answers kept in an eval set, a workflow or the settings, which make no other agent."""
    agent = f"""
import os
for name in ("evals/basic.evalset.json", "evals/test_config.json", "gradegate.toml",
             ".github/workflows/ci.yml", ".gradegate/answers.json"):
    assert not os.path.exists(name), name
{AGENT}"""
    project.put("agent.py", agent)
    project.put("evals/test_config.json", '{"criteria": {"response_match_score": 0.8}}')
    project.put(".github/workflows/ci.yml", "name: ci\n")
    branch(project)
    project.answers(RIGHT | {"paris": [*RIGHT["paris"], {"text": "unused"}]})
    done = project.evaluate()
    assert (done.code, done.state) == (0, "pass"), done.stderr


KEY = "AIzaNobodysKey-0123456789abcdef"
LOOK = """
async def look(_, __):
    return "a key" if any("AIza" in value for value in os.environ.values()) else "nothing"

DEEDS["look"] = look
"""
DOER = Path(__file__).parents[1] / "standins" / "adk_agents" / "doer.py"
BOT = """
[[suite]]
name = "bot"
agent = "bot"
{env}
evals = ["evals/*.evalset.json"]
"""


@pytest.mark.trust
@pytest.mark.parametrize(
    ("base", "head", "sees"),
    [
        ('env = ["GOOGLE_API_KEY"]', "", "a key"),
        ("env = []", "", "nothing"),
        ("env = []", 'env = ["GOOGLE_API_KEY"]', "nothing"),
        ("env = []", 'env = {"KEY" = "GOOGLE_API_KEY"}', "nothing"),
    ],
    ids=["control", "deleted", "named", "renamed"],
)
def test_a_key_that_base_keeps_stays_with_base(
    base: str, head: str, sees: str, warm_adk: Path
) -> None:
    """A key that head's settings hand to its agent by saying nothing, or by naming it."""
    with open_place() as place:
        project = Project.create(place / "repo")
        project.put("bot/agent.py", DOER.read_text(encoding="utf-8") + LOOK)
        project.put("bot/__init__.py", "from . import agent\n")
        asked = case("env", turn("look", "nothing"))
        project.put("evals/env.evalset.json", eval_set(asked))
        project.put("gradegate.toml", BOT.format(env=base))
        branch(project)
        project.put("bot/notes.txt", "another agent")
        project.put("gradegate.toml", BOT.format(env=head))
        done = project.evaluate("--agent-python", str(warm_adk), GOOGLE_API_KEY=KEY)
        written = "".join(file.read_text() for file in done.folder.iterdir() if file.is_file())
        answer = done.case("env")["criteria"]["response_match_score"]["head"]
        assert answer == (1.0 if sees == "nothing" else 0.0), done.stderr
        assert KEY not in written
        assert "changes `env`; base's word counts" in done.warnings


@pytest.mark.trust
@pytest.mark.parametrize("trick", ["", '[report]\ncomment = "never"\nlanguage = "ja"\n'])
def test_a_pull_request_cannot_silence_the_comment_on_itself(
    project: Project, tmp_path: Path, github: GitHubStandIn, trick: str
) -> None:
    """A regression with `comment = "never"` beside it."""
    branch(project)
    project.answers(RIGHT | {"paris": BROKEN})
    project.put("gradegate.toml", SETTINGS + trick)
    change = Change(project, github, tmp_path / "runner")
    assert change.run().returncode == 1
    (comment,) = github.comments(1)
    assert "The agent got worse" in comment.body
    assert ("changes &#96;language&#96;, &#96;comment&#96;" in comment.body) == bool(trick)
