"""The evaluation in order: prepare, run, compare, decide, report."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from functools import partial
from pathlib import Path

from gradegate.compare.comparison import Comparison, compare
from gradegate.compare.gate import Undecided, decide, over_budget, soaked, unmeasured
from gradegate.compare.next_runs import BASELINE_RUNS, first_pass, first_runs, wanted_runs
from gradegate.compare.terms import Terms
from gradegate.judge.cache import ANSWER
from gradegate.model.evalset import CaseKey
from gradegate.model.masking import SecretMasker
from gradegate.model.notice import Notice, notice, texts_of
from gradegate.model.overrides import Shard
from gradegate.model.report import (
    BaseSide,
    Decision,
    HeadSide,
    Reason,
    ReasonKind,
    Report,
    State,
)
from gradegate.model.result import Results
from gradegate.model.runs import SideName
from gradegate.model.settings import ReportSettings
from gradegate.model.shard import ShardFile
from gradegate.model.tool_recording import ToolRecording
from gradegate.pipeline import durations, tools_used
from gradegate.pipeline.case_runner import CaseRunner
from gradegate.pipeline.prepare import EvaluationRequest, Prepared, prepare
from gradegate.pipeline.records import add_to_history, read_history
from gradegate.pipeline.services import Services, open_runner
from gradegate.pipeline.shards import (
    ShardOutcome,
    ShardSet,
    cut,
    nothing_to_run,
    origin_of,
    read_shards,
)
from gradegate.pipeline.touched import touched, touched_parts
from gradegate.pipeline.weaknesses import toothless


@dataclass(frozen=True)
class Evaluation:
    """A report, and the scores behind it of each side that was run."""

    report: Report
    settings: ReportSettings
    results: Mapping[SideName, Results] = field(default_factory=dict)
    recordings: Mapping[str, ToolRecording] = field(default_factory=dict)
    """What tools answered, by eval set, where that was to be recorded."""

    def masked(self, masker: SecretMasker) -> "Evaluation":
        """The same without the secrets that an agent or a judge may have repeated."""
        results = {side: masker.hide_in(one) for side, one in self.results.items()}
        taped = {name: masker.hide_in(one) for name, one in self.recordings.items()}
        return Evaluation(masker.hide_in(self.report), self.settings, results, taped)


async def evaluate(request: EvaluationRequest, services: Services) -> Evaluation:
    """Evaluate both sides, compare and decide."""
    with prepare(request) as prepared:
        prepared.refuse_agentless()
        if prepared.nothing_changed and not request.cases.cases:
            unchanged = Evaluation(_nothing_changed(prepared), prepared.policy.report)
            return unchanged.masked(services.masker)
        shards = read_shards(request.shards, prepared)
        if shards.troubles:
            incomplete = Evaluation(_incomplete(prepared, shards), prepared.policy.report)
            return incomplete.masked(services.masker)
        parts = touched_parts(prepared)
        async with open_runner(prepared, services) as runner:
            shards.load_into(runner, services.store)
            terms = terms_of(prepared, runner, services.today)
            history = read_history(prepared, runner, services.history)
            await runner.make_wanted(partial(wanted_runs, terms, history=history))
    shards.add_costs_to(runner)
    comparison = compare(terms, runner.runs, history)
    reasons = (
        *comparison.reasons,
        *prepared.loosened,
        *over_budget(comparison.criteria, terms.gate.budget),
    )
    decision = decide(reasons, comparison.undecided, comparison.terms, request.accepted)
    decision, soak = soaked(decision) if terms.gate.soak else (decision, ())
    green = await toothless([pair.head for pair in prepared.pairs if pair.head])
    told = (*soak, *comparison.remarks, *green, *tools_used.told(prepared, runner.runs))
    report = _report(prepared, runner, replace(comparison, remarks=told), decision, services.today)
    report = report.model_copy(update={"touched": touched(parts, runner.runs.head)})
    results = {side: _results(side, prepared, runner) for side in runner.sides}
    taped = tools_used.recordings(prepared, runner.runs)
    return Evaluation(report, prepared.policy.report, results, taped).masked(runner.secrets)


async def run_shard(
    request: EvaluationRequest, services: Services, shard: Shard, at_least: int = 1
) -> ShardOutcome:
    """Make the first pass of one part of the cases; another job decides by all of them."""
    with prepare(request) as whole:
        whole.refuse_agentless()
        cases = [pair.key for pair in whole.pairs if pair.head]
        seconds = durations.known(services.store, whole.job, cases)
        part = set(cut(cases, shard.total, seconds)[shard.number - 1])
        prepared = replace(whole, pairs=tuple(pair for pair in whole.pairs if pair.key in part))
        if whole.nothing_changed or not part:
            return nothing_to_run(whole, shard).masked(services.masker)
        async with open_runner(prepared, services) as runner:
            terms = terms_of(prepared, runner, services.today, at_least)
            history = read_history(prepared, runner, services.history)
            await runner.make_wanted(partial(first_runs, terms, history=history))
    file = ShardFile(
        shard=shard,
        origin=origin_of(whole),
        cases=tuple(pair.key for pair in prepared.pairs),
        runs=tuple(runner.made()),
        answers=services.store.news(ANSWER),
        ran=tuple(side for side in runner.sides if runner.was_run(side)),
        usage=runner.usage,
        notices=tuple(runner.warnings),
    )
    part_of = {"shard": str(shard), "configuration": whole.configuration}
    results = {
        side: _results(side, prepared, runner).model_copy(update=part_of) for side in runner.sides
    }
    return ShardOutcome(file, results).masked(runner.secrets)


async def baseline(request: EvaluationRequest, services: Services) -> Results:
    """Evaluate one side into the store, often enough to hold others against it.

    What shards have not done is done here.
    """
    with prepare(request) as prepared:
        prepared.refuse_agentless()
        shards = read_shards(request.shards, prepared)
        async with open_runner(prepared, services) as runner:
            shards.load_into(runner, services.store)
            terms = terms_of(prepared, runner, services.today, at_least=BASELINE_RUNS)
            await runner.make_wanted(lambda _: first_pass(terms))
            at = int(services.now.timestamp())
            add_to_history(prepared, runner, services.history, at=at, fresh=services.is_fresh)
    shards.add_costs_to(runner)
    results = _results("head", prepared, runner)
    told = (*prepared.warnings, *runner.warnings, *shards.troubles)
    update = {"warnings": texts_of(told), "notices": told}
    return runner.secrets.hide_in(results.model_copy(update=update))


def terms_of(prepared: Prepared, runner: CaseRunner, today: date, at_least: int = 1) -> Terms:
    """What is compared, now that it is known which agents can be run."""
    runs = {suite.name: max(suite.runs, at_least) for suite in prepared.policy.suites["head"]}
    return Terms(
        pairs=prepared.pairs,
        gate=prepared.policy.gate,
        runs=runs,
        first_pass=dict(_first_pass(prepared, runner, runs)),
        base_suites=frozenset(runner.sides.get("base", ())),
        rerunnable=frozenset(
            (side, suite)
            for side, agents in runner.sides.items()
            for suite, agent in agents.items()
            if agent.can_rerun
        ),
        quarantined=_quarantined(prepared, today),
    )


def _first_pass(
    prepared: Prepared, runner: CaseRunner, runs: dict[str, int]
) -> Iterator[tuple[tuple[SideName, CaseKey], int]]:
    """What each suite asks for; of base also what is kept already, for a steadier base.

    Both sides run head's case.
    """
    for pair in prepared.pairs:
        if pair.head is None:
            continue
        suite = pair.head.suite
        for side, agents in runner.sides.items():
            if suite not in agents or (side == "base" and pair.base is None):
                continue
            known = runner.known(side, pair.head) if side == "base" else 0
            asked = agents[suite].runner.runs_of(pair.head, runs[suite])
            yield (side, pair.key), max(asked, min(known, BASELINE_RUNS))


def _quarantined(prepared: Prepared, today: date) -> frozenset[CaseKey]:
    entries = prepared.policy.quarantine
    places = {(entry.eval_set, entry.eval_id) for entry in entries if entry.until >= today}
    keys = (pair.key for pair in prepared.pairs)
    return frozenset(key for key in keys if (key.eval_set, key.eval_id) in places)


def _expired(prepared: Prepared, today: date) -> list[Notice]:
    return [
        notice(
            "quarantine.ended",
            case=entry.eval_id,
            eval_set=entry.eval_set,
            until=entry.until,
            owner=entry.owner,
        )
        for entry in prepared.policy.quarantine
        if entry.until < today
    ]


def _report(
    prepared: Prepared,
    runner: CaseRunner,
    comparison: Comparison,
    decision: Decision,
    today: date,
) -> Report:
    told = (
        *prepared.warnings,
        *runner.warnings,
        *_expired(prepared, today),
        *comparison.remarks,
        *unmeasured(comparison.criteria, prepared.policy.gate.budget),
    )
    return Report(
        decision=decision,
        base=_base_side(prepared, runner),
        head=_head_side(prepared),
        criteria=comparison.criteria,
        cases=comparison.cases,
        would_find=comparison.would_find,
        usage=runner.usage,
        warnings=texts_of(told),
        notices=told,
        isolation=runner.isolation,
    )


def _head_side(prepared: Prepared) -> HeadSide:
    return HeadSide(commit=prepared.head.side.commit, fingerprint=prepared.head.fingerprint)


def _base_side(prepared: Prepared, runner: CaseRunner) -> BaseSide:
    base = prepared.base
    if base is None or "base" not in runner.sides:
        return BaseSide()
    has_runs = any(runner.runs.base.values())
    source = "run" if runner.was_run("base") else "store" if has_runs else "history"
    return BaseSide(commit=base.side.commit, source=source, fingerprint=base.fingerprint)


def _results(side: SideName, prepared: Prepared, runner: CaseRunner) -> Results:
    about = prepared.base if side == "base" and prepared.base else prepared.head
    return runner.results(side, about.side.commit, about.fingerprint)


def _nothing_changed(prepared: Prepared) -> Report:
    return _without_runs(prepared, Decision(state=State.PASS))


def _incomplete(prepared: Prepared, shards: ShardSet) -> Report:
    """Part of the runs tells nothing: how strict the gate is hangs on all of them."""
    terms = Terms(pairs=(), gate=prepared.policy.gate, runs={}, first_pass={})
    undecided = [Undecided(Reason.of(ReasonKind.INCONCLUSIVE, one)) for one in shards.troubles]
    return _without_runs(prepared, decide(prepared.loosened, undecided, terms))


def _without_runs(prepared: Prepared, decision: Decision) -> Report:
    base = prepared.base
    return Report(
        decision=decision,
        base=BaseSide(
            commit=base.side.commit if base else "",
            source="store",
            fingerprint=base.fingerprint if base else "",
        ),
        head=_head_side(prepared),
        warnings=texts_of(prepared.warnings),
        notices=prepared.warnings,
    )


def kept(results: Results, store: Path) -> str:
    """What a baseline kept, in a sentence."""
    statuses = Counter(case.status.value for case in results.cases)
    what = results.commit[:7] or "the work tree"
    counted = ", ".join(f"{number} {status}" for status, number in sorted(statuses.items()))
    lines = [f"kept the baseline of {what} in {store}: {counted or 'no cases'}"]
    return "\n".join([*lines, *(f"warning: {text}" for text in results.warnings)])
