import pytest

from gradegate.model.notice import notice
from gradegate.model.runs import NotRun, Role, ScoredRun, Trace
from gradegate.model.shard import RunOfShard
from tests.runs import a_case, scored

CASE = a_case()
TRACE = Trace(**CASE.key._asdict(), error="boom", seconds=1.5)
OUT_OF_TIME = NotRun.because(notice("run.out_of_time"))


@pytest.mark.parametrize(
    "run",
    [
        ScoredRun(Role.FIRST, TRACE, scored(CASE, 1, "e").result),
        ScoredRun(Role.FIRST, TRACE, scored(CASE, 2, "p").result, of_another_job=True),
        ScoredRun(
            Role.CONFIRM,
            TRACE,
            scored(CASE, 3, "f").result,
            verdicts_known=frozenset({"hallucinations_v1", "safety_v1"}),
        ),
    ],
)
def test_a_run_is_the_same_on_another_machine(run: ScoredRun) -> None:
    """Through a file and back."""
    assert through_a_file(run) == run


def test_a_run_that_was_not_made_says_why() -> None:
    """In words that can be told in another language, as before."""
    result = scored(CASE, 1, "?").result.model_copy(
        update={"notice": OUT_OF_TIME.notice, "reason": OUT_OF_TIME.reason}
    )
    back = through_a_file(ScoredRun(Role.FIRST, OUT_OF_TIME, result))
    assert isinstance(back.outcome, NotRun)
    assert back.outcome.why == OUT_OF_TIME.why
    assert back.outcome.why.code == "run.out_of_time"


def through_a_file(run: ScoredRun) -> ScoredRun:
    """As a shard hands it on."""
    written = RunOfShard(
        side="head",
        role=run.role,
        result=run.result,
        trace=run.outcome if isinstance(run.outcome, Trace) else None,
        of_another_job=run.of_another_job,
        verdicts_known=tuple(sorted(run.verdicts_known)),
    )
    return RunOfShard.model_validate_json(written.model_dump_json()).scored()
