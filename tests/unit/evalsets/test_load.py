import json
from pathlib import Path
from typing import Any

import pytest

from gradegate.evalsets.load import load_cases_of_files, load_suite
from gradegate.model.errors import FileError, InputError
from gradegate.model.settings import Suite

PRINTED = sorted((Path(__file__).parent / "data" / "printed").glob("*.json"))
SUITE = Suite(name="weather", evals=("**/*.evalset.json", "**/*.test.json"))

EVAL_SET = """{
  "eval_set_id": "basics",
  "eval_cases": [
    {"eval_id": "rome", "conversation": [
      {"invocation_id": "1","user_content": {"parts": [{"text": "Rome?","thought_signature": "s"}]},
       "final_response": {"parts": [{"text": "Sunny"}]},
       "intermediate_data": {"tool_uses": [{"name": "get", "args": {"myCity": 1}}]},
       "creation_timestamp": 1.5}]},
    {"eval_id": "paris", "conversation": [
      {"user_content": {"parts": [{"text": "Paris?"}]},
       "final_response": {"parts": [{"text": "Rain"}]}, "intermediate_data": {}}]}
  ],
  "creation_timestamp": 3.5
}
"""
CAMEL = """{"evalSetId": "basics", "uiIndex": 3, "evalCases": [{"evalId": "rome", "conversation": [
 {"invocationId": "other", "userContent": {"parts": [{"text": "Rome?", "thoughtSignature": "s"}]},
  "finalResponse": {"parts": [{"text": "Sunny"}]}, "toolUseIndex": 4,
  "intermediateData": {"toolUses": [{"name": "get", "args": {"myCity": 1}}]}}]}]}"""
FLAT = """[{"query": "hi", "expected_tool_use": [{"tool_name": "t", "tool_input": {"a": 1}}],
  "reference": "hello"}, {"query": "bye"}]"""
LEGACY = """[
  {"name": "one", "data": [{"query": "hi", "expected_tool_use": [], "reference": "",
    "expected_intermediate_agent_responses": [{"author": "sub", "text": "wait"}]}],
   "initial_session": {"state": {"x": 1}, "app_name": "app", "user_id": "me"}},
  {"name": "two", "data": [{"query": "ho", "reference": "r"}], "initial_session": {}}
]"""


def put(root: Path, files: dict[str, str]) -> Path:
    """Write files and come back to their root."""
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    return root


def test_an_eval_set_is_loaded_with_lines_and_sorted_keys(tmp_path: Path) -> None:
    """Cases come sorted, each with the line it begins in and the default config."""
    loaded = load_suite(put(tmp_path, {"agents/w/basic.evalset.json": EVAL_SET}), SUITE)
    assert [(*c.key, c.line, c.eval_set_id) for c in loaded.cases] == [
        ("weather", "agents/w/basic.evalset.json", "paris", 9, "basics"),
        ("weather", "agents/w/basic.evalset.json", "rome", 4, "basics"),
    ]
    assert loaded.cases[0].config.criteria == {
        "tool_trajectory_avg_score": 1.0,
        "response_match_score": 0.8,
    }
    assert loaded.findings == ()


def test_the_digest_is_of_the_definition_alone(tmp_path: Path) -> None:
    """Case of keys, format, place, ids of turns and timestamps leave it; content changes it."""
    root = put(
        tmp_path,
        {
            "snake/a.evalset.json": EVAL_SET,
            "camel/b.evalset.json": CAMEL,
            "other/c.evalset.json": CAMEL.replace("Sunny", "Cloudy"),
            "args/d.evalset.json": CAMEL.replace("myCity", "my_city"),
        },
    )
    digests = {c.eval_set: c.digest for c in load_suite(root, SUITE).cases if c.eval_id == "rome"}
    assert digests["snake/a.evalset.json"] == digests["camel/b.evalset.json"]
    assert len(set(digests.values())) == 3


def test_a_legacy_list_has_one_case_an_entry(tmp_path: Path) -> None:
    """Names become ids, sessions session inputs, and turns have the same ids every time."""
    loaded = load_suite(put(tmp_path, {"x.test.json": LEGACY}), SUITE)
    one, two = loaded.cases
    assert (one.eval_id, one.line, two.eval_id, two.line) == ("one", 2, "two", 5)
    assert one.eval_set_id == "x"
    assert one.definition.session_input is not None
    assert one.definition.session_input.state == {"x": 1}
    assert two.definition.session_input is None
    (turn,) = one.definition.conversation or ()
    assert turn.invocation_id == "turn-1"
    assert turn.final_response is not None
    assert turn.intermediate_data is not None
    author, parts = turn.intermediate_data.intermediate_responses[0]
    assert (author, parts[0].text) == ("sub", "wait")


@pytest.mark.parametrize("session", ["y.session.json", "initial.session.json"])
def test_a_flat_list_is_one_case_with_the_session_beside_it(tmp_path: Path, session: str) -> None:
    """Its id is the file's name; a turn without reference has none."""
    files = {"d/y.test.json": FLAT, f"d/{session}": '{"id": "1", "state": {"k": "v"}}'}
    (case,) = load_suite(put(tmp_path, files), SUITE).cases
    first, second = case.definition.conversation or ()
    assert (case.eval_id, case.line) == ("y.test.json", 1)
    assert (first.tool_calls[0].name, first.tool_calls[0].args) == ("t", {"a": 1})
    assert (first.response_text, second.final_response) == ("hello", None)
    assert case.definition.session_input is not None
    assert case.definition.session_input.state == {"k": "v"}


def test_a_session_of_another_set_is_not_taken(tmp_path: Path) -> None:
    """Where several lie around and none has the set's name, there is no session."""
    files = {"y.test.json": FLAT, "a.session.json": "{}", "b.session.json": "{}"}
    (case,) = load_suite(put(tmp_path, files), SUITE).cases
    assert case.definition.session_input is None


def test_every_set_keeps_the_config_of_its_own_folder(tmp_path: Path) -> None:
    """Two folders, two configs; one named for the suite stands in for both."""
    files = {
        "a/x.evalset.json": EVAL_SET,
        "a/test_config.json": '{"criteria": {"response_match_score": 0.1}}',
        "b/x.evalset.json": EVAL_SET,
        "b/test_config.json": '{"criteria": {"response_match_score": 0.2}, "customMetrics": null}',
        "all.json": '{"criteria": {"tool_trajectory_avg_score": 0.3}}',
    }
    root = put(tmp_path, files)
    thresholds = {c.eval_set[0]: c.config.criteria for c in load_suite(root, SUITE).cases}
    assert thresholds == {"a": {"response_match_score": 0.1}, "b": {"response_match_score": 0.2}}
    one = load_suite(root, SUITE.model_copy(update={"eval_config": "all.json"}))
    assert {tuple(c.config.criteria.items()) for c in one.cases} == {
        (("tool_trajectory_avg_score", 0.3),)
    }


@pytest.mark.parametrize("example", PRINTED, ids=lambda path: path.stem)
def test_the_printed_examples_load_as_printed(tmp_path: Path, example: Path) -> None:
    """Also the two broken ones, which leave a warning with a line."""
    files = {"x.evalset.json": EVAL_SET, "test_config.json": example.read_text(encoding="utf-8")}
    loaded = load_suite(put(tmp_path, files), SUITE)
    name = example.stem.partition("_")[2]
    assert list(loaded.cases[0].config.criteria) == [name]
    warned = [(f.path, f.line) for f in loaded.findings]
    line = {"final_response_match_v2": 12, "hallucinations_v1": 6}.get(name)
    assert warned == ([("test_config.json", line)] if line else [])


BROKEN: list[tuple[dict[str, Any], str]] = [
    ({"x.evalset.json": '{"eval_set_id": "s",}'}, r"x\.evalset\.json:1:20: trailing comma"),
    ({"x.evalset.json": "{}"}, r"x\.evalset\.json:1:1: `eval_set_id` is missing: add it"),
    (
        {"x.evalset.json": '{"evalSetId":"s","evalCases":[\n{"evalId": 5,"conversation": []}]}'},
        r"x\.evalset\.json:2:12: `evalCases\[0\]\.evalId` must be a text in quotes, not 5",
    ),
    (
        {"x.evalset.json": '{"eval_set_id": "s", "eval_cases": [\n {"eval_id": "a"}]}'},
        r"2:2: `eval_cases\[0\]` needs exactly one of `conversation`",
    ),
    (
        {"x.test.json": '{"eval_set_id":"s","eval_cases":\n[{"eval_id":"","conversation":[{}]}]}'},
        r"2:32: `eval_cases\[0\]\.conversation\[0\]\.user_content` is missing",
    ),
    ({"x.test.json": '[{"query": "a"},\n{"reference": "b"}]'}, r"2:1: `\[1\]\.query` is missing"),
    ({"x.test.json": '[{"name": "a", "data": 3}]'}, r"1:24: `\[0\]\.data` must be a list"),
    ({"x.test.json": FLAT, "x.session.json": "[]"}, r"x\.session\.json:1:1: must be an object"),
    ({"x.test.json": LEGACY.replace("two", "one")}, r"5:3: the id `one` is taken .* line 2"),
    (
        {"x.evalset.json": EVAL_SET, "test_config.json": '{"criteria":\n {"response_match": 1}}'},
        r"test_config\.json:2:21: unknown criterion .* did you mean `response_match_score`\?",
    ),
    (
        {"x.evalset.json": EVAL_SET, "test_config.json": '{"criteria": {"safety_v1": "much"}}'},
        r"test_config\.json:1:28: `criteria\.safety_v1` must be a number",
    ),
]


@pytest.mark.parametrize(("files", "says"), BROKEN)
def test_a_broken_file_is_refused_at_its_place(
    tmp_path: Path, files: dict[str, str], says: str
) -> None:
    """File, line, column, field, and what to write instead."""
    with pytest.raises(FileError, match=says):
        load_suite(put(tmp_path, files), SUITE)


def test_a_link_out_of_the_repository_is_refused(tmp_path: Path) -> None:
    """An eval set may not pull in what lies beside the checkout; a link within is fine."""
    put(tmp_path, {"secret.json": EVAL_SET, "repo/real.json": EVAL_SET})
    repo = tmp_path / "repo"
    (repo / "in.evalset.json").symlink_to(repo / "real.json")
    assert len(load_suite(repo, SUITE).cases) == 2
    (repo / "out.evalset.json").symlink_to(tmp_path / "secret.json")
    with pytest.raises(FileError, match=r"out\.evalset\.json: leads outside"):
        load_suite(repo, SUITE)


def test_a_linked_config_out_of_the_repository_is_refused(tmp_path: Path) -> None:
    """Nor may its config."""
    put(tmp_path, {"config.json": '{"criteria": {}}', "repo/x.evalset.json": EVAL_SET})
    (tmp_path / "repo/test_config.json").symlink_to(tmp_path / "config.json")
    with pytest.raises(FileError, match=r"test_config\.json: leads outside"):
        load_suite(tmp_path / "repo", SUITE)


def test_a_suite_that_matches_nothing_names_its_patterns(tmp_path: Path) -> None:
    """Nothing to evaluate is a mistake, not a pass."""
    with pytest.raises(InputError, match=r"`weather` has no eval sets: `\*\*/\*\.evalset\.json`"):
        load_suite(tmp_path, SUITE)


def test_files_of_a_command_line_are_called_as_given(tmp_path: Path) -> None:
    """A folder's sets by their path in it, a file by its path from where we are."""
    root = put(tmp_path, {"w/sub/a.evalset.json": CAMEL, "w/b.test.json": FLAT})
    config = put(tmp_path, {"c.json": '{"criteria": {"safety_v1": 0.5}}'}) / "c.json"
    folder = load_cases_of_files(root, ["w"], config)
    assert [c.eval_set for c in folder.cases] == ["b.test.json", "sub/a.evalset.json"]
    assert folder.cases[0].config.criteria == {"safety_v1": 0.5}
    single = load_cases_of_files(root, ["w/sub/a.evalset.json"])
    assert [c.eval_set for c in single.cases] == ["w/sub/a.evalset.json"]
    elsewhere = load_cases_of_files(root / "w/sub", [root / "w/b.test.json"])
    assert [c.eval_set for c in elsewhere.cases] == ["b.test.json"]
    with pytest.raises(InputError, match="does not exist"):
        load_cases_of_files(root, ["gone"])


def test_the_examples_are_all_there() -> None:
    """Ten are printed; two of them are no JSON."""
    broken = []
    for example in PRINTED:
        try:
            json.loads(example.read_text(encoding="utf-8"))
        except json.JSONDecodeError:
            broken.append(example.stem[:2])
    assert (len(PRINTED), broken) == (10, ["06", "09"])
