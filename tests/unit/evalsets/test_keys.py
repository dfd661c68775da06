"""Keys that nobody reads."""

import json
from pathlib import Path
from typing import Any

import pytest

from gradegate.evalsets.lint import check
from gradegate.evalsets.load import load_suite
from gradegate.model.errors import FileError
from gradegate.model.settings import Suite

TURN: dict[str, Any] = {
    "user_content": {"parts": [{"text": "q"}]},
    "final_response": {"parts": [{"text": "r"}]},
    "intermediate_data": {"tool_uses": []},
}
CASE: dict[str, Any] = {"eval_id": "a", "conversation": [TURN]}
SET: dict[str, Any] = {"eval_set_id": "s", "eval_cases": [CASE]}
CONFIG: dict[str, Any] = {"criteria": {"response_match_score": 0.8}}


def findings(root: Path, eval_set: Any, config: Any = CONFIG) -> list[str]:
    """What is said of a set and a config, one key a line."""
    (root / "x.evalset.json").write_text(json.dumps(eval_set, indent=1), encoding="utf-8")
    (root / "test_config.json").write_text(json.dumps(config, indent=1), encoding="utf-8")
    return [str(finding) for finding in check(root).findings]


@pytest.mark.parametrize(
    ("eval_set", "config", "said"),
    [
        (
            SET,
            CONFIG | {"criterias": {}},
            ("test_config.json:5:15: warning: `criterias` is not known and is ignored: did you "
                "mean `criteria`?"),
        ),
        (
            SET | {"evalCase": []},
            CONFIG,
            "`evalCase` is not known and is ignored: did you mean `eval_cases`?",
        ),
        (
            {**SET, "eval_cases": [CASE | {"rubric": []}]},
            CONFIG,
            ("x.evalset.json:27:14: warning: `rubric` is not known and is ignored: did you mean "
            "`rubrics`?"),
        ),
        (
            {**SET, "eval_cases": [CASE | {"zzz": 1}]},
            CONFIG,
            ("ignored: known are conversation, conversation_scenario, creation_timestamp, eval_id, "
            "rubrics, session_input"),
        ),
        ([{"name": "a", "data": [{"query": "q", "reference": "r"}], "inital_session": {}}], CONFIG,
         "did you mean `initial_session`?"),
    ],
)  # fmt: skip
def test_an_unknown_key_is_a_warning_at_its_place(
    tmp_path: Path, eval_set: Any, config: Any, said: str
) -> None:
    """With the nearest known name, where there is one."""
    found = [line for line in findings(tmp_path, eval_set, config) if "not known" in line]
    assert len(found) == 1
    assert said in found[0]


def test_a_key_is_told_once_a_file(tmp_path: Path) -> None:
    """A key that a program wrote into every case would hide all else."""
    cases = [{**CASE, "eval_id": str(number), "score": 1} for number in range(9)]
    assert len(findings(tmp_path, {**SET, "eval_cases": cases})) == 1


@pytest.mark.parametrize(
    "more", [{"$schema": "x"}, {"_note": "x"}, {"description": "d", "creationTimestamp": 1.0}]
)
def test_known_keys_and_remarks_are_fine(tmp_path: Path, more: dict[str, Any]) -> None:
    """In either case of a name."""
    assert findings(tmp_path, SET | more) == []


@pytest.mark.parametrize(
    ("eval_set", "config", "said"),
    [
        (SET, CONFIG | {"live_model_config": {"timeout_seconds": 9}}, "`live_model_config`: live"),
        (SET, CONFIG | {"liveModelConfig": {"timeout_seconds": 9}}, "not supported yet: remove it"),
        (SET, CONFIG | {"user_simulator_config": {"type": "llm_audio"}}, ("`user_simulator_config"
         ".type` is 'llm_audio', which is not supported yet: write 'llm_backed'")),
        (
            {**SET, "eval_cases": [CASE | {"final_session_state": {"paid": True}}]},
            CONFIG,
            "`final_session_state`: no criterion compares the session's final state yet",
        ),
    ],
)  # fmt: skip
def test_what_would_change_what_is_run_or_measured_is_an_error(
    tmp_path: Path, eval_set: Any, config: Any, said: str
) -> None:
    """Also in a run, and not for values that ask for nothing."""
    (found,) = findings(tmp_path, eval_set, config)
    assert ": error: " in found
    assert said in found
    with pytest.raises(FileError):
        load_suite(tmp_path, Suite(name="s", evals=(".",)))


def test_an_empty_final_state_asks_for_nothing(tmp_path: Path) -> None:
    """google-adk writes it so."""
    case = CASE | {"final_session_state": {}}
    assert (
        findings(tmp_path, {**SET, "eval_cases": [case]}, CONFIG | {"live_model_config": None})
        == []
    )
