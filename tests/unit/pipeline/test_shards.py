from collections.abc import Mapping
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradegate.model.evalset import CaseKey
from gradegate.model.notice import texts_of
from gradegate.model.overrides import Overrides, Shard
from gradegate.model.result import CaseResult, Status
from gradegate.model.runs import Role, Side
from gradegate.model.shard import RunOfShard, ShardFile, SideOfShard
from gradegate.pipeline.case_filter import CaseFilter
from gradegate.pipeline.prepare import Prepared, read_sides
from gradegate.pipeline.shards import ShardSet, cut, origin_of, read_shards
from gradegate.sides.checkout import Sides
from tests.project import AGENT, SETTINGS, case, eval_set, turn
from tests.runs import a_case

NAMES = "abcdef"
SET = "evals/basic.evalset.json"
CASES = [a_case(name).key for name in NAMES]


def names(parts: tuple[tuple[CaseKey, ...], ...]) -> list[str]:
    """The cases of each part."""
    return ["".join(case.eval_id for case in part) for part in parts]


def seconds(**took: float) -> Mapping[CaseKey, float]:
    """How long these cases take."""
    return {case: took[case.eval_id] for case in CASES if case.eval_id in took}


def test_without_durations_cases_go_by_turns() -> None:
    """Some parts are empty where there are more of them than cases."""
    assert names(cut(CASES, 3, {})) == ["ad", "be", "cf"]
    assert names(cut(CASES, 8, {})) == [*NAMES, "", ""]


def test_the_longest_goes_first_to_the_part_that_has_least() -> None:
    """In their own order within a part; one that was never timed takes as long as the mean."""
    assert names(cut(CASES, 2, seconds(a=9, b=1, c=1, d=1, e=3, f=3))) == ["a", "bcdef"]
    assert names(cut(CASES, 2, seconds(a=8, b=8, c=1, d=1, e=1))) == ["af", "bcde"]


@given(st.lists(st.floats(0, 1000), min_size=1, max_size=6), st.integers(1, 9), st.randoms())
def test_every_case_is_in_one_part_and_none_is_much_longer(
    took: list[float], total: int, draw: Any
) -> None:
    """Within four thirds of the best, as longest-processing-time is; in whatever order asked."""
    cases = CASES[: len(took)]
    known = dict(zip(cases, took, strict=True))
    parts = cut(cases, total, known)
    assert sorted("".join(names(parts))) == sorted(case.eval_id for case in cases)
    shuffled = draw.sample(cases, len(cases))
    assert list(map(sorted, names(cut(shuffled, total, known)))) == list(map(sorted, names(parts)))
    longest = max(sum(known[case] for case in part) for part in parts)
    assert longest <= 4 / 3 * best(took, total) + 1e-6


def best(took: list[float], total: int) -> float:
    """The least that the longest part can take, by trying all of them."""
    loads = {(0.0,) * total}
    for one in took:
        loads = {
            tuple(sorted((*load[:n], load[n] + one, *load[n + 1 :])))
            for load in loads
            for n in range(total)
        }
    return min(max(load) for load in loads)


@pytest.fixture
def whole(tmp_path: Path) -> Prepared:
    """An evaluation of six cases."""
    files = {
        "agent.py": AGENT,
        "gradegate.toml": SETTINGS,
        SET: eval_set(*(case(name, turn("hello", "hi")) for name in NAMES)),
    }
    for name, text in files.items():
        path = tmp_path / "head" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    root = tmp_path / "head"
    return read_sides(Sides(Side("a" * 40, root, root), None), Overrides(), CaseFilter())


def shard(whole: Prepared, number: int, total: int, cases: str, **more: Any) -> ShardFile:
    """A shard that ran these cases."""
    keys = [pair.key for pair in whole.pairs if pair.key.eval_id in cases]
    runs = [
        RunOfShard(
            side="head",
            role=Role.FIRST,
            result=CaseResult(
                suite=key.suite,
                eval_set=key.eval_set,
                eval_id=key.eval_id,
                status=Status.NOT_EVALUATED,
                reason="the judge did not answer",
            ),
        )
        for key in keys
    ]
    file = ShardFile(
        shard=Shard(number=number, total=total),
        origin=origin_of(whole),
        cases=tuple(keys),
        runs=tuple(runs),
    )
    return file.model_copy(update=more)


def merged(folder: Path, whole: Prepared, *files: ShardFile) -> ShardSet:
    """What is made of these files, as they are downloaded."""
    for number, file in enumerate(files):
        path = folder / "shards" / f"artifact-{number}" / file.name
        path.parent.mkdir(parents=True)
        path.write_text(file.model_dump_json(), encoding="utf-8")
    (folder / "shards").mkdir(exist_ok=True)
    return read_shards(folder / "shards", whole)


def test_the_order_in_which_files_arrive_changes_nothing(tmp_path: Path, whole: Prepared) -> None:
    """They are known by their numbers."""
    files = [shard(whole, n, 3, NAMES[n - 1 :: 3]) for n in (1, 2, 3)]
    for number, order in enumerate(permutations(files)):
        found = merged(tmp_path / str(number), whole, *order)
        assert (found.files, found.troubles) == (tuple(files), ())


def other(whole: Prepared, **more: Any) -> dict[str, Any]:
    """Of another origin."""
    return {"origin": origin_of(whole).model_copy(update=more)}


@pytest.mark.parametrize(
    ("files", "told"),
    [
        ([], "no file of a shard was found"),
        ([(1, 3, "ad"), (3, 3, "cf")], "shard 2/3 is missing"),
        ([(1, 2, "ace"), (2, 2, "bdf"), (2, 2, "bdf")], "shard 2/2 is there more than once"),
        ([(1, 2, "ace"), (1, 3, "bdf")], "cut in different ways, of 2, 3 in all"),
        ([(1, 2, "acef"), (2, 2, "bdf")], "case f is in more than one shard (1/2, 2/2)"),
        ([(1, 2, "ac"), (2, 2, "bdf")], "case e is in no shard"),
    ],
)
def test_what_is_not_whole_is_named(
    tmp_path: Path, whole: Prepared, files: list[tuple[int, int, str]], told: str
) -> None:
    """And so is what is cut by other durations."""
    found = merged(tmp_path, whole, *(shard(whole, *one) for one in files))
    assert told in "\n".join(texts_of(found.troubles))
    assert len(found.troubles) == 1


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({"head": SideOfShard(commit="b" * 40)}, "of another commit: bbbbbbb, not aaaaaaa"),
        ({"base": SideOfShard(commit="b" * 40)}, "of another commit: bbbbbbb, not none"),
        ({"configuration": "x"}, "with other settings, inputs or cases"),
        ({"version": "0.0.1"}, "run by gradegate 0.0.1, and this is"),
    ],
)
def test_a_part_of_something_else_is_named_and_left_out(
    tmp_path: Path, whole: Prepared, more: dict[str, Any], told: str
) -> None:
    """What belongs here is missing then."""
    strange = shard(whole, 2, 2, "bdf", **other(whole, **more))
    found = merged(tmp_path, whole, shard(whole, 1, 2, "ace"), strange)
    texts = texts_of(found.troubles)
    assert told in texts[0]
    assert "shard 2/2 (artifact-1/shard-2-of-2.json)" in texts[0]
    assert "shard 2/2 is missing" in texts[1]
    assert [file.shard.number for file in found.files] == [1]


def test_other_inputs_are_another_configuration(whole: Prepared) -> None:
    """Such as more runs of each case."""
    root = whole.head.side.root
    sides = Sides(Side("a" * 40, root, root), None)
    again = read_sides(sides, Overrides(), CaseFilter())
    assert origin_of(again) == origin_of(whole)
    for different in (
        read_sides(sides, Overrides(runs=3), CaseFilter()),
        read_sides(sides, Overrides(), CaseFilter(("a", "b"))),
    ):
        assert origin_of(different) != origin_of(whole)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{", "shard-1-of-1.json:1"),
        ('{"schema": "gradegate/report/v1"}', "gradegate/shard/v1"),
        ('{"schema": "gradegate/shard/v1", "shard": 3}', "`shard` must be an object"),
    ],
)
def test_a_file_that_is_none_of_ours_is_named(
    tmp_path: Path, whole: Prepared, text: str, told: str
) -> None:
    """With the place of what is wrong with it."""
    (tmp_path / "shard-1-of-1.json").write_text(text, encoding="utf-8")
    assert told in "\n".join(texts_of(read_shards(tmp_path, whole).troubles))


def test_runs_of_other_cases_or_out_of_order_are_refused(tmp_path: Path, whole: Prepared) -> None:
    """A shard speaks of its own cases, and of their runs from the first on."""
    good = shard(whole, 1, 1, NAMES)
    first = good.runs[0]
    second = first.model_copy(update={"result": first.result.model_copy(update={"run": 2})})
    refused: list[tuple[dict[str, Any], str]] = [
        ({"cases": good.cases[1:]}, "has a run of `a`, which is no case of it"),
        ({"runs": (second, *good.runs[1:])}, "has runs of `a` on head out of order"),
    ]
    for number, (update, told) in enumerate(refused):
        found = merged(tmp_path / str(number), whole, good.model_copy(update=update))
        assert told in texts_of(found.troubles)[0]
