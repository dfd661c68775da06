from typing import Any

import pytest

from gradegate.model.evalset import Case, EvalCase, FunctionCall, IntermediateData
from gradegate.model.result import CaseResult, Status
from gradegate.model.runs import NotRun, Trace
from gradegate.pipeline.score import score_run
from tests.runs import MATCH, TOOLS, a_case
from tests.standins.scripted_judge import ScriptedJudge
from tests.standins.scripted_runner import trace_of

BOTH = {MATCH: 0.8, TOOLS: 1.0}


async def scores(
    case: Case, outcome: Trace | NotRun, judge: ScriptedJudge | None = None
) -> CaseResult:
    """The second run of a case, scored."""
    return await score_run(case, outcome, 2, judge or ScriptedJudge(lambda _q, _n: "no JSON"))


async def test_a_run_is_scored_by_every_criterion_of_its_config() -> None:
    """In stable order, under the case's own name and line."""
    case = a_case(criteria={TOOLS: 1.0, MATCH: 0.8}, line=12)
    result = await scores(case, trace_of(case, 2, "hi"))
    assert list(result.criteria) == [MATCH, "tool_call_count_v1", TOOLS]
    assert (result.key, result.run, result.line) == (case.key, 2, 12)
    assert (result.status, result.reason) == (Status.PASSED, None)


@pytest.mark.parametrize(
    ("said", "status"), [("hi", Status.PASSED), ("no idea", Status.FAILED), ("", Status.FAILED)]
)
async def test_one_failed_criterion_fails_the_case(said: str, status: Status) -> None:
    """An empty answer is an answer."""
    case = a_case(criteria=BOTH)
    assert (await scores(case, trace_of(case, 2, said))).status is status


async def test_a_run_that_the_agent_failed_has_failed_every_criterion() -> None:
    """It is errored, and has no score that could pass for one."""
    result = await scores(a_case(criteria=BOTH), trace_of(a_case(), 2, "!boom"))
    assert (result.status, result.reason) == (Status.ERRORED, "boom")
    for one in result.criteria.values():
        assert (one.status, one.score, one.reason) == (
            Status.FAILED,
            None,
            "the agent failed: boom",
        )
    assert result.criteria[MATCH].threshold == 0.8


async def test_a_run_that_was_not_made_is_not_evaluated() -> None:
    """Whatever kept it from being made is no failure of the agent's."""
    result = await scores(a_case(criteria=BOTH), NotRun("no recording"))
    assert (result.status, result.reason) == (Status.NOT_EVALUATED, "no recording")
    assert {one.status for one in result.criteria.values()} == {Status.NOT_EVALUATED}


async def test_a_criterion_that_cannot_be_judged_leaves_the_case_open() -> None:
    """Never passed by the others alone; the reason names the criterion."""
    case = a_case(criteria={MATCH: 0.8, "final_response_match_v2": 0.8})
    result = await scores(case, trace_of(case, 2, "hi"))
    assert result.status is Status.NOT_EVALUATED
    assert result.reason is not None
    assert result.reason.startswith("final_response_match_v2: ")


async def test_a_failure_is_a_failure_whatever_else_could_not_be_had() -> None:
    """One criterion is enough to fail a case."""
    case = a_case(criteria={MATCH: 0.8, "final_response_match_v2": 0.8})
    assert (await scores(case, trace_of(case, 2, "no idea"))).status is Status.FAILED


async def test_a_config_without_criteria_evaluates_nothing_and_says_what_to_add() -> None:
    """That is not a pass."""
    case = a_case(criteria={})
    result = await scores(case, trace_of(case, 2, "hi"))
    assert result.status is Status.NOT_EVALUATED
    assert "test_config.json" in (result.reason or "")


def expecting(**expected: Any) -> Case:
    """A case whose one turn expects this and nothing else."""
    turn = {"user_content": {"parts": [{"text": "hello"}]}, **expected}
    definition = EvalCase.model_validate({"eval_id": "paris", "conversation": [turn]})
    return a_case(criteria=BOTH).model_copy(update={"definition": definition})


async def test_a_criterion_without_a_reference_is_not_evaluated() -> None:
    """It neither passes nor fails, and the case is what its other criteria say."""
    case = expecting(final_response={"parts": [{"text": "hi"}]})
    result = await scores(case, trace_of(case, 2, "hi"))
    lacking = result.criteria[TOOLS]
    assert (lacking.status, lacking.score, lacking.applies) == (Status.NOT_EVALUATED, None, False)
    assert "`intermediate_data`" in (lacking.reason or "")
    assert result.status is Status.PASSED


async def test_a_case_that_nothing_measures_is_not_evaluated() -> None:
    """The reasons say what each criterion lacks."""
    case = expecting()
    result = await scores(case, trace_of(case, 2, "I cannot help."))
    assert result.status is Status.NOT_EVALUATED
    assert f"{MATCH}: no turn" in (result.reason or "")
    assert f"{TOOLS}: no turn" in (result.reason or "")


async def test_no_expected_calls_is_an_expectation() -> None:
    """Written down, it holds; an agent that calls nothing meets it."""
    case = expecting(intermediate_data={"tool_uses": []})
    result = await scores(case, trace_of(case, 2, "hi"))
    assert result.criteria[TOOLS].status is Status.PASSED
    assert result.criteria[MATCH].applies is False


async def test_a_judge_is_asked_through_the_one_door() -> None:
    """With what the agent said."""

    def valid(_question: Any, _sample: int) -> dict[str, str]:
        return {"reasoning": "fine", "verdict": "valid"}

    judge = ScriptedJudge(valid)
    case = a_case(criteria={"final_response_match_v2": 0.8})
    result = await scores(case, trace_of(case, 2, "hi"), judge)
    assert result.status is Status.PASSED
    assert len(judge.asked) == 1


async def test_a_criterion_for_simulated_users_does_not_apply_to_written_ones() -> None:
    """Nothing was lost by it: the case is what its other criteria say."""
    name = "per_turn_user_simulator_quality_v1"
    case = a_case(criteria={MATCH: 0.8, name: 0.8})
    result = await scores(case, trace_of(case, 2, "hi"))
    assert (result.status, result.criteria[name].applies) == (Status.PASSED, False)
    assert result.criteria[name].status is Status.NOT_EVALUATED


@pytest.mark.parametrize("ignored", [(), ("*.interruptId",), ("book.*",), ("book.options.id",)])
async def test_arguments_that_a_suite_ignores_are_not_compared(ignored: tuple[str, ...]) -> None:
    """At any depth, and for the comparison alone."""
    args = {"seat": "A1", "interruptId": "1", "options": {"id": 1}}
    call = {"name": "book", "args": args}
    definition = a_case(criteria={TOOLS: 1.0}).definition
    turn = definition.turns[0]
    expected = turn.model_copy(update={"intermediate_data": _calls(call)})
    other = {"name": "book", "args": {**args, "interruptId": "2", "options": {"id": 2}}}
    case = a_case(criteria={TOOLS: 1.0}).model_copy(
        update={
            "definition": definition.model_copy(update={"conversation": (expected,)}),
            "ignore_args": (*ignored, "*.id") if ignored == ("*.interruptId",) else ignored,
        }
    )
    trace = trace_of(case, 2, "hi").model_copy(
        update={"invocations": (turn.model_copy(update={"intermediate_data": _calls(other)}),)}
    )
    result = await scores(case, trace)
    passes = ignored in {("*.interruptId",), ("book.*",)}
    assert (result.status is Status.PASSED) is passes


def _calls(call: dict[str, Any]) -> IntermediateData:
    return IntermediateData(tool_uses=(FunctionCall.model_validate(call),))
