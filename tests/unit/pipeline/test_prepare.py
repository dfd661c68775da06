from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from gradegate.model.errors import FileError, InputError
from gradegate.model.notice import texts_of
from gradegate.model.overrides import Overrides
from gradegate.model.report import Change, ReasonKind
from gradegate.model.runs import Side
from gradegate.pipeline.case_filter import CaseFilter
from gradegate.pipeline.prepare import Prepared, read_sides
from gradegate.sides.checkout import Sides
from tests.project import AGENT, SETTINGS, case, eval_set, turn

SET = "evals/basic.evalset.json"
THREE = eval_set(*(case(name, turn("hello", "hi")) for name in ("a", "b", "c")))
PROJECT = {"agent.py": AGENT, "gradegate.toml": SETTINGS, SET: THREE}
SHOP = """
[[suite]]
name = "shop"
command = ["python3", "agent.py"]
evals = ["shop/*.evalset.json"]
"""
SHOP_SET = eval_set(case("buy", turn("buy", "done")), name="shop")


def side(root: Path, files: Mapping[str, str], folder: str = ".") -> Side:
    """A side's files, as a checkout leaves them."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return Side("a" * 40, root, root / folder)


def prepared(
    tmp_path: Path,
    base: Mapping[str, str] | None,
    head: Mapping[str, str],
    selection: CaseFilter | None = None,
    **inputs: Any,
) -> Prepared:
    """Both sides, read."""
    sides = Sides(
        side(tmp_path / "head", head),
        side(tmp_path / "base", base) if base is not None else None,
    )
    return read_sides(sides, Overrides(**inputs), selection or CaseFilter())


def changes(setup: Prepared) -> dict[str, Change]:
    """What became of each case."""
    return {pair.key.eval_id: pair.change for pair in setup.pairs}


def test_two_equal_sides_are_the_same_in_all_that_matters(tmp_path: Path) -> None:
    """So that nothing needs to be run."""
    assert prepared(tmp_path, PROJECT, PROJECT).nothing_changed


@pytest.mark.parametrize(
    "change",
    [
        {"agent.py": AGENT + "# another\n"},
        {"answers.json": "{}"},
        {SET: eval_set(case("a", turn("hello", "hi")))},
        {"evals/test_config.json": '{"criteria": {"response_match_score": 0.5}}'},
        {"gradegate.toml": SETTINGS + "[gate]\ntolerance = 0.5\n"},
    ],
    ids=["the agent", "a file it may read", "a case", "a config", "the settings"],
)
def test_whatever_could_change_a_score_or_the_decision_is_a_change(
    tmp_path: Path, change: dict[str, str]
) -> None:
    """An agent may read any file of its repository."""
    assert not prepared(tmp_path, PROJECT, PROJECT | change).nothing_changed


@pytest.mark.parametrize(
    "change",
    [
        {".github/workflows/ci.yml": "on: push"},
        {SET: THREE.replace("\n", "\n\n")},
    ],
    ids=["a workflow", "the layout of an eval set"],
)
def test_what_can_change_nothing_is_none(tmp_path: Path, change: dict[str, str]) -> None:
    """A workflow file is nothing to an agent, and blank lines are nothing to a case."""
    assert prepared(tmp_path, PROJECT, PROJECT | change).nothing_changed


def test_a_new_case_does_not_make_a_new_agent(tmp_path: Path) -> None:
    """What base's agent did with the others is still known."""
    new = {"evals/more.evalset.json": eval_set(case("d", turn("x", "y")), name="more")}
    config = {"evals/test_config.json": '{"criteria": {"response_match_score": 0.5}}'}
    setup = prepared(tmp_path, PROJECT, PROJECT | new | config)
    assert setup.base is not None
    assert setup.base.identities == setup.head.identities
    assert changes(setup)["d"] is Change.ADDED


def test_a_nearer_config_that_is_weaker_is_loosened(tmp_path: Path) -> None:
    """The one it takes the place of lies untouched in the folder above."""
    above = PROJECT | {"eval_config.json": '{"criteria": {"response_match_score": 0.8}}'}
    nearer = {"evals/eval_config.json": '{"criteria": {"response_match_score": 0.2}}'}
    setup = prepared(tmp_path, above, above | nearer)
    assert {pair.head.config_file for pair in setup.pairs if pair.head} == {*nearer}
    (reason,) = setup.loosened
    assert "0.8" in reason.text
    assert "0.2" in reason.text
    assert setup.base is not None
    assert setup.base.identities == setup.head.identities


def test_an_agent_is_who_it_is_in_every_job(tmp_path: Path) -> None:
    """A job for one suite finds what a job for all has kept."""
    both = PROJECT | {"gradegate.toml": SETTINGS + SHOP, "shop/one.evalset.json": SHOP_SET}
    whole = prepared(tmp_path / "1", None, both)
    part = prepared(tmp_path / "2", None, both, suite="desk")
    assert part.head.identities["desk"] == whole.head.identities["desk"]
    assert set(part.head.identities) == {"desk"}


def test_other_requirements_make_another_agent(tmp_path: Path) -> None:
    """They are named in the settings, which are no part of the agent."""
    other = SETTINGS + 'requirements = "more.txt"\n'
    one = prepared(tmp_path / "1", None, PROJECT)
    two = prepared(tmp_path / "2", None, PROJECT | {"gradegate.toml": other})
    assert one.head.identities != two.head.identities


def test_a_suite_that_head_has_no_more_leaves_removed_cases(tmp_path: Path) -> None:
    """Unless another suite was asked for: then nobody looked."""
    both = PROJECT | {"gradegate.toml": SETTINGS + SHOP, "shop/one.evalset.json": SHOP_SET}
    assert changes(prepared(tmp_path / "1", both, PROJECT))["buy"] is Change.REMOVED
    assert "buy" not in changes(prepared(tmp_path / "2", both, PROJECT, suite="desk"))


def test_a_suite_that_base_has_not_answers_to_its_thresholds(tmp_path: Path) -> None:
    """With a warning that says so."""
    both = PROJECT | {"gradegate.toml": SETTINGS + SHOP, "shop/one.evalset.json": SHOP_SET}
    setup = prepared(tmp_path, PROJECT, both)
    assert "base has no suite shop: its thresholds alone decide" in texts_of(setup.warnings)
    assert setup.base is not None
    assert set(setup.base.identities) == {"desk"}


def test_what_is_wrong_with_bases_files_is_a_warning(tmp_path: Path) -> None:
    """They are what they are; a pull request that mends them must get through."""
    setup = prepared(tmp_path / "1", PROJECT | {SET: "{"}, PROJECT)
    assert any(
        "base's eval sets of suite desk cannot be read" in text for text in texts_of(setup.warnings)
    )
    assert set(changes(setup).values()) == {Change.ADDED}
    setup = prepared(tmp_path / "2", PROJECT | {"gradegate.toml": "[["}, PROJECT)
    assert any("base's settings cannot be read" in text for text in texts_of(setup.warnings))


def test_what_is_wrong_with_heads_files_is_the_users_to_mend(tmp_path: Path) -> None:
    """At its line and column."""
    with pytest.raises(FileError) as refused:
        prepared(tmp_path, PROJECT, PROJECT | {SET: '{"eval_cases": [],}'})
    assert (refused.value.path, refused.value.line) == (SET, 1)


def test_what_head_loosens_is_found_with_the_pairs(tmp_path: Path) -> None:
    """In the settings and in the configs."""
    strict = {"evals/test_config.json": '{"criteria": {"response_match_score": 0.9}}'}
    loose = {
        "evals/test_config.json": '{"criteria": {"response_match_score": 0.1}}',
        "gradegate.toml": SETTINGS + "[gate]\ntolerance = 0.5\n",
    }
    setup = prepared(tmp_path, PROJECT | strict, PROJECT | loose)
    assert [reason.kind for reason in setup.loosened] == [ReasonKind.LOOSENED] * 2
    assert setup.policy.gate.tolerance == 0.02


def test_without_a_base_nothing_is_new_removed_or_loosened(tmp_path: Path) -> None:
    """There is nothing that it could be so beside."""
    setup = prepared(tmp_path, None, PROJECT)
    assert set(changes(setup).values()) == {Change.SAME}
    assert (setup.base, setup.loosened) == (None, ())


def test_cases_are_chosen_by_a_glob_over_their_ids(tmp_path: Path) -> None:
    """Removed ones too; a glob that matches nothing is a slip."""
    base = PROJECT | {SET: eval_set(*(case(n, turn("q", "a")) for n in ("a", "ab", "b")))}
    setup = prepared(tmp_path / "1", base, PROJECT, CaseFilter(("a*",)))
    assert changes(setup) == {"a": Change.EDITED, "ab": Change.REMOVED}
    with pytest.raises(InputError, match=r"no case matches `--case z\*`.* such as `a`"):
        prepared(tmp_path / "2", base, PROJECT, CaseFilter(("a*", "z*")))


def test_sets_given_as_input_are_read_on_both_sides(tmp_path: Path) -> None:
    """In place of those that either file names."""
    extra = {"more/x.evalset.json": eval_set(case("x", turn("q", "a")), name="x")}
    setup = prepared(tmp_path, PROJECT | extra, PROJECT | extra, evals=("more/*.evalset.json",))
    assert changes(setup) == {"x": Change.SAME}


def test_no_eval_sets_at_all_is_the_users_to_mend(tmp_path: Path) -> None:
    """The message says what they are called."""
    with pytest.raises(InputError, match=r"\*\.evalset\.json"):
        prepared(tmp_path, None, {"agent.py": AGENT})
