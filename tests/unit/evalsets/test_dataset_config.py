"""eval_config.yaml: metrics that have a counterpart, functions, rubric groups."""

from pathlib import Path
from typing import Any

import pytest

from gradegate.criteria import registry
from gradegate.evalsets.dataset_config import COUNTERPARTS
from gradegate.evalsets.lint import check
from gradegate.evalsets.load import load_suite
from gradegate.model.errors import FileError
from gradegate.model.evalset import Case
from gradegate.model.settings import Suite
from tests.unit.evalsets.test_dataset import NAME, PROMPT, write

CONFIG = "tests/eval/eval_config.yaml"


def group(*ids: str) -> dict[str, Any]:
    """A group of rubrics."""
    return {
        "rubrics": [
            {"rubric_id": one, "content": {"property": {"description": f"It is {one}."}}}
            for one in ids
        ]
    }


def loaded(root: Path) -> Case:
    """The only case."""
    (case,) = load_suite(root, Suite(evals=(".",))).cases
    return case


def messages(root: Path) -> list[str]:
    """What `check` says."""
    return [str(finding) for finding in check(root).findings]


def test_every_counterpart_is_a_criterion() -> None:
    """One that can be scored."""
    assert set(COUNTERPARTS.values()) <= registry.built().keys()


def test_built_in_metrics_are_criteria(tmp_path: Path) -> None:
    """With or without their version, and with the threshold of an entry."""
    config = "metrics_to_run: [safety, hallucination_v1]\n"
    entry = "custom_metrics:\n  - {name: hallucination_v1, threshold: 0.8}\n"
    case = loaded(write(tmp_path, PROMPT, config=config + entry))
    assert case.config.criteria == {
        "safety_v1": {"threshold": 0.5},
        "hallucinations_v1": {"threshold": 0.8},
    }


def test_a_function_comes_from_its_file_or_stands_in_the_config(tmp_path: Path) -> None:
    """As source, so that a changed function is a changed config."""
    config = """
metrics_to_run:
  - quality
  - turns
custom_metrics:
  - name: quality
    custom_function_file: quality.py
    threshold: 3.5
    range: [1, 5]
  - name: turns
    custom_function: |
      def evaluate(instance):
          return {"score": 1}
  - name: not_asked_for
    prompt_template: "{prompt}"
"""
    root = write(tmp_path, PROMPT, config=config)
    (root / "tests/eval/quality.py").write_text("def evaluate(instance):\n    return 4\n")
    case = loaded(root)
    assert case.config.criteria == {"quality": {"threshold": 3.5}, "turns": {}}
    assert case.config.custom_metrics["quality"] == {
        "custom_function": "def evaluate(instance):\n    return 4\n",
        "range": [1, 5],
    }
    (warning,) = [text for text in messages(root) if CONFIG in text]
    assert warning.startswith(f"{CONFIG}:10:5: warning: `turns` has no `threshold`")


def test_the_rubrics_of_the_named_group_are_asked(tmp_path: Path) -> None:
    """Each criterion has its own."""
    config = """
metrics_to_run: [final_response_quality, tool_use_quality]
custom_metrics:
  - name: final_response_quality
    metric_spec_parameters: {rubric_group_key: answer}
  - name: tool_use_quality
    metric_spec_parameters: {rubric_group_key: tools}
"""
    groups = {"answer": group("polite", "short"), "tools": group("once")}
    case = loaded(write(tmp_path, {**PROMPT, "rubric_groups": groups}, config=config))
    found = {(one.rubric_id, one.type) for one in case.definition.rubrics or ()}
    assert found == {
        ("polite", "FINAL_RESPONSE_QUALITY"),
        ("short", "FINAL_RESPONSE_QUALITY"),
        ("once", "TOOL_USE_QUALITY"),
    }


def test_the_only_group_needs_no_name(tmp_path: Path) -> None:
    """As on the Agent Platform."""
    asked = {**PROMPT, "rubric_groups": {"any": group("polite")}}
    root = write(tmp_path, asked, config="metrics_to_run: [final_response_quality]\n")
    assert [one.rubric_id for one in loaded(root).definition.rubrics or ()] == ["polite"]


WRONG = {
    "no counterpart": (
        "metrics_to_run:\n  - general_quality\n",
        f"{CONFIG}:2:5: `general_quality` has no counterpart among the criteria: use rubrics",
    ),
    "a slip": ("metrics_to_run: [safty]\n", "did you mean `safety`?"),
    "a prompt of its own": (
        "metrics_to_run: [m]\ncustom_metrics:\n  - name: m\n    prompt_template: Rate {prompt}\n",
        f"{CONFIG}:4:22: `m` is a prompt of its own, which is not supported",
    ),
    "no such file": (
        "metrics_to_run: [mine]\ncustom_metrics:\n  - {name: mine, custom_function_file: no.py}\n",
        "no.py: is not a file",
    ),
    "a file outside": (
        "metrics_to_run: [m]\ncustom_metrics: [{name: m, custom_function_file: ../../../x.py}]\n",
        "leads outside the repository",
    ),
    "nothing to run": ("custom_metrics: []\n", "names no metric"),
    "no rubrics anywhere": (
        "metrics_to_run: [final_response_quality]\n",
        "`rubric_based_final_response_quality_v1` has no rubrics",
    ),
    "not YAML": ("metrics_to_run: [\n", "is not YAML"),
    "an anchor": ("metrics_to_run: &a [safety]\n", "anchors are not read"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_said_with_its_place(tmp_path: Path, name: str) -> None:
    """And `check` says the same."""
    config, message = WRONG[name]
    root = write(tmp_path, PROMPT, config=config)
    with pytest.raises(FileError) as error:
        loaded(root)
    assert message in str(error.value)
    expected = message.partition(": ")[2] if message.startswith(CONFIG) else message
    assert any(expected in text and ": error: " in text for text in messages(root))


def test_several_groups_need_a_name(tmp_path: Path) -> None:
    """An error at the case."""
    asked = {**PROMPT, "rubric_groups": {"a": group("x"), "b": group("y")}}
    root = write(tmp_path, asked, config="metrics_to_run: [final_response_quality]\n")
    with pytest.raises(FileError, match="has the rubric groups `a`, `b`"):
        loaded(root)
    assert any(text.startswith(f"{NAME}:3:") for text in messages(root))
