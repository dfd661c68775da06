"""Base's earlier outcomes: what a record is known by, read for a comparison, added to by a job."""

import secrets
from collections.abc import Iterator, Mapping, Sequence

from gradegate.compare.base_history import NO_HISTORY, BaseHistory
from gradegate.compare.case_results import gated_names, passed, value_of
from gradegate.compare.screening import SuspectId
from gradegate.criteria import registry
from gradegate.model.budget import parse_budget
from gradegate.model.evalset import Case
from gradegate.model.history import BaseRuns, History, Record
from gradegate.model.question import content_digest
from gradegate.model.result import Status
from gradegate.model.runs import Role, ScoredRun, Trace
from gradegate.model.settings import Gate, JudgeSettings
from gradegate.pipeline.case_runner import CaseRunner
from gradegate.pipeline.prepare import Prepared
from gradegate.ports import HistoryStore

VERSION = 1
"""Of what a key stands for; a change of it begins all records anew."""
_DIGITS = 32


def record_key(case: Case, criterion: str, judge: JudgeSettings) -> str:
    """What a record is known by: what the case asks, how it is scored, and who judges it."""
    config = case.config
    simulator = config.user_simulator_config if case.definition.is_simulated else None
    content = [
        VERSION,
        case.suite,
        case.eval_id,
        case.digest,
        criterion,
        config.criteria.get(criterion),
        simulator and simulator.model_dump(mode="json"),
        judge_of(case, criterion, judge),
        registry.prompt_versions(criterion),
    ]
    return content_digest(content)[:_DIGITS]


def judge_of(case: Case, criterion: str, judge: JudgeSettings) -> str:
    """The model that judges; empty for a criterion without a judge."""
    cls = registry.criterion_class(criterion)
    if cls is None or not cls.needs.judge:
        return ""
    parsed = registry.parse(criterion, case.config.criteria[criterion])
    options = getattr(parsed, "judge_model_options", None)
    return str(getattr(options, "judge_model", "") or judge.model)


def read_history(prepared: Prepared, runner: CaseRunner, store: HistoryStore) -> BaseHistory:
    """What base did before, for the cases whose agents can be run again on both sides."""
    gate = prepared.policy.gate
    if gate.rule == "exact" or "base" not in runner.sides:
        return NO_HISTORY
    keys = dict(_keys(prepared, runner))
    found = store.records(keys.values())
    return BaseHistory(
        {at: found[key] for at, key in keys.items() if key in found},
        stands_in=not _needs_base(gate),
    )


def _needs_base(gate: Gate) -> bool:
    """Whether a budget is relative to what base takes today."""
    return any(parse_budget(budget).kind != "limit" for budget in gate.budget.values())


def _keys(prepared: Prepared, runner: CaseRunner) -> Iterator[tuple[SuspectId, str]]:
    for pair in prepared.pairs:
        if pair.head is None or pair.base is None:
            continue
        agents = [runner.sides[side].get(pair.key.suite) for side in ("base", "head")]
        if all(agent is not None and agent.can_rerun for agent in agents):
            for criterion in _own_criteria(pair.head):
                key = record_key(pair.head, criterion, prepared.policy.judge)
                yield (pair.key, criterion), key


def _own_criteria(case: Case) -> list[str]:
    """All but users' metrics, of which only their code knows what they measure."""
    return [name for name in case.config.criteria if name not in case.config.custom_metrics]


def add_to_history(
    prepared: Prepared, runner: CaseRunner, store: HistoryStore, *, at: int, fresh: bool
) -> int:
    """Keep what a base job's first-pass runs came to; how many outcomes that is."""
    side = prepared.head
    told = {
        suite: BaseRuns(
            # What is read from the store is one measurement, however often it is read.
            job=secrets.token_hex(8) if fresh else content_digest([identity, None])[:16],
            outcomes="",
            commit=side.side.commit,
            at=at,
        )
        for suite, identity in side.identities.items()
        if runner.sides["head"][suite].can_rerun and _works(suite, runner)
    }
    records = dict(_records(prepared, runner, told))
    store.add(History(records=records))
    return sum(len(record.outcomes) for record in records.values())


def _works(suite: str, runner: CaseRunner) -> bool:
    """Whether an agent did not fail every time: that is no behaviour, but a missing key."""
    runs = (run for key, own in runner.runs.head.items() if key.suite == suite for run in own)
    return any(run.result.status is not Status.ERRORED for run in runs)


def _records(
    prepared: Prepared, runner: CaseRunner, told: Mapping[str, BaseRuns]
) -> Iterator[tuple[str, Record]]:
    judge = prepared.policy.judge
    for pair in prepared.pairs:
        case = pair.head
        if case is None or case.suite not in told:
            continue
        first = runner.runs.of("head", case.key, Role.FIRST)
        own = set(_own_criteria(case))
        for name in gated_names(first):
            jobs = _outcomes(first, name, told[case.suite]) if name in own else None
            if jobs is not None:
                yield (
                    record_key(case, name, judge),
                    Record(
                        **case.key._asdict(),
                        criterion=name,
                        judge=judge_of(case, name, judge),
                        jobs=(jobs,),
                    ),
                )


def _outcomes(first: Sequence[ScoredRun], name: str, told: BaseRuns) -> BaseRuns | None:
    """A judge's word that was known beforehand is not heard again: it is one opinion."""
    counted = [
        (outcome, value_of(run.result.criteria[name], name), _model_of(run))
        for run in first
        if name in run.result.criteria and name not in run.verdicts_known
        for outcome in (passed(run.result.criteria[name]),)
        if outcome is not None
    ]
    if not counted:
        return None
    scores = tuple(0.0 if score is None else score for _, score, _ in counted)
    is_graded = any(score not in (0.0, 1.0) for score in scores)
    return told._replace(
        outcomes="".join("01"[outcome] for outcome, _, _ in counted),
        scores=scores if is_graded else (),
        model=counted[0][2],
    )


def _model_of(run: ScoredRun) -> str:
    """The model that the agent's events name."""
    if not isinstance(run.outcome, Trace):
        return ""
    data = (turn.intermediate_data for turn in run.outcome.invocations)
    events = (event for one in data if one for event in one.invocation_events or ())
    return next((event.model_version for event in events if event.model_version), "")
