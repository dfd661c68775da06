"""EvaluationDataset files: two shapes of a case, and what of them is evaluated."""

import json
from pathlib import Path
from typing import Any

import pytest

from gradegate.evalsets.dataset import is_dataset
from gradegate.evalsets.load import SetFolder, load_suite
from gradegate.model.errors import FileError
from gradegate.model.evalset import Case
from gradegate.model.settings import Suite

NAME = "tests/eval/datasets/basic-dataset.json"


def said(role: str, text: str) -> dict[str, Any]:
    """A content."""
    return {"role": role, "parts": [{"text": text}]}


def event(author: str, text: str, **fields: Any) -> dict[str, Any]:
    """Something said in a conversation."""
    return {
        "author": author,
        "content": said("model" if author != "user" else "user", text),
    } | fields


PROMPT = {"eval_case_id": "capital", "prompt": said("user", "What is the capital of France?")}
GOES_ON = {
    "eval_case_id": "goes_on",
    "agent_data": {
        "turns": [
            {"turn_index": 0, "events": [event("user", "Hi"), event("desk", "Hello! A city?")]},
            {"turn_index": 1, "events": [event("user", "Paris", state_delta={"tries": 1})]},
        ]
    },
}


def write(root: Path, *cases: dict[str, Any], config: str | None = None, **top: Any) -> Path:
    """A repository with one dataset."""
    file = root / NAME
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({"eval_cases": list(cases), **top}, indent=1), encoding="utf-8")
    if config is not None:
        (file.parents[1] / "eval_config.yaml").write_text(config, encoding="utf-8")
    return root


def loaded(root: Path) -> tuple[Case, ...]:
    """Its cases."""
    return load_suite(root, Suite(evals=(".",))).cases


def test_a_prompt_is_a_case_of_one_turn(tmp_path: Path) -> None:
    """With its reference as the expected answer, and nothing expected of the tools."""
    reference = {"response": said("model", "Paris.")}
    (case,) = loaded(write(tmp_path, {**PROMPT, "reference": reference}))
    (only,) = case.definition.conversation or ()
    assert (case.eval_id, case.eval_set_id, case.line) == ("capital", "basic", 3)
    assert only.user_content.text == "What is the capital of France?"
    assert (only.response_text, only.intermediate_data) == ("Paris.", None)


def test_a_conversation_goes_on_with_its_last_message(tmp_path: Path) -> None:
    """What came before is history; the state that the last message sets is part of it."""
    (case,) = loaded(write(tmp_path, GOES_ON))
    (only,) = case.definition.conversation or ()
    assert only.user_content.text == "Paris"
    assert case.dataset
    assert [(one.author, one.content and one.content.text) for one in case.dataset.history] == [
        ("user", "Hi"),
        ("desk", "Hello! A city?"),
        ("user", None),
    ]
    assert case.dataset.history[-1].state_delta == {"tries": 1}


def test_the_session_starts_as_the_case_says(tmp_path: Path) -> None:
    """Per case, as ADK has it."""
    inputs = {"user_id": "kim", "state": {"city": "Paris"}}
    (case,) = loaded(write(tmp_path, {**PROMPT, "session_inputs": inputs}))
    session = case.definition.session_input
    assert session
    assert (session.user_id, session.state) == ("kim", {"city": "Paris"})


def test_fields_of_the_users_own_are_kept_for_metrics(tmp_path: Path) -> None:
    """`context` too."""
    (case,) = loaded(write(tmp_path, {**PROMPT, "context": "A page.", "difficulty": 3}))
    assert case.dataset
    assert case.dataset.fields == {"context": "A page.", "difficulty": 3}


def test_history_and_own_fields_are_part_of_what_a_case_is(tmp_path: Path) -> None:
    """Another history is another case."""
    (case,) = loaded(write(tmp_path / "a", GOES_ON))
    other = json.loads(json.dumps(GOES_ON).replace("A city?", "Which city?"))
    (changed,) = loaded(write(tmp_path / "b", other))
    assert case.digest != changed.digest


def test_cases_without_an_id_are_numbered(tmp_path: Path) -> None:
    """In the order they are written."""
    unnamed = {"prompt": said("user", "Hello")}
    cases = loaded(write(tmp_path, unnamed, {"prompt": said("user", "Bye")}))
    assert [case.eval_id for case in cases] == ["case-1", "case-2"]


def test_a_scenario_is_a_simulated_case(tmp_path: Path) -> None:
    """As ADK has it."""
    scenario = {"starting_prompt": "Hi", "conversation_plan": "Ask for Paris."}
    (case,) = loaded(write(tmp_path, {"eval_case_id": "s", "user_scenario": scenario}))
    assert case.definition.is_simulated


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "nothing asked": ({"eval_case_id": "a"}, "asks nothing"),
    "both": ({**PROMPT, **GOES_ON}, "has both `prompt` and `agent_data.turns`"),
    "the agent's words last": (
        {"agent_data": {"turns": [{"events": [event("user", "Hi"), event("desk", "Hello")]}]}},
        "ends with the agent's words",
    ),
    "other instructions": (
        {**PROMPT, "system_instruction": said("user", "Be rude.")},
        "`system_instruction` is not supported",
    ),
    "a fetched interaction": (
        {**PROMPT, "interactions_data_source": {}},
        "`interactions_data_source` is not supported",
    ),
    "a prompt that is none": ({"eval_case_id": "a", "prompt": 7}, "must be an object, not 7"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_cannot_be_run_is_an_error_at_its_line(tmp_path: Path, name: str) -> None:
    """With what to write instead."""
    wrong, message = WRONG[name]
    with pytest.raises(FileError) as error:
        loaded(write(tmp_path, PROMPT | {"eval_case_id": "first"}, wrong))
    assert message in error.value.message
    assert error.value.path == NAME
    assert (error.value.line or 0) > 3


def test_a_source_elsewhere_is_an_error(tmp_path: Path) -> None:
    """The cases have to be in the file."""
    with pytest.raises(FileError, match="`gcs_source` is not supported"):
        loaded(write(tmp_path, PROMPT, gcs_source={"uris": ["gs://b/x.json"]}))


def test_recorded_answers_are_not_used_and_that_is_said(tmp_path: Path) -> None:
    """The agent is run anew."""
    root = write(tmp_path, {**PROMPT, "responses": [{"response": said("model", "Paris")}]})
    (finding,) = SetFolder(root).eval_set(NAME).findings
    assert (finding.level, finding.message) == (
        "warning",
        "`responses` is not used: the agent is run anew",
    )


def test_an_eval_set_of_adks_is_no_dataset() -> None:
    """Told by what its cases have."""
    assert not is_dataset({"eval_set_id": "a", "eval_cases": [PROMPT]})
    assert not is_dataset({"eval_cases": [{"eval_id": "a", "conversation": []}]})
    assert is_dataset({"evalCases": [{"evalCaseId": "a"}]})
    assert is_dataset({"bigquerySource": {}})


def test_datasets_elsewhere_are_left_alone(tmp_path: Path) -> None:
    """Other files end that way too; one in a folder `datasets` is found."""
    (tmp_path / "iris-dataset.json").write_text('{"rows": []}')
    root = write(tmp_path, PROMPT)
    assert {case.eval_set for case in loaded(root)} == {NAME}
