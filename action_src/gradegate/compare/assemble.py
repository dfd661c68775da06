"""All that was measured, as the report has it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from gradegate.compare.budget import over_budget, unmeasured, with_budgets
from gradegate.compare.cases import Judgement
from gradegate.compare.criteria import (
    by_criterion,
    compare_criteria,
    leaks_of,
    may_have_regressed,
    worst_leaks_of,
)
from gradegate.compare.evidence import evidence_of
from gradegate.compare.gate import Rules, decide
from gradegate.compare.informational import informational
from gradegate.compare.pairing import Pair
from gradegate.model.case import CaseKey
from gradegate.model.evaluation import Runs, Scored
from gradegate.model.report import (
    BaseSide,
    CaseComparison,
    CriterionComparison,
    Evidence,
    HeadSide,
    Reason,
    Report,
    Verdict,
)
from gradegate.model.result import Usage

QUIET = frozenset({Verdict.UNCHANGED, Verdict.IMPROVED, Verdict.NEW})


@dataclass(frozen=True)
class Findings:
    """Both sides' runs and what is thought of them."""

    pairs: tuple[Pair, ...]
    judgements: Sequence[Judgement]
    base: Runs | None
    head: Runs
    look: int | None
    """Full passes made, where more could have been bought."""


@dataclass(frozen=True)
class Frame:
    """What a report says beside its findings."""

    base: BaseSide
    head: HeadSide
    usage: Usage
    warnings: tuple[str, ...] = ()


def assemble(found: Findings, rules: Rules, frame: Frame, others: Iterable[Reason] = ()) -> Report:
    """Compare, decide, and gather the evidence for what needs attention."""
    criteria, doubtful = _criteria(found, rules)
    budgets = rules.gate.budget
    told = with_budgets((*criteria, *_informational(found, rules)), budgets)
    decision = decide(
        rules,
        found.pairs,
        found.judgements,
        criteria,
        (*others, *over_budget(told, budgets)),
        open_criteria=doubtful,
    )
    judged: dict[CaseKey, list[Judgement]] = {}
    for one in found.judgements:
        judged.setdefault(one.pair.key, []).append(one)
    return Report(
        decision=decision,
        base=frame.base,
        head=frame.head,
        criteria=told,
        cases=tuple(
            _case(pair, judged.get(pair.key, ()), found, rules.quarantined) for pair in found.pairs
        ),
        usage=frame.usage,
        warnings=(*frame.warnings, *unmeasured(told, budgets)),
    )


def criteria_of(found: Findings, rules: Rules) -> tuple[CriterionComparison, ...]:
    """The criteria over all cases."""
    return _criteria(found, rules)[0]


def _criteria(
    found: Findings, rules: Rules
) -> tuple[tuple[CriterionComparison, ...], frozenset[str]]:
    """The criteria over all cases, and those that missing scores leave open."""
    grouped = by_criterion(found.judgements, rules.quarantined)
    base: Mapping[CaseKey, Sequence[Scored]] = found.base or {}
    leaks = leaks_of(grouped, base, found.head)
    worst = worst_leaks_of(grouped, base, found.head)
    return (
        compare_criteria(grouped, leaks, rules.gate, look=found.look),
        may_have_regressed(leaks, worst, rules.gate, look=found.look),
    )


def _informational(found: Findings, rules: Rules) -> tuple[CriterionComparison, ...]:
    return informational(
        found.pairs, found.base, found.head, rules.quarantined, alpha=rules.gate.alpha
    )


def _case(
    pair: Pair, judgements: Sequence[Judgement], found: Findings, quarantined: frozenset[CaseKey]
) -> CaseComparison:
    return CaseComparison(
        suite=pair.key.suite,
        eval_set=pair.key.eval_set,
        eval_id=pair.key.eval_id,
        line=pair.line,
        change=pair.change,
        moved_from=pair.moved_from,
        quarantined=pair.key in quarantined,
        criteria={one.criterion: one.comparison() for one in judgements},
        evidence=_evidence(pair, judgements, found),
    )


def _evidence(pair: Pair, judgements: Sequence[Judgement], found: Findings) -> Evidence:
    needs_attention = any(
        one.verdict not in QUIET or one.head.standing != "passed" for one in judgements
    )
    if pair.head is None or not needs_attention:
        return Evidence()
    base = found.base.get(pair.key, ()) if found.base else ()
    return evidence_of(pair.head, base, found.head.get(pair.key, ()))
