"""One run's scores by every criterion that its eval set asks for."""

import asyncio
from collections.abc import Iterable

from gradegate.criteria import registry
from gradegate.criteria.base.criterion import Criterion
from gradegate.criteria.custom import NO_ENVIRONMENT, custom_metrics_of
from gradegate.criteria.efficiency import efficiency_of
from gradegate.evalsets.ignored_args import comparable
from gradegate.model.evalset import Case
from gradegate.model.notice import Notice, notice, with_code
from gradegate.model.result import CaseResult, CriterionResult, Status
from gradegate.model.runs import NotRun, Trace
from gradegate.ports import Ask, MetricCaller

NO_SCENARIO = notice("score.no_scenario")


async def score_run(
    case: Case, outcome: Trace | NotRun, run: int, ask: Ask, measure: MetricCaller | None = None
) -> CaseResult:
    """Score a run; one that the agent failed has failed every criterion.

    Without `measure` nobody can call a user's own metrics: they are not evaluated.
    """
    scores, own = await asyncio.gather(
        _scores(case, outcome, ask), _custom_scores(case, outcome, measure)
    )
    scores = dict(sorted({**scores, **own}.items()))
    status, why = _status(outcome, scores)
    return CaseResult(
        suite=case.suite,
        eval_set=case.eval_set,
        eval_id=case.eval_id,
        run=run,
        line=case.line,
        status=status,
        notice=with_code(why),
        reason=why and why.text,
        criteria=scores,
    )


async def _scores(case: Case, outcome: Trace | NotRun, ask: Ask) -> dict[str, CriterionResult]:
    criteria = criteria_of(case)
    if isinstance(outcome, NotRun):
        return {one.name: _missing(one, outcome.why) for one in criteria}
    if outcome.error is not None:
        return {one.name: _failed(one, outcome.error) for one in criteria}
    found = await asyncio.gather(*(_score(one, case, outcome, ask) for one in criteria))
    scores = {one.name: score for one, score in zip(criteria, found, strict=True)}
    return {**efficiency_of(outcome), **scores}


async def _custom_scores(
    case: Case, outcome: Trace | NotRun, measure: MetricCaller | None
) -> dict[str, CriterionResult]:
    metrics = custom_metrics_of(case.config)
    if isinstance(outcome, NotRun):
        return {one.name: _told(one.unscored(outcome.reason), outcome.why) for one in metrics}
    if outcome.error is not None:
        failed = _agent_failed(outcome.error)
        return {one.name: _told(one.failed(failed.text), failed) for one in metrics}
    if measure is None:
        return {one.name: one.unscored(NO_ENVIRONMENT) for one in metrics}
    found = await asyncio.gather(*(one.score(case, outcome, measure) for one in metrics))
    return {one.name: score for one, score in zip(metrics, found, strict=True)}


async def _score(criterion: Criterion, case: Case, trace: Trace, ask: Ask) -> CriterionResult:
    lacking = criterion.lacks_reference(case.definition)
    if lacking is not None:
        return CriterionResult(threshold=criterion.threshold, notice=lacking, applies=False)
    if criterion.needs.scenario and not case.definition.is_simulated:
        return CriterionResult(threshold=criterion.threshold, notice=NO_SCENARIO, applies=False)
    if criterion.compares_args and case.ignore_args:
        definition, trace = comparable(case, trace)
        return await criterion.score(definition, trace, ask)
    return await criterion.score(case.definition, trace, ask)


def warm_up(cases: Iterable[Case]) -> None:
    """Import what the cases' criteria will need; for a thread, while agents are starting."""
    for name in {name for case in cases for name in case.config.criteria}:
        criterion = registry.criterion_class(name)
        if criterion is not None:
            criterion.warm_up()


def criteria_of(case: Case) -> list[Criterion]:
    """What the case is scored by, in stable order."""
    return [
        registry.parse(name, entry)
        for name, entry in sorted(case.config.criteria.items())
        if name not in case.config.custom_metrics and name not in registry.INFORMATIONAL
    ]


def _missing(criterion: Criterion, why: Notice) -> CriterionResult:
    return CriterionResult(threshold=criterion.threshold, notice=with_code(why), reason=why.text)


def _told(result: CriterionResult, why: Notice) -> CriterionResult:
    """The result with its reason as it can be told in another language."""
    return result.model_copy(update={"notice": with_code(why)})


def _failed(criterion: Criterion, error: str) -> CriterionResult:
    return CriterionResult(
        threshold=criterion.threshold, status=Status.FAILED, notice=_agent_failed(error)
    )


def _agent_failed(error: str) -> Notice:
    return notice("score.agent_failed", error=error)


def _status(
    outcome: Trace | NotRun, scores: dict[str, CriterionResult]
) -> tuple[Status, Notice | None]:
    """The case's own: one failed criterion fails it, whatever else could not be had."""
    if isinstance(outcome, NotRun):
        return Status.NOT_EVALUATED, outcome.why
    if outcome.error is not None:
        return Status.ERRORED, Notice(text=outcome.error)
    gated = {
        name: one
        for name, one in scores.items()
        if one.applies and one.status is not Status.INFORMATIONAL
    }
    if not gated:
        return Status.NOT_EVALUATED, _nothing_measured(scores)
    if any(one.status is Status.FAILED for one in gated.values()):
        return Status.FAILED, None
    missing = [one for one in gated.items() if one[1].status is Status.NOT_EVALUATED]
    return (Status.NOT_EVALUATED, _reasons(missing)) if missing else (Status.PASSED, None)


def _nothing_measured(scores: dict[str, CriterionResult]) -> Notice:
    """Why no criterion says anything of the case."""
    unfit = [one for one in scores.items() if not one[1].applies]
    return _reasons(unfit) if unfit else notice("score.no_criteria")


def _reasons(unscored: Iterable[tuple[str, CriterionResult]]) -> Notice:
    said = [notice("score.of_criterion", criterion=name, why=one.why) for name, one in unscored]
    return notice("score.missing", reasons=said)
