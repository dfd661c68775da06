from pathlib import Path

import pytest

from gradegate.evalsets.lint import check
from gradegate.model.errors import InputError

TURN = '{"user_content": {"parts": [{"text": "q"}]}, "final_response": {"parts": [{"text": "r"}]}}'
GOOD = f'{{"eval_set_id": "s", "eval_cases": [\n{{"eval_id": "a", "conversation": [{TURN}]}}]}}'
OPEN_TURN = TURN.replace('"final_response"', '"no_response"')
OPEN = GOOD.replace('"final_response"', '"no_response"')
SCENARIO = """{"eval_set_id": "s", "eval_cases": [
{"eval_id": "a", "conversation_scenario": {"starting_prompt": "p", "conversation_plan": "q"}}]}"""
RUBRIC = '{"rubric_id": "r", "rubric_content": {"text_property": "t"}, "type": "TOOL_USE_QUALITY"}'
TOOL_USE = "rubric_based_tool_use_quality_v1"


def config(criteria: str) -> str:
    """A config with its criteria in line 2."""
    return f'{{"criteria":\n{{{criteria}}}}}'


def put(root: Path, **files: str) -> Path:
    """Write files; `x__y` in a name stands for a dot."""
    for name, text in files.items():
        (root / name.replace("__", ".")).write_text(text, encoding="utf-8")
    return root


def lines(root: Path, *paths: str) -> list[str]:
    """The findings as shown."""
    return [str(finding) for finding in check(root, paths).findings]


def test_a_good_repository_has_no_findings(tmp_path: Path) -> None:
    """Sets, config, traces and settings, all in order."""
    put(
        tmp_path,
        x__evalset__json=GOOD,
        test_config__json=config('"response_match_score": 0.8'),
        recorded__json='{"schema": "gradegate/traces/v1", "cases": []}',
        package__json='{"broken": ',
        gradegate__toml='[[suite]]\nname="s"\ntraces="recorded.json"\nevals = ["*.evalset.json"]',
    )
    assert lines(tmp_path) == []


@pytest.mark.parametrize(
    ("criteria", "says"),
    [
        ('"safty_v1": 1', ":2:14: error: unknown criterion `safty_v1`: did you mean `safety_v1`?"),
        (
            '"response_match_score": 1.5',
            ":2:26: error: the threshold 1.5 of `response_match_score`",
        ),
        ('"response_match_score": -1', "write a number from 0 to 1"),
        ('"response_evaluation_score": 0.5', "write a number from 1 to 5"),
        ('"token_usage_v1": 0.5', "2:20: error: `token_usage_v1` only informs"),
        ('"token_usage_v1": 0.5', "under [gate.budget]"),
        (
            '"response_match_score": {"threshold": 0.5, "treshold": 1}',
            ":2:57: warning: `response_match_score` has no field `treshold`",
        ),
        ('"response_match_score": {}', "`criteria.response_match_score.threshold` is missing"),
        (
            '"response_match_score": {"threshold": 2}',
            ":2:40: error: the threshold 2",
        ),
        (
            f'"{TOOL_USE}": {{"threshold": 1, "rubrics": [{RUBRIC}, {RUBRIC}]}}',
            f"error: two rubrics of `{TOOL_USE}` have the id `r`",
        ),
        (
            f'"{TOOL_USE}": {{"threshold": 1}}',
            f":2:38: error: `{TOOL_USE}` has no rubrics, and no case of x.evalset.json has any",
        ),
        ('"response_match_score": 0.8,', ":2:29: warning: trailing comma"),
    ],
)
def test_a_config_is_checked(tmp_path: Path, criteria: str, says: str) -> None:
    """Each mistake at its place; exactly one line says so."""
    put(tmp_path, x__evalset__json=GOOD, test_config__json=config(criteria))
    (line,) = lines(tmp_path)
    assert line.startswith("test_config.json:")
    assert says in line


def test_a_custom_metric_is_a_known_name(tmp_path: Path) -> None:
    """Its threshold is its own affair."""
    text = (
        '{"criteria": {"mine": 40}, "custom_metrics": {"mine": {"code_config": {"name": "a.b"}}}}'
    )
    assert lines(put(tmp_path, x__evalset__json=GOOD, test_config__json=text)) == []


def test_rubrics_of_a_case_are_enough_unless_they_repeat(tmp_path: Path) -> None:
    """A rubric of the right type serves; the config's id again is an error at the case."""
    own = GOOD.replace('"eval_id"', f'"rubrics": [{RUBRIC}], "eval_id"')
    put(tmp_path, x__evalset__json=own, test_config__json=config(f'"{TOOL_USE}": 1'))
    assert lines(tmp_path) == []
    both = config(f'"{TOOL_USE}": {{"threshold": 1, "rubrics": [{RUBRIC}]}}')
    (line,) = lines(put(tmp_path, test_config__json=both))
    assert line.startswith("x.evalset.json:2:1: error: `a` has two rubrics with the id `r`")
    twice = both.replace(RUBRIC, f"{RUBRIC}, {RUBRIC}")
    (line,) = lines(put(tmp_path, test_config__json=twice))
    assert line.startswith("test_config.json:2:")


def test_a_case_without_the_reference_a_criterion_needs_is_doubtful(tmp_path: Path) -> None:
    """A warning a criterion, since the case may still be scored by others."""
    answer, calls = lines(put(tmp_path, x__evalset__json=OPEN))
    place = "x.evalset.json:2:1: warning: "
    assert answer.startswith(f"{place}`response_match_score` is not evaluated on 1 of 1 cases: ")
    assert "(`final_response`)" in answer
    assert calls.startswith(f"{place}`tool_trajectory_avg_score` is not evaluated on 1 of 1 cases")
    assert '`"tool_uses": []` expects none' in calls


def test_a_case_with_a_reference_in_some_turns_is_doubtful(tmp_path: Path) -> None:
    """It is scored in all of them, as google-adk does."""
    mixed = GOOD.replace(TURN, f"{TURN}, {OPEN_TURN}")
    put(tmp_path, x__evalset__json=mixed, test_config__json=config('"response_match_score": 1'))
    (line,) = lines(tmp_path)
    assert "`a` has nothing for `response_match_score` to compare with in 1 of 2 turns" in line


def test_simulated_cases_do_not_go_with_reference_criteria(tmp_path: Path) -> None:
    """One warning a criterion, saying how many cases it concerns."""
    found = lines(put(tmp_path, x__evalset__json=SCENARIO))
    assert [line[:29] for line in found] == ["x.evalset.json:2:1: warning: "] * 2
    assert all("1 of 1 cases" in line for line in found)


def test_all_mistakes_are_found_at_once_and_sorted(tmp_path: Path) -> None:
    """Two bad cases, an empty set, equal ids, broken JSON, a bad setting."""
    put(
        tmp_path,
        bad__evalset__json='{"eval_set_id":"s","eval_cases":[\n{"eval_id": 1},\n{"eval_id": 2}]}',
        empty__test__json="[]",
        broken__test__json="[1,]",
        same__test__json='[{"name": "n", "data": []},\n{"name": "n", "data": []}]',
        gradegate__toml="[gate]\nalfa = 1\n[report]\nlanguage = 'fr'\n",
    )
    found = lines(tmp_path)
    assert [line.split(": ")[0] + " " + line.split(": ")[1] for line in found] == [
        "bad.evalset.json:2:13 error",
        "bad.evalset.json:3:13 error",
        "broken.test.json:1:3 error",
        "empty.test.json:1:1 warning",
        "gradegate.toml:2:1 error",
        "gradegate.toml:4:1 error",
        "same.test.json:1:2 warning",
        "same.test.json:2:1 error",
        "same.test.json:2:1 warning",
    ]


def test_the_settings_name_more_files_to_check(tmp_path: Path) -> None:
    """A suite's own config holds for its sets, whatever it is called."""
    put(
        tmp_path,
        x__evalset__json=OPEN,
        mine__json=config('"safety_v1": 3'),
        gradegate__toml='[[suite]]\nname="s"\nevals=["x.evalset.json"]\neval_config="mine.json"\n'
        '[[suite]]\nname="t"\nevals=["gone/*.json"]\n[gate.budget]\ntoken_usage = "+5%"\n',
    )
    assert [line.partition(" of ")[0] for line in lines(tmp_path)] == [
        "gradegate.toml:5:1: error: suite `t`: `gone/*.json` matches no file",
        "gradegate.toml:9:1: warning: `token_usage` is no criterion",
        "mine.json:2:15: error: the threshold 3",
    ]


def test_files_are_taken_for_what_they_hold_when_named(tmp_path: Path) -> None:
    """A config or traces file of any name; what is neither is said to be so."""
    put(tmp_path, c__json=config('"nope": 1'), t__json='{"schema": "gradegate/traces/v1", "x": 1}')
    put(tmp_path, o__json='{"a": 1}', l__json="[{}]")
    assert "unknown criterion `nope`" in lines(tmp_path, "c.json")[0]
    assert "`x`" in lines(tmp_path, "t.json")[0]
    assert "nothing to check" in lines(tmp_path, "o.json")[0]
    assert "`[0].query` is missing" in lines(tmp_path, "l.json")[0]
    with pytest.raises(InputError, match="does not exist"):
        check(tmp_path, ["gone.json"])
