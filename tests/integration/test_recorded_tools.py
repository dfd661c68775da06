"""Agents whose tools need the outside, run without it: recorded once, and played back."""

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.places import open_place
from tests.project import Outcome, Project, case, eval_set, turn
from tests.standins.outside import Outside

STANDINS = Path(__file__).parents[1] / "standins" / "adk_agents"
SET, RECORDING = "agents/toolbox/basic.evalset.json", "agents/toolbox/basic.tools.json"
SETTINGS = """
[[suite]]
name = "toolbox"
agent = "agents/toolbox"
env = ["OUTSIDE"]
tools = "recorded"
ignore_args = ["*.interruptId"]
"""
NEEDS = "google-adk[mcp]==2.13.0\n"
PAGE = json.dumps({"page": "the page /fetch-news"})
CLERK = json.dumps({"result": json.dumps({"page": "the page /fetch-deep"})})
WORDS = json.dumps({"result": "2 after news"})


def called(name: str, what: str, **more: str) -> dict[str, Any]:
    """A call that a case expects."""
    return {"name": name, "args": {"what": what, **more}}


FETCH = called("fetch", "news", interruptId="0")
CASES = [
    case("news", turn("fetch news", PAGE, FETCH), turn("count_words a b", WORDS)),
    case("broken", turn("fail it", "no answer", called("fail", "it"))),
    case("paris", turn("forecast paris", "the page", called("forecast", "paris"))),
    case("clerk", turn("clerk fetch deep", CLERK, {"name": "clerk", "args": {"request": "x"}})),
]
CASES[0]["conversation"][1]["intermediate_data"] = {
    "tool_uses": [called("count_words", "a b")],
}


@pytest.fixture(scope="module")
def outside() -> Iterator[Outside]:
    """What the tools need."""
    with Outside() as server:
        yield server


@pytest.fixture(scope="module")
def taped(outside: Outside, cache: Path) -> Iterator[Project]:
    """A repository in which the tools' answers were recorded by a run of its own."""
    with open_place() as folder:
        project = Project.create(folder / "repo")
        project.environ |= {**os.environ, **outside.environ, "XDG_CACHE_HOME": str(cache)}
        for name in ("toolbox.py", "mcp_server.py"):
            there = {"toolbox.py": "agent.py"}.get(name, name)
            project.put(f"agents/toolbox/{there}", (STANDINS / name).read_text(encoding="utf-8"))
        project.put("agents/toolbox/__init__.py", "from . import agent\n")
        project.put("agents/toolbox/requirements.txt", NEEDS)
        project.put(SET, eval_set(*CASES))
        config = {"tool_trajectory_avg_score": 1.0, "response_match_score": 0.8}
        project.put("agents/toolbox/test_config.json", json.dumps({"criteria": config}))
        project.put("gradegate.toml", SETTINGS)
        project.commit("base")
        live = run(project, "live", "--tools", "live")
        assert "/forecast-paris" in outside.visits
        recorded = run(project, "record", "--tools", "record")
        assert scores(recorded) == scores(live)
        assert "/mcp-started" in outside.visits
        project.commit("recorded")
        (folder / "live.json").write_text(json.dumps(scores(live)))
        yield project


@pytest.fixture
def project(taped: Project, place: Path, outside: Outside) -> Project:
    """A copy of it, with nobody outside asked yet."""
    shutil.copytree(taped.root, place / "repo")
    outside.visits.clear()
    return Project(place / "repo", taped.environ)


def run(project: Project, store: str, *arguments: str, base: str = "none") -> Outcome:
    """`gradegate run` with a store of its own."""
    place = project.root.parent / f"{store}.sqlite"
    return project.evaluate("--base", base, "--store", str(place), *arguments)


def scores(outcome: Outcome) -> dict[str, Any]:
    """By case and criterion, what does not depend on the clock."""
    return {
        one["eval_id"]: {
            name: (score["score"], score["status"])
            for name, score in one["criteria"].items()
            if score["status"] != "informational"
        }
        for one in outcome.read("head.results.json")["cases"]
    }


def edit(project: Project, change: Any) -> None:
    """Change the recording."""
    told = json.loads((project.root / RECORDING).read_text(encoding="utf-8"))
    change(told)
    project.put(RECORDING, json.dumps(told))


def test_recordings_score_as_live_tools_do_and_nobody_is_asked(
    project: Project, taped: Project, outside: Outside
) -> None:
    """A page, an MCP server that is not even started, a tool that raises, an agent as a tool."""
    outcome = run(project, "played")
    assert outside.visits == []
    live = json.loads((taped.root.parent / "live.json").read_text())
    assert json.loads(json.dumps(scores(outcome))) == live
    assert live["news"]["tool_trajectory_avg_score"] == [1.0, "passed"]
    assert live["clerk"]["response_match_score"] == [1.0, "passed"]
    assert live["broken"]["response_match_score"] == [None, "failed"]
    assert "tool calls on head: 0 answered from the eval set" in outcome.warnings
    assert " from recordings, 0 live, 0 not recorded" in outcome.warnings


@pytest.mark.trust
def test_a_recording_is_not_written_through_a_link(project: Project, place: Path) -> None:
    """A link in place of a recording leads to a file of the machine that is not there yet."""
    target = place / "elsewhere.json"
    (project.root / RECORDING).unlink()
    (project.root / RECORDING).symlink_to(target)
    done = run(project, "linked", "--tools", "record", "--case", "news")
    assert (done.code, "leads outside the repository" in done.stderr) == (2, True), done.stderr
    assert not target.exists()


@pytest.mark.slow
def test_a_call_that_is_not_recorded_is_named_and_the_agent_sees_an_error(
    project: Project, outside: Outside
) -> None:
    """Unless the suite would rather have it called."""
    edit(project, lambda told: told["cases"].pop("news"))
    outcome = run(project, "missing")
    assert outside.visits == []
    assert "not recorded on head: fetch(what='news', interruptId=" in outcome.warnings
    assert "count_words(what='a b')" in outcome.warnings
    assert scores(outcome)["news"]["response_match_score"][1] == "failed"
    project.put("gradegate.toml", SETTINGS + 'tools_missing = "live"\n')
    rather = run(project, "rather")
    assert outside.visits == ["/fetch-news"]
    assert scores(rather)["news"]["response_match_score"] == (1.0, "passed")


@pytest.mark.slow
def test_each_side_plays_its_own_and_a_change_is_an_edit(
    project: Project, outside: Outside
) -> None:
    """What head's recording says otherwise is head's doing, and base keeps its answers."""

    def other_page(told: Any) -> None:
        told["cases"]["news"][0]["response"] = {"page": "nothing here"}

    base = project.git("rev-parse", "HEAD")
    project.git("switch", "-qc", "change")
    edit(project, other_page)
    outcome = run(project, "edited", base=base)
    assert outside.visits == []
    found = outcome.case("news")
    assert found["change"] == "edited"
    assert outcome.case("clerk")["change"] == "same"
    match = found["criteria"]["response_match_score"]
    assert (match["base"], match["verdict"]) == (1.0, "regressed")
    assert "tool calls on base" in outcome.warnings


@pytest.mark.slow
def test_a_cases_own_answers_come_first(project: Project, outside: Outside) -> None:
    """Its `tool_responses` are a recording already."""
    own = case("news", turn("fetch news", '{"page": "the case\'s own"}', FETCH))
    own["conversation"][0]["intermediate_data"]["tool_responses"] = [
        {"name": "fetch", "response": {"page": "the case's own"}}
    ]
    project.put(SET, eval_set(own))
    outcome = run(project, "own")
    assert outside.visits == []
    assert scores(outcome)["news"]["response_match_score"] == (1.0, "passed")
    assert "1 answered from the eval set, 0 from recordings" in outcome.warnings, outcome.warnings


def test_a_recording_that_is_wrong_is_the_users_to_mend(project: Project) -> None:
    """With file, line and field."""
    project.put(RECORDING, '{"schema": "gradegate/tools/v1",\n "cases": {"news": 3}}')
    done = project.gradegate("run", "--base", "none")
    assert done.returncode == 2
    assert f"{RECORDING}:2:" in done.stderr
    assert f"{RECORDING}:2:" in project.gradegate("check").stdout
