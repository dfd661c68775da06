"""Where configs are found, and which of them are nobody's."""

import json
from pathlib import Path

import pytest

from gradegate.evalsets.lint import check
from gradegate.evalsets.load import load_suite
from gradegate.evalsets.project import load_all
from gradegate.model.errors import FileError
from gradegate.model.settings import Suite

CASE = {
    "eval_id": "a",
    "conversation": [
        {
            "user_content": {"parts": [{"text": "q"}]},
            "final_response": {"parts": [{"text": "r"}]},
            "intermediate_data": {"tool_uses": []},
        }
    ],
}
SET = json.dumps({"eval_set_id": "s", "eval_cases": [CASE]}, indent=1)
DATASET = json.dumps({"eval_cases": [{"eval_case_id": "a", "prompt": {"parts": [{"text": "q"}]}}]})
STARTER = "tests/eval/evalsets/basic.evalset.json"
NOT_USED = "warning: reads like an eval config, but no eval set goes by it"


def config(threshold: float) -> str:
    """One that can be told from others."""
    return json.dumps({"criteria": {"response_match_score": threshold}})


def put(root: Path, **files: str) -> Path:
    """Files by their paths."""
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    return root


def used(root: Path) -> str | None:
    """The file that the only set's config is in."""
    (case,) = load_suite(root, Suite(name="s", evals=(".",))).cases
    assert check(root).configs == {case.eval_set: case.config_file}
    return case.config_file


@pytest.mark.parametrize(
    ("files", "place"),
    [
        (["tests/eval/eval_config.json"], "tests/eval/eval_config.json"),
        (["tests/eval/evalsets/eval_config.json"], "tests/eval/evalsets/eval_config.json"),
        (
            ["tests/eval/eval_config.json", "tests/eval/evalsets/test_config.json"],
            "tests/eval/evalsets/test_config.json",
        ),
        (
            ["tests/eval/eval_config.json", "tests/eval/evalsets/eval_config.json"],
            "tests/eval/evalsets/eval_config.json",
        ),
        (["eval_config.json"], "eval_config.json"),
        (["eval_config.json", "tests/eval_config.json"], "tests/eval_config.json"),
        (["tests/eval/test_config.json"], None),
        (["tests/eval/eval_config.yaml"], None),
        (["app/eval_config.json"], None),
        ([], None),
    ],
)
def test_the_config_is_beside_the_set_or_above_it(
    tmp_path: Path, files: list[str], place: str | None
) -> None:
    """google-adk's own place comes first."""
    put(tmp_path, **{STARTER: SET, "pyproject.toml": "", **dict.fromkeys(files, config(0.5))})
    assert used(tmp_path) == place


@pytest.mark.parametrize("mark", ["pyproject.toml", "uv.lock", "requirements.txt"])
@pytest.mark.parametrize(
    ("place", "found"),
    [
        ("agents/desk/eval_config.json", "agents/desk/eval_config.json"),
        ("agents/eval_config.json", None),
        ("eval_config.json", "eval_config.json"),
    ],
)
def test_a_project_keeps_to_itself_and_the_repository_serves_all(
    tmp_path: Path, mark: str, place: str, found: str | None
) -> None:
    """A folder between a project and the repository's top is not its own."""
    name = "agents/desk/evals/x.evalset.json"
    put(tmp_path, **{name: SET, f"agents/desk/{mark}": "", place: config(0.5)})
    assert used(tmp_path) == found


def test_another_tools_file_of_that_name_is_left_alone(tmp_path: Path) -> None:
    """It says nothing of criteria: it is neither used nor checked."""
    put(tmp_path, **{STARTER: SET, "tests/eval/eval_config.json": '{"epochs": 3}'})
    assert used(tmp_path) is None
    assert check(tmp_path).findings == ()


def test_a_broken_config_is_an_error(tmp_path: Path) -> None:
    """Passing over it would leave the set with google-adk's defaults."""
    put(tmp_path, **{STARTER: SET, "tests/eval/eval_config.json": '{"criteria": {'})
    with pytest.raises(FileError, match=r"tests/eval/eval_config\.json"):
        load_suite(tmp_path, Suite(name="s", evals=("tests",)))
    (found,) = check(tmp_path).findings
    assert (found.path, found.level) == ("tests/eval/eval_config.json", "error")


def test_a_dataset_goes_by_yaml_as_well(tmp_path: Path) -> None:
    """As google-agents-cli has it."""
    yaml = "tests/eval/eval_config.yaml"
    put(
        tmp_path,
        **{"tests/eval/datasets/x-dataset.json": DATASET, yaml: "metrics_to_run:\n  - safety\n"},
    )
    assert used(tmp_path) == yaml


@pytest.mark.parametrize(
    ("place", "times"),
    [
        ("tests/eval/evalsets/eval_config_strict.json", 1),
        ("tests/eval/test_config.json", 1),
        ("tests/eval/eval_config.yaml", 1),
        ("tests/eval/evalsets/config.json", 1),
        ("app/agent_config.json", 0),
    ],
)
def test_a_config_nearby_that_nobody_uses_is_named(tmp_path: Path, place: str, times: int) -> None:
    """By `check` and by a run."""
    put(tmp_path, **{STARTER: SET, "pyproject.toml": "", place: config(0.5)})
    whole = f"{place}:1:1: {NOT_USED}"
    (loaded,) = load_all(tmp_path, [Suite(name="s", evals=("tests",))])
    for findings in (check(tmp_path).findings, loaded.findings):
        assert [str(f).startswith(whole) for f in findings] == [True] * times


def test_a_config_of_other_sets_is_somebodys(tmp_path: Path) -> None:
    """Also where those are of a suite that is not run, or name it."""
    put(
        tmp_path,
        **{
            "one/a.evalset.json": SET,
            "one/test_config.json": config(0.5),
            "a.evalset.json": SET,
            "strict_config.json": config(0.9),
        },
    )
    suites = [
        Suite(name="one", evals=("one",)),
        Suite(name="top", evals=("a.evalset.json",), eval_config="strict_config.json"),
    ]
    assert [one.findings for one in load_all(tmp_path, suites)] == [(), ()]
    assert load_all(tmp_path, suites[:1], suites)[0].findings == ()
