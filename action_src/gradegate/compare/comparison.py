"""Both sides compared: computed from the runs, never updated."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gradegate import locales
from gradegate.compare import no_base
from gradegate.compare.base_history import NO_HISTORY, BaseHistory
from gradegate.compare.case_results import PairedResult, paired_results
from gradegate.compare.causes import with_causes
from gradegate.compare.criterion_table import (
    by_criterion,
    compare_criteria,
    informational,
    may_have_regressed,
    shifts_of,
    worst_shifts_of,
)
from gradegate.compare.evidence import evidence_of, first_question
from gradegate.compare.gate import (
    Undecided,
    criterion_regressions,
    findings_of_cases,
    removed_cases,
    undecided_cases,
    undecided_criteria,
    with_budgets,
)
from gradegate.compare.next_runs import confirmations, passes_made
from gradegate.compare.no_base import with_sound_base
from gradegate.compare.pairing import Pair
from gradegate.compare.sensitivity import would_find
from gradegate.compare.stored_base import refreshed, remarks
from gradegate.compare.terms import Terms
from gradegate.model.notice import Notice, notice
from gradegate.model.report import (
    CaseComparison,
    CaseCriterion,
    Change,
    CriterionComparison,
    Evidence,
    Reason,
    ReasonKind,
    Verdict,
    WouldFind,
)
from gradegate.model.result import CaseResult, Status
from gradegate.model.runs import Runs, ScoredRun, SideRuns

_ENOUGH_REASONS = 3
QUIET = frozenset({Verdict.UNCHANGED, Verdict.IMPROVED, Verdict.NEW})


@dataclass(frozen=True)
class Comparison:
    """What the runs say."""

    cases: tuple[CaseComparison, ...]
    criteria: tuple[CriterionComparison, ...]
    """Over all cases, what only informs included, each with what its budget allows."""
    reasons: tuple[Reason, ...]
    undecided: tuple[Undecided, ...]
    """What could not be evaluated, and could have been a reason."""
    terms: Terms
    """Those that hold now that it is known which suites have a base that works."""
    remarks: tuple[Notice, ...] = ()
    """What a reader should know of the runs."""
    would_find: WouldFind | None = None
    """What the runs could not have missed."""


def compare(terms: Terms, runs: Runs, history: BaseHistory = NO_HISTORY) -> Comparison:
    """Compare every case and every criterion."""
    settled = confirmations(terms, runs, history)
    runs = history.beside(runs)
    told = (*remarks(terms, runs), *no_base.remarks(terms, refreshed(runs)))
    terms, runs = with_sound_base(terms, refreshed(runs))
    paired = [paired_results(pair, runs.base, runs.head, settled) for pair in terms.pairs]
    results = [one for own in paired for one in own]
    criteria, doubtful, found = _criteria(results, terms, runs)
    budgets = terms.gate.budget
    cases = with_causes(
        [_case(pair, own, terms, runs) for pair, own in zip(terms.pairs, paired, strict=True)],
        terms.pairs,
    )
    informing = informational(
        terms.pairs, runs.base, runs.head, terms.quarantined, alpha=terms.gate.alpha
    )
    return Comparison(
        cases=cases,
        criteria=with_budgets((*criteria, *_gone_criteria(terms.pairs), *informing), budgets),
        reasons=(
            *findings_of_cases(results, terms),
            *criterion_regressions(criteria, terms.gate),
            *removed_cases(terms.pairs),
        ),
        undecided=(
            *nothing_measured(cases),
            *always_failing(terms, runs),
            *undecided_cases(results, terms),
            *undecided_criteria(criteria, doubtful),
        ),
        remarks=(*told, *(probably_worse(results) if terms.gate.warn else ())),
        terms=terms,
        would_find=found,
    )


def _criteria(
    results: Sequence[PairedResult], terms: Terms, runs: Runs
) -> tuple[tuple[CriterionComparison, ...], frozenset[str], WouldFind | None]:
    """The criteria over all cases, those that missing scores leave open, and what is found."""
    grouped = by_criterion(results, terms.quarantined)
    shifts = shifts_of(grouped, runs.base, runs.head)
    worst = worst_shifts_of(grouped, runs.base, runs.head)
    look = passes_made(terms, runs) if terms.passes_can_be_bought else None
    return (
        compare_criteria(grouped, shifts, terms.gate, look=look),
        may_have_regressed(shifts, worst, terms.gate, look=look),
        would_find(terms, shifts, look=look),
    )


def probably_worse(results: Sequence[PairedResult]) -> Iterator[Notice]:
    """Cases that look worse, and not clearly enough to block; the clearest first."""
    found = [one for one in results if one.settled and one.settled.probably_worse]
    for one in sorted(found, key=lambda one: -((one.settled and one.settled.bayes_factor) or 0)):
        assert one.settled is not None  # noqa: S101 - chosen by it
        base = [sum(counts) for counts in zip(one.settled.earlier, one.settled.base, strict=True)]
        told = {
            "case": one.pair.key.eval_id,
            "criterion": one.criterion,
            "passed": locales.count(one.settled.head.passed),
            "runs": locales.count(one.settled.head.runs),
            "base_passed": locales.count(base[0]),
            "base_runs": locales.count(base[1]),
        }
        if one.settled.more_runs:
            more = locales.count(one.settled.more_runs)
            yield notice("probably_worse", **told, more=more)
        else:
            yield notice("probably_worse.open", **told)


def nothing_measured(cases: Sequence[CaseComparison]) -> Iterator[Undecided]:
    """No case at all, or none that any criterion says anything of: nobody looked at the agent."""
    there = [case for case in cases if case.change is not Change.REMOVED]
    if any(case.unmeasured is None for case in there):
        return
    why = {case.unmeasured.text: case.unmeasured for case in there if case.unmeasured}
    told = (
        notice("undecided.nothing_measured", why=tuple(why.values())[:_ENOUGH_REASONS])
        if there
        else notice("undecided.no_cases")
    )
    yield Undecided(Reason.of(ReasonKind.INCONCLUSIVE, told))


def always_failing(terms: Terms, runs: Runs) -> Iterator[Undecided]:
    """Agents that failed every run on both sides: a green check would speak of nothing seen."""
    for suite in terms.runs:
        after, before = _of_suite(suite, runs.head), _of_suite(suite, runs.base)
        failed = all(result.status is Status.ERRORED for result in (*after, *before))
        if after and before and failed:
            why = (after[0].reason or "").strip().splitlines()
            told = notice(
                "agent.always_fails",
                suite=suite,
                why=why[0] if why else notice("agent.says_nothing"),
            )
            yield Undecided(Reason.of(ReasonKind.INCONCLUSIVE, told))


def _of_suite(suite: str, side: SideRuns) -> list[CaseResult]:
    return [run.result for key, runs in side.items() if key.suite == suite for run in runs]


def _case(pair: Pair, results: Sequence[PairedResult], terms: Terms, runs: Runs) -> CaseComparison:
    return CaseComparison(
        suite=pair.key.suite,
        eval_set=pair.key.eval_set,
        eval_id=pair.key.eval_id,
        line=pair.line,
        change=pair.change,
        moved_from=pair.moved_from,
        quarantined=pair.key in terms.quarantined,
        criteria={**_gone(pair), **{one.criterion: one.comparison() for one in results}},
        asked=first_question(pair.case),
        evidence=_evidence(pair, results, runs),
        unmeasured=None if results else _unmeasured(runs.of("head", pair.key)),
    )


def _unmeasured(runs: Sequence[ScoredRun]) -> Notice | None:
    """Why a case that was run has no result at all."""
    if not runs:
        return None
    return runs[0].result.why or notice("score.no_criteria")


def _gone_criteria(pairs: Sequence[Pair]) -> Iterator[CriterionComparison]:
    """What base's cases are scored by and none of head's is."""
    had = {name for pair in pairs if pair.base for name in pair.base.config.criteria}
    left = {name for pair in pairs if pair.head for name in pair.head.config.criteria}
    for name in sorted(had - left):
        yield CriterionComparison(name=name, verdict=Verdict.GONE)


def _gone(pair: Pair) -> dict[str, CaseCriterion]:
    """What base's case is scored by and head's is not, or head has no such case."""
    if pair.base is None:
        return {}
    left = pair.head.config.criteria if pair.head else {}
    names = sorted(name for name in pair.base.config.criteria if name not in left)
    return {name: CaseCriterion(verdict=Verdict.GONE) for name in names}


def _evidence(pair: Pair, results: Sequence[PairedResult], runs: Runs) -> Evidence:
    needs_attention = any(
        one.verdict not in QUIET or one.head.standing != "passed" for one in results
    )
    if pair.head is None or not needs_attention:
        return Evidence()
    return evidence_of(pair.head, runs.of("base", pair.key), runs.of("head", pair.key))
