from typing import Any

import pytest

from gradegate.compare.pairing import Pair, pair, without_base
from gradegate.model.evalset import Case
from gradegate.model.report import Change
from tests.runs import a_case

RUBRICS = "rubric_based_final_response_quality_v1"
JUDGED = "final_response_match_v2"
MOVED_SET = "elsewhere/basic.evalset.json"


def told_to_judge(options: dict[str, Any]) -> dict[str, Any]:
    """A criterion's entry that says who judges, and how."""
    return {"threshold": 0.8, "judgeModelOptions": options}


def test_the_same_case_on_both_sides_is_the_same() -> None:
    """Where it stands in its file makes no difference."""
    (found,) = pair([a_case(line=3)], [a_case(line=30)])
    assert found.change is Change.SAME
    assert found.line == 30
    assert found.moved_from is None


@pytest.mark.parametrize(
    "edited",
    [
        a_case(asked="good day"),
        a_case(rubrics=["polite"]),
        a_case(criteria={RUBRICS: {"threshold": 0.8, "rubrics": [{"rubric_id": "polite"}]}}),
        a_case(criteria={JUDGED: told_to_judge({"judge_model": "other"})}),
        a_case(criteria={JUDGED: told_to_judge({"judgeModelConfig": {"system_instruction": "a"}})}),
    ],
    ids=[
        "a prompt",
        "a rubric of the case",
        "a rubric of its config",
        "a judge",
        "a judge's instructions",
    ],
)
def test_a_changed_definition_is_an_edit(edited: Case) -> None:
    """What is asked, expected or judged by counts as the definition."""
    (found,) = pair([a_case()], [edited])
    assert found.change is Change.EDITED


@pytest.mark.parametrize("entry", [0.1, {"threshold": 0.1}])
def test_a_changed_threshold_is_no_edit(entry: object) -> None:
    """That is what `loosened` is about."""
    (found,) = pair([a_case()], [a_case(criteria={"response_match_score": entry})])
    assert found.change is Change.SAME


def test_a_rubric_in_other_spelling_is_no_edit() -> None:
    """ADK takes snake_case and camelCase; another wording is an edit."""

    def judged_by(rubric: dict[str, object]) -> Case:
        return a_case(criteria={RUBRICS: {"threshold": 0.8, "rubrics": [rubric]}})

    snake = judged_by({"rubric_id": "a", "rubric_content": {"text_property": "kind"}})
    camel = judged_by({"rubricId": "a", "rubricContent": {"textProperty": "kind"}})
    other = judged_by({"rubricId": "a", "rubricContent": {"textProperty": "polite"}})
    assert Pair(snake, camel).change is Change.SAME
    assert Pair(snake, other).change is Change.EDITED


def test_cases_that_one_side_has_are_added_or_removed() -> None:
    """In the order of their keys."""
    found = pair([a_case("old"), a_case("paris")], [a_case("new"), a_case("paris")])
    assert [(one.key.eval_id, one.change) for one in found] == [
        ("new", Change.ADDED),
        ("old", Change.REMOVED),
        ("paris", Change.SAME),
    ]


def test_a_set_that_moved_pairs_by_its_id() -> None:
    """Under head's name, with where it came from."""
    (found,) = pair([a_case()], [a_case(eval_set=MOVED_SET)])
    assert found.change is Change.SAME
    assert found.key.eval_set == MOVED_SET
    assert found.moved_from == "evals/basic.evalset.json"


def test_a_set_that_moved_and_changed_is_edited() -> None:
    """Both at once."""
    (found,) = pair([a_case()], [a_case(eval_set=MOVED_SET, asked="good day")])
    assert found.change is Change.EDITED
    assert found.moved_from is not None


def test_a_path_counts_before_an_id() -> None:
    """A copy under a new path is added, and does not take the original's place."""
    found = pair([a_case()], [a_case(), a_case(eval_set=MOVED_SET)])
    assert [(one.key.eval_set, one.change) for one in found] == [
        (MOVED_SET, Change.ADDED),
        ("evals/basic.evalset.json", Change.SAME),
    ]


def test_a_set_that_moved_is_found_beside_one_of_its_id_that_stayed() -> None:
    """What a path has paired is out of the question."""
    stays = a_case(eval_set="a.json")
    found = pair([stays, a_case(eval_set="b.json")], [stays, a_case(eval_set="c.json")])
    assert [(one.key.eval_set, one.moved_from) for one in found] == [
        ("a.json", None),
        ("c.json", "b.json"),
    ]


def test_an_id_that_two_sets_have_pairs_nothing() -> None:
    """Which of them moved where nobody can tell."""
    found = pair(
        [a_case(eval_set="a.json"), a_case(eval_set="b.json")], [a_case(eval_set="c.json")]
    )
    assert sorted(one.change for one in found) == [Change.ADDED, Change.REMOVED, Change.REMOVED]


def test_a_suite_that_is_gone_leaves_removed_cases() -> None:
    """Taking the whole suite out is no way past `removed`."""
    kept, gone = a_case(), a_case("rome", suite="shop", eval_set="shop.json", eval_set_id="shop")
    found = pair([kept, gone], [kept])
    assert {one.key.suite: one.change for one in found} == {
        "desk": Change.SAME,
        "shop": Change.REMOVED,
    }


def test_a_suite_with_a_new_name_keeps_its_cases() -> None:
    """They are neither removed nor new."""
    (found,) = pair([a_case(suite="old")], [a_case(suite="new")])
    assert found.change is Change.SAME
    assert found.key.suite == "new"


def test_without_a_base_no_case_is_new_for_that() -> None:
    """Nothing to compare with is not the same as added."""
    found = without_base([a_case("b"), a_case("a")])
    assert [one.key.eval_id for one in found] == ["a", "b"]
    assert {one.change for one in found} == {Change.SAME}


def test_a_removed_case_goes_by_bases_name_and_line() -> None:
    """There is no other."""
    found = Pair(a_case(line=12), None)
    assert found.key == a_case().key
    assert found.line == 12
