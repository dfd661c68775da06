"""Each format from the other: equal on what both can say, the rest listed."""

import json
from pathlib import Path
from typing import Any

import pytest

from gradegate import cli
from gradegate.evalsets.load import load_cases_of_files
from gradegate.model.evalset import Case
from tests.unit.evalsets.test_dataset import GOES_ON, PROMPT, said, write
from tests.unit.evalsets.test_dataset_config import group

SET = {
    "eval_set_id": "desk",
    "eval_cases": [
        {
            "eval_id": "one",
            "conversation": [
                {
                    "user_content": said("user", "Hi"),
                    "final_response": said("model", "Hello"),
                    "intermediate_data": {"tool_uses": [{"name": "greet", "args": {}}]},
                }
            ],
            "session_input": {"app_name": "app", "user_id": "kim", "state": {"a": "b", "n": 3}},
            "rubrics": [
                {
                    "rubric_id": "kind",
                    "rubric_content": {"text_property": "It is kind."},
                    "type": "FINAL_RESPONSE_QUALITY",
                }
            ],
        },
        {
            "eval_id": "two",
            "conversation": [
                {"user_content": said("user", "Hi"), "final_response": said("model", "Hello")},
                {"user_content": said("user", "Bye"), "final_response": said("model", "Ciao")},
            ],
        },
        {
            "eval_id": "three",
            "conversation_scenario": {"starting_prompt": "Hi", "conversation_plan": "Leave."},
        },
    ],
}
HISTORY = "what is said before the last message becomes history: it is not evaluated"
CRITERIA = {
    "tool_trajectory_avg_score": 1.0,
    "final_response_match_v2": {"threshold": 0.7, "judge_model_options": {"num_samples": 3}},
    "rubric_based_final_response_quality_v1": {
        "threshold": 0.9,
        "rubrics": [{"rubric_id": "brief", "rubric_content": {"text_property": "It is brief."}}],
    },
    "safety_v1": 0.5,
}


def convert(file: Path, out: Path, capsys: pytest.CaptureFixture[str], *more: str) -> list[str]:
    """Run the command; what it left out."""
    assert cli.main(["convert", str(file), "--out", str(out), *more]) == 0
    told = capsys.readouterr().err.splitlines()
    return [line.removeprefix("left out: ") for line in told if line.startswith("left out: ")]


def cases(folder: Path) -> dict[str, Case]:
    """What gradegate would run."""
    return {case.eval_id: case for case in load_cases_of_files(folder, ["."]).cases}


@pytest.fixture
def adk(tmp_path: Path) -> Path:
    """An eval set with its config."""
    folder = tmp_path / "adk"
    folder.mkdir()
    (folder / "desk.evalset.json").write_text(json.dumps(SET, indent=1))
    (folder / "test_config.json").write_text(json.dumps({"criteria": CRITERIA}))
    return folder / "desk.evalset.json"


def test_an_eval_set_becomes_a_dataset(
    adk: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Which is read as one, and asks the same."""
    lost = convert(adk, tmp_path / "datasets", capsys)
    made = json.loads((tmp_path / "datasets" / "desk-dataset.json").read_text())
    one, two, three = made["eval_cases"]
    assert one["prompt"] == said("user", "Hi")
    assert one["reference"] == {"response": said("model", "Hello")}
    assert one["session_inputs"] == {"app_name": "app", "user_id": "kim", "state": {"a": "b"}}
    assert one["rubric_groups"] == {"final_response_quality": group("brief", "kind")}
    assert [len(turn["events"]) for turn in two["agent_data"]["turns"]] == [2, 1]
    assert three["user_scenario"] == {"starting_prompt": "Hi", "conversation_plan": "Leave."}
    read = cases(tmp_path / "datasets")
    assert read["one"].config.criteria == {
        "final_response_match_v2": {"threshold": 0.7},
        "rubric_based_final_response_quality_v1": {"threshold": 0.9},
        "safety_v1": {"threshold": 0.5},
    }
    rubrics = read["one"].definition.rubrics or ()
    assert [rubric.rubric_id for rubric in rubrics] == ["brief", "kind"]
    assert read["two"].dataset
    assert len(read["two"].dataset.history) == 2
    text = adk.read_text().splitlines()
    place = {name: text.index(f'   "eval_id": "{name}",') for name in ("one", "two")}
    assert [line.partition("desk.evalset.json:")[2] for line in lost[:3]] == [
        f"{place['one']}: one: turn 1: the expected tool calls have no place in a dataset",
        f"{place['one']}: one: `n` of the session's state is no text",
        f"{place['two']}: two: {HISTORY}",
    ]
    of_config = [line.partition(": ")[2] for line in lost[3:]]
    assert of_config == [
        "tool_trajectory_avg_score: no metric of a dataset means the same",
        "final_response_match_v2.judge_model_options: has no place in a dataset's config",
    ]


def test_there_and_back_is_equal_on_what_both_can_say(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Questions, references, sessions, rubrics, criteria and their thresholds."""
    full: dict[str, Any] = {
        **PROMPT,
        "reference": {"response": said("model", "Paris.")},
        "session_inputs": {"app_name": "app", "user_id": "kim", "state": {"a": "b"}},
        "rubric_groups": {"final_response_quality": group("kind")},
    }
    scenario = {"starting_prompt": "Hi", "conversation_plan": "Leave."}
    played = {
        "eval_case_id": "played",
        "user_scenario": scenario,
        "rubric_groups": {"final_response_quality": group("kind")},
    }
    config = """
metrics_to_run: [final_response_match, final_response_quality]
custom_metrics:
- {name: final_response_match, threshold: 0.7}
- name: final_response_quality
  threshold: 0.9
  metric_spec_parameters: {rubric_group_key: final_response_quality}
"""
    root = write(tmp_path, full, played, config=config)
    file = root / "tests/eval/datasets/basic-dataset.json"
    assert convert(file, tmp_path / "adk", capsys) == []
    assert (
        convert(tmp_path / "adk" / "basic.evalset.json", tmp_path / "back" / "datasets", capsys)
        == []
    )
    before, after = (
        json.loads(file.read_text()),
        tmp_path / "back" / "datasets" / "basic-dataset.json",
    )
    assert json.loads(after.read_text()) == before
    assert {case.digest for case in cases(tmp_path / "back" / "datasets").values()} == {
        case.digest for case in cases(file.parent).values()
    }
    assert next(iter(cases(tmp_path / "back" / "datasets").values())).config.criteria == {
        "final_response_match_v2": {"threshold": 0.7},
        "rubric_based_final_response_quality_v1": {"threshold": 0.9},
    }


def test_what_a_dataset_alone_can_say_is_listed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """History, fields, groups nobody asks about, functions."""
    config = """
metrics_to_run: [final_response_quality, mine]
custom_metrics:
- {name: final_response_quality, metric_spec_parameters: {rubric_group_key: a}}
- {name: mine, custom_function: "def evaluate(i): return 1", threshold: 1}
"""
    groups = {"a": group("kind"), "b": group("brief")}
    case = {**GOES_ON, "topic": "desks", "rubric_groups": groups}
    root = write(tmp_path, case, config=config)
    lost = convert(root / "tests/eval/datasets/basic-dataset.json", tmp_path / "adk", capsys)
    assert [line.partition("goes_on: ")[2] or line.rpartition(": ")[2] for line in lost] == [
        "what was said before the last message has no place in an eval set",
        "`topic` has no place in an eval set",
        "no metric asks about the rubric group `b`",
        "a function that google-adk cannot call",
    ]


def test_nothing_is_overwritten_unasked(
    adk: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit 2, and what to do."""
    convert(adk, tmp_path / "out", capsys)
    assert cli.main(["convert", str(adk), "--out", str(tmp_path / "out")]) == 2
    assert "is there already" in capsys.readouterr().err
    convert(adk, tmp_path / "out", capsys, "--force")


def test_a_file_that_is_not_there_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit 2."""
    assert cli.main(["convert", str(tmp_path / "no.json"), "--out", str(tmp_path)]) == 2
    assert "does not exist" in capsys.readouterr().err
