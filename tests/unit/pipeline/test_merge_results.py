from typing import Any

import pytest

from gradegate.model.errors import InputError
from gradegate.model.result import CriterionUsage, Results, Usage
from gradegate.pipeline.results_files import merge_results
from tests.runs import a_case, scored


def shard(part: str | None, *names: str, **more: Any) -> Results:
    """A results file with these cases, once each."""
    cases = tuple(scored(a_case(name), 1, "p").result for name in names)
    return Results(shard=part, cases=cases, **{"commit": "a" * 40, "fingerprint": "f", **more})


def merged(*shards: Results) -> Results:
    """The shards put together, under the names of their order."""
    return merge_results([(f"{n}.json", one) for n, one in enumerate(shards, start=1)])


def test_shards_come_together_in_stable_order() -> None:
    """Whatever order they are named in, the whole is the same and is no shard."""
    one, other = shard("1/2", "a", "c"), shard("2/2", "b", "d")
    whole = merged(one, other)
    assert [case.eval_id for case in whole.cases] == ["a", "b", "c", "d"]
    assert (whole.shard, whole.commit, whole.fingerprint) == (None, "a" * 40, "f")
    assert merged(other, one) == whole


def test_costs_add_up_and_the_slowest_says_how_long_it_took() -> None:
    """Shards run side by side."""
    usages = [
        Usage(
            judge_calls=calls,
            input_tokens=calls * 10,
            seconds=seconds,
            by_criterion={name: CriterionUsage(judge_calls=calls)},
        )
        for calls, seconds, name in ((2, 5.0, "a"), (3, 4.0, "a"), (4, 1.0, "b"))
    ]
    parts = [shard(f"{n}/3", str(n), usage=usage) for n, usage in enumerate(usages, start=1)]
    usage = merged(*parts).usage
    assert (usage.judge_calls, usage.input_tokens, usage.seconds) == (9, 90, 5.0)
    assert {name: one.judge_calls for name, one in usage.by_criterion.items()} == {"a": 5, "b": 4}


def test_warnings_are_kept_once() -> None:
    """Each shard says much the same."""
    parts = [shard(f"{n}/2", str(n), warnings=("same", f"own {n}")) for n in (1, 2)]
    assert merged(*parts).warnings == ("same", "own 1", "own 2")


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ([shard("1/3", "a"), shard("3/3", "b")], "shard 2/3 is missing"),
        ([shard("1/2", "a"), shard("1/2", "b")], "shard 1/2 is there twice"),
        ([shard("1/2", "a"), shard("2/3", "b")], "cut in different ways: 1/2, 2/3"),
        ([shard("1/2", "a"), shard(None, "b")], "2.json is no shard"),
        ([shard("1/2", "a"), shard("2/2", "a")], "'a' in evals.* is in both 1.json and 2.json"),
        ([shard(None, "a"), shard(None, "a")], "is in both 1.json and 2.json"),
        ([shard("1/2", "a"), shard("2/2", "b", commit="b" * 40)], "2.json has the commit 'bbb"),
        ([shard("1/2", "a"), shard("2/2", "b", fingerprint="g")], "2.json has the fingerprint 'g'"),
        (
            [shard("1/2", "a", configuration="x"), shard("2/2", "b", configuration="y")],
            "2.json was run with other settings, inputs or cases than 1.json",
        ),
    ],
)
def test_what_does_not_belong_together_is_refused(parts: list[Results], said: str) -> None:
    """Overlaps, gaps and mixed commits, with the file to blame."""
    with pytest.raises(InputError, match=said):
        merged(*parts)


def test_one_whole_file_is_itself() -> None:
    """A job that was never cut."""
    assert merged(shard(None, "a")) == shard(None, "a")
    assert merged(shard("1/1", "a")) == shard(None, "a")
