"""The four judged criteria give google-adk's scores, for fewer calls."""

import json
from pathlib import Path

import pytest

from gradegate.model.result import Status
from tests.parity.judged.cases import Batch, batches
from tests.parity.judged.judge import MarkedJudge
from tests.parity.judged.marks import Marks
from tests.parity.judged.sides import Scored, asker, disagreement, google_adks, ours
from tests.standins.gemini import GeminiStandin

# google-genai derives from aiohttp's session, which aiohttp discourages.

CASES, SEED = 60, 20


async def test_scores_are_google_adks_for_three_quarters_of_its_calls(tmp_path: Path) -> None:
    """Served the same verdicts, 5 % of them unusable, case and turn scores are equal."""
    work = batches(SEED, CASES)
    theirs_judge, our_judge = MarkedJudge(Marks(SEED)), MarkedJudge(Marks(SEED))
    with GeminiStandin(theirs_judge) as standin:
        theirs = [case for batch in work for case in google_adks(batch, standin.environ)["cases"]]
    with GeminiStandin(our_judge) as standin:
        async with asker(standin.environ, tmp_path / "store") as ask:
            mine = [case for batch in work for case in await ours(batch, ask)]
    assert len(mine) == CASES
    differing = [
        f"case {number}, {name}: {found}"
        for number, (one, other) in enumerate(zip(mine, theirs, strict=True))
        for name in one
        if (found := disagreement(one[name], other[name]))
    ]
    assert not differing, "\n".join(differing)
    _is_worth_comparing(mine)
    calls, reference = our_judge.times.total(), theirs_judge.times.total()
    print(f"\n{calls} calls of google-adk's {reference}: {calls / reference:.0%}")
    print(f"ours {dict(our_judge.times)}\ntheirs {dict(theirs_judge.times)}")
    assert calls <= 0.75 * reference


def _is_worth_comparing(results: list[Scored]) -> None:
    """Each criterion had passing and failing cases, and some that could not be had in full."""
    for name in results[0]:
        statuses = {case[name].status for case in results}
        assert statuses >= {Status.PASSED, Status.FAILED}, name
    reasons = [case["hallucinations_v1"].reason for case in results]
    assert any("usable" in (reason or "") for reason in reasons)
    turns = [turn for case in results for turn in case["hallucinations_v1"].invocations]
    assert any(turn.status is Status.INFORMATIONAL for turn in turns)


@pytest.mark.parametrize("unusable", [0.0, 0.05])
async def test_a_second_run_asks_nothing_that_had_an_outcome(
    tmp_path: Path, unusable: float
) -> None:
    """Verdicts are in the store; only questions that got no usable answer are put again."""
    (_, batch) = batches(SEED, 24)
    judge = MarkedJudge(Marks(SEED, unusable))
    with GeminiStandin(judge) as standin:
        async with asker(standin.environ, tmp_path / "store") as ask:
            first = await ours(batch, ask)
        judge.times.clear()
        async with asker(standin.environ, tmp_path / "store") as ask:
            second = await ours(batch, ask)
    missing = [r for case in first for r in case.values() if r.status is Status.NOT_EVALUATED]
    assert bool(missing) == bool(unusable)
    again = {"segment", "validate"} if missing else set()
    assert set(judge.times) <= again
    for one, other in zip(first, second, strict=True):
        for name, result in one.items():
            assert result.status is Status.NOT_EVALUATED or result == other[name]


async def test_the_same_answers_on_the_other_side_are_judged_once(tmp_path: Path) -> None:
    """Another run in which the same happened brings no call, though its ids are others."""
    (batch, _) = batches(SEED, 12)
    other = json.loads(json.dumps(batch.cases).replace("adk-0.", "adk-1.").replace("e-0.", "e-1."))
    assert list(batch.cases) != other
    judge = MarkedJudge(Marks(SEED))
    with GeminiStandin(judge) as standin:
        async with asker(standin.environ, tmp_path / "store") as ask:
            base = await ours(batch, ask)
            judge.times.clear()
            head = await ours(Batch(batch.criteria, tuple(other)), ask)
    assert judge.times.total() == 0
    assert head == base
