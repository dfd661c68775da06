"""`gradegate run` on real repositories, with an agent in a process of its own."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.project import (
    AGENT,
    SETTINGS,
    WEATHER,
    AgentLog,
    Project,
    case,
    eval_set,
    expected,
    scripted,
    turn,
)

SET = "evals/basic.evalset.json"
CONFIG = "evals/test_config.json"
TOOLS = "tool_trajectory_avg_score"
ONLY_TOOLS = json.dumps({"criteria": {TOOLS: 1.0}})
GREET = {"name": "greet", "args": {}}
TOKYO = {"name": "get_weather", "args": {"city": "東京"}}
CASES = [
    case("greeting", turn("hello", "hello and welcome", GREET)),
    case("weather", turn("weather in Paris?", "it is sunny in Paris", WEATHER)),
    case("東京 の天気", turn("東京の天気は?", "東京は晴れです", TOKYO)),
]
RECORDED = """
[[suite]]
name = "desk"
traces = "traces.json"
evals = ["evals/*.evalset.json"]
"""
SHOP = """
[[suite]]
name = "shop"
command = ["python3", "agent.py"]
evals = ["shop/*.evalset.json"]
env = ["AGENT_LOG"]
"""
BUY = case("buy", turn("one apple", "here is your apple", {"name": "sell", "args": {}}))
BROKEN = {"crash": "boom"}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """The desk, with a branch for changes checked out."""
    return branched(tmp_path, CASES)


@pytest.fixture
def log(project: Project) -> AgentLog:
    """Where the agent notes its runs."""
    return project.listen()


def branched(tmp_path: Path, cases: Sequence[Mapping[str, Any]], **more: str) -> Project:
    """A repository with the scripted agent, on a branch off main."""
    project = scripted(tmp_path / "a 場所" / "repo", cases, **more)
    if not more:
        project.put(CONFIG, ONLY_TOOLS)
        project.commit()
    project.git("switch", "-qc", "change")
    return project


def answer(project: Project, cases: Sequence[Mapping[str, Any]] = CASES, **changed: Any) -> None:
    """All as expected, but for these."""
    project.answers({**{one["eval_id"]: expected(one) for one in cases}, **changed})


def test_a_branch_that_changes_nothing_passes_and_runs_nothing(
    project: Project, log: AgentLog
) -> None:
    """The report says so."""
    done = project.evaluate()
    assert (done.code, done.state) == (0, "pass")
    assert "nothing was run" in done.stdout
    assert log.runs() == []
    assert project.git("status", "--porcelain") == ""


def test_an_agent_that_crashes_on_one_case_is_confirmed_and_blocked(
    project: Project, log: AgentLog
) -> None:
    """By fresh runs of both sides of that case alone."""
    answer(project, weather=BROKEN)
    done = project.evaluate()
    assert (done.code, done.kinds) == (1, ["regression"])
    found = done.case("weather")["criteria"][TOOLS]
    assert (found["verdict"], found["confirmed"]) == ("regressed", True)
    assert done.case("greeting")["criteria"][TOOLS]["verdict"] == "unchanged"
    assert sum(run.startswith("greeting ") for run in log.runs()) == 2
    assert sum(run.startswith("weather ") for run in log.runs()) > 10


def test_what_the_agent_failed_on_is_a_result_and_not_tried_again(
    project: Project, log: AgentLog
) -> None:
    """Trying until it works would make any agent look good; one that never works is tried again."""
    answer(project, weather=BROKEN)
    assert project.evaluate().code == 1
    log.fresh()
    assert project.evaluate().code == 1
    assert log.fresh() == []
    project.answers({one["eval_id"]: BROKEN for one in CASES})
    for _ in range(2):
        assert project.evaluate().code == 1
        assert "weather 1" in log.fresh()


def test_the_same_again_runs_no_agent_and_says_base_came_from_the_store(
    project: Project, log: AgentLog
) -> None:
    """And comes to the same, but for times."""
    answer(project, greeting={"text": "who are you"})
    first = project.evaluate()
    assert first.code == 1
    assert first.report["base"]["source"] == "run"
    assert log.fresh()
    second = project.evaluate()
    assert log.fresh() == []
    assert second.report["base"]["source"] == "store"
    assert timeless(second.report) == timeless(first.report)
    assert timeless(second.read("head.results.json")) == timeless(first.read("head.results.json"))


def timeless(file: Any) -> Any:
    """A report or results without what may differ between two runs of the same."""
    left = {key: value for key, value in file.items() if key != "usage"}
    if "base" in left:
        left["base"] = {**left["base"], "source": "…"}
    return left


def test_results_are_in_stable_order(project: Project) -> None:
    """By path, id and run."""
    more = eval_set(case("zebra", turn("a", "b")), case("ant", turn("a", "b")), name="more")
    project.put("evals/another one.evalset.json", more)
    done = project.evaluate("--runs", "2", "--base", "none")
    keys = [
        (one["eval_set"], one["eval_id"], one["run"])
        for one in done.read("head.results.json")["cases"]
    ]
    assert keys == sorted(keys)
    assert len(keys) == 10
    assert all(list(c["criteria"]) == sorted(c["criteria"]) for c in done.report["cases"])


def test_without_a_base_thresholds_decide(project: Project, log: AgentLog) -> None:
    """Nothing is new, and a failing case fails."""
    done = project.evaluate("--base", "none")
    assert (done.code, done.report["base"]["source"]) == (0, "none")
    assert len(log.fresh()) == 3
    answer(project, greeting=BROKEN)
    done = project.evaluate("--base", "none")
    assert (done.code, set(done.kinds)) == (1, {"threshold"})
    assert not (done.folder / "base.results.json").exists()


def test_one_suite_or_some_cases_can_be_chosen(project: Project, log: AgentLog) -> None:
    """The others are neither run nor reported."""
    project.put("gradegate.toml", SETTINGS + SHOP)
    project.put("shop/one.evalset.json", eval_set(BUY, name="shop"))
    project.commit()
    answer(project, buy=expected(BUY))
    done = project.evaluate("--base", "HEAD", "--suite", "desk", "--case", "gre*")
    assert [one["eval_id"] for one in done.report["cases"]] == ["greeting"]
    assert log.fresh() == ["greeting 1", "greeting 1"]
    done = project.evaluate("--base", "HEAD", "--suite", "shop")
    assert [one["eval_id"] for one in done.report["cases"]] == ["buy"]


def test_shards_merged_and_compared_are_the_whole(project: Project) -> None:
    """Every case once; a shard that is left out is missed."""
    answer(project, weather=BROKEN)
    parts = [project.evaluate("--shard", f"{number}/2") for number in (1, 2)]
    assert [part.code for part in parts] == [0, 0]
    files = {
        side: [str(part.folder / f"{side}.results.json") for part in parts]
        for side in ("base", "head")
    }
    for side, shards in files.items():
        merged = project.gradegate("merge", *shards, "--out", f"../{side}.json")
        assert merged.returncode == 0, merged.stderr
    whole = json.loads((project.root.parent / "head.json").read_text(encoding="utf-8"))
    assert sorted(one["eval_id"] for one in whole["cases"]) == sorted(c["eval_id"] for c in CASES)
    compared = project.gradegate("compare", "../base.json", "../head.json", "--out", "../r.json")
    assert compared.returncode == 1
    assert compared.stderr == "❌ The agent got worse: 1 regressed case in 3 cases\n"
    alone = project.gradegate("merge", files["head"][0])
    assert alone.returncode == 2
    assert "shard 2/2 is missing" in alone.stderr


def test_a_suite_that_base_has_not_answers_to_thresholds_with_a_warning(project: Project) -> None:
    """It has nothing to be compared with."""
    project.put("gradegate.toml", SETTINGS + SHOP)
    project.put("shop/one.evalset.json", eval_set(BUY, name="shop"))
    answer(project, buy=BROKEN)
    done = project.evaluate()
    assert (done.code, set(done.kinds)) == (1, {"threshold"})
    assert "base has no suite shop: its thresholds alone decide" in done.warnings
    answer(project, buy=expected(BUY))
    assert project.evaluate().code == 0


def test_a_base_whose_recording_is_missing_leaves_thresholds_with_a_warning(
    project: Project,
) -> None:
    """That is nothing to hold against head."""
    project.git("switch", "-q", "main")
    project.put("gradegate.toml", RECORDED)
    project.put(CONFIG, '{"criteria": {"response_match_score": 0.8}}')
    project.commit()
    project.git("switch", "-qc", "recorded")
    project.put("traces.json", traces(greeting="hello and welcome"))
    done = project.evaluate("--fail-on", "regression,threshold", "--case", "greeting")
    assert done.code == 0
    assert "base's agent of suite desk cannot be run, so thresholds alone decide" in done.warnings
    assert "traces.json" in done.warnings


def test_an_eval_set_that_is_broken_on_base_is_a_warning_only(project: Project) -> None:
    """The pull request may be the one that mends it."""
    project.git("switch", "-q", "main")
    project.put(SET, "{")
    project.commit()
    project.git("switch", "-qc", "mended")
    project.put(SET, eval_set(*CASES))
    done = project.evaluate()
    assert done.code == 0
    assert "base's eval sets of suite desk cannot be read" in done.warnings
    assert f"{SET}:1:2" in done.warnings


def traces(**answers: str) -> str:
    """A recording in which cases say these things."""
    cases = [
        {
            "eval_set": SET,
            "eval_id": name,
            "invocations": [
                {"user_content": {}, "final_response": {"parts": [{"text": text}]}},
            ],
        }
        for name, text in answers.items()
    ]
    return json.dumps({"schema": "gradegate/traces/v1", "cases": cases}, ensure_ascii=False)


def test_a_recorded_suite_reads_each_sides_own_recording(tmp_path: Path) -> None:
    """A flip between two single recordings blocks, and is not called confirmed."""
    cases = [case(name, turn("hello", f"hi from {name}")) for name in ("a", "b")]
    project = branched(tmp_path, cases, settings=RECORDED)
    project.put("traces.json", traces(a="hi from a", b="hi from b"))
    project.commit()
    project.put("traces.json", traces(a="hi from a", b="who knows"))
    done = project.evaluate("--base", "HEAD")
    assert (done.code, done.kinds) == (1, ["regression"])
    found = done.case("b")["criteria"]["response_match_score"]
    assert (found["base"], found["verdict"], found["confirmed"]) == (1.0, "regressed", False)
    assert "cannot be run again" in done.report["decision"]["reasons"][0]["text"]


def test_a_case_without_a_recording_is_inconclusive(tmp_path: Path) -> None:
    """Not evaluated is not passed; exit 3."""
    cases = [case(name, turn("hello", f"hi from {name}")) for name in ("a", "b")]
    project = branched(tmp_path, cases, settings=RECORDED)
    project.put("traces.json", traces(a="hi from a", b="hi from b"))
    project.commit()
    project.put("traces.json", traces(a="hi from a"))
    done = project.evaluate("--base", "HEAD")
    assert (done.code, done.state, set(done.kinds)) == (3, "inconclusive", {"inconclusive"})
    assert done.report["criteria"][0]["scored"] == [2, 1]
    relaxed = project.evaluate("--base", "HEAD", "--fail-on", "regression")
    assert (relaxed.code, relaxed.state) == (0, "pass")


def test_an_agent_that_fails_everywhere_on_both_sides_is_no_pass(project: Project) -> None:
    """Nothing got worse, and nothing was seen: a forgotten key must not look like a green check."""
    project.git("switch", "-q", "main")
    project.answers({}, default={"crash": "no key in the environment"})
    project.commit()
    project.git("switch", "-qc", "still-broken")
    project.put("notes.txt", "a change")
    done = project.evaluate()
    assert (done.code, done.state) == (3, "inconclusive")
    (reason,) = done.report["decision"]["reasons"]
    assert "the agent failed every case on both sides" in reason["text"]
    assert "no key in the environment" in reason["text"]
    assert "the agent failed every case on both sides" in done.stdout


def test_no_confirming_at_all_blocks_on_any_flip(project: Project, log: AgentLog) -> None:
    """With `confirm_runs = 0` nothing is run twice, and the report says what rule that is."""
    project.put("gradegate.toml", SETTINGS + "[gate]\nconfirm_runs = 0\n")
    answer(project, weather=BROKEN)
    done = project.evaluate()
    assert done.code == 1
    assert len(log.runs()) == 6
    assert "`confirm_runs` is 0" in done.report["decision"]["reasons"][0]["text"]


def test_what_the_pull_request_does_to_the_cases_is_told(project: Project) -> None:
    """Edited, added, removed, moved, loosened; acceptance waives what base objects to."""
    edited = case("greeting", turn("hello there", "hello and welcome", GREET))
    added = case("new", turn("bye", "goodbye"))
    project.put(SET, eval_set(edited, CASES[1], added))
    project.put(CONFIG, ONLY_TOOLS.replace("1.0", "0.5"))
    answer(project, new=expected(added))
    done = project.evaluate()
    assert done.code == 1
    assert sorted(set(done.kinds)) == ["loosened", "removed"]
    assert {one["eval_id"]: one["change"] for one in done.report["cases"]} == {
        "greeting": "edited",
        "new": "added",
        "weather": "same",
        "東京 の天気": "removed",
    }
    accepted = project.evaluate("--accept")
    assert accepted.code == 0
    assert "removed" in [note["kind"] for note in accepted.report["decision"]["notes"]]


def test_a_gate_that_head_relaxes_holds_until_it_is_merged(project: Project) -> None:
    """A pull request does not talk itself past the gate."""
    project.put("gradegate.toml", SETTINGS + '[gate]\nfail_on = ["removed"]\n')
    answer(project, weather=BROKEN)
    done = project.evaluate()
    assert done.code == 1
    assert {"regression", "loosened"} <= set(done.kinds)


def test_a_project_in_a_folder_of_its_repository(tmp_path: Path) -> None:
    """Paths are from the folder, and files outside it are there for the agent."""
    project = Project.create(tmp_path / "mono repo")
    folder = "services/旅 desk"
    project.put(f"{folder}/agent.py", AGENT)
    project.put(f"{folder}/gradegate.toml", SETTINGS)
    project.put(f"{folder}/{SET}", eval_set(*CASES))
    table = {one["eval_id"]: expected(one) for one in CASES}
    project.put(f"{folder}/{CONFIG}", ONLY_TOOLS)
    text = json.dumps({"default": {"text": ""}, "cases": table})
    project.put(f"{folder}/answers.json", text)
    project.commit()
    project.put(f"{folder}/answers.json", text.replace('"city": "Paris"', '"city": "Rome"'))
    done = project.evaluate("--base", "HEAD", "--working-directory", folder)
    assert done.code == 1
    assert [r["eval_id"] for r in done.report["decision"]["reasons"]] == ["weather"]
    assert done.report["decision"]["reasons"][0]["eval_set"] == SET


def test_a_baseline_is_what_later_runs_are_held_against(project: Project, log: AgentLog) -> None:
    """Measured twice, so that base was not lucky once; later jobs run head alone."""
    project.git("switch", "-q", "main")
    kept = project.gradegate("baseline")
    assert kept.returncode == 0
    assert "6 passed" in kept.stdout
    assert len(log.fresh()) == 6
    project.git("switch", "-q", "change")
    answer(project, extra={"text": "never asked for"})
    done = project.evaluate()
    assert (done.code, done.report["base"]["source"]) == (0, "store")
    assert len(log.fresh()) == 3
    assert len(done.read("base.results.json")["cases"]) == 6


def test_only_a_changed_eval_set_costs_base_no_run(project: Project, log: AgentLog) -> None:
    """The agent is the same on both sides, so each case is run once for both."""
    project.put(SET, eval_set(*CASES, case("new", turn("who are you?", "I do not know."))))
    done = project.evaluate()
    assert done.code == 0
    assert sorted(log.runs()) == sorted(
        f"{one['eval_id']} 1" for one in [*CASES, {"eval_id": "new"}]
    )
