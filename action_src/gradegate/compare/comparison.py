"""What a reader needs to see of a case that needs attention.

All that was measured, as the report has it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from gradegate import locales
from gradegate.compare.case_results import PairedResult
from gradegate.compare.criterion_table import (
    by_criterion,
    compare_criteria,
    informational,
    may_have_regressed,
    shifts_of,
    worst_shifts_of,
)
from gradegate.compare.gate import Rules, decide, over_budget, unmeasured, with_budgets
from gradegate.compare.pairing import Pair
from gradegate.model.evalset import Case, CaseKey, Invocation
from gradegate.model.report import (
    BaseSide,
    CaseComparison,
    CriterionComparison,
    Evidence,
    HeadSide,
    JudgedItem,
    Reason,
    Report,
    SideAnswer,
    ToolUse,
    TurnEvidence,
    Verdict,
)
from gradegate.model.result import CaseResult, InvocationResult, Usage
from gradegate.model.runs import Runs, ScoredRun, Trace

LONGEST_TEXT = 20_000
"""Of one quoted text; a report is read by people and posted by programs with limits."""


def evidence_of(case: Case, base: Sequence[ScoredRun], head: Sequence[ScoredRun]) -> Evidence:
    """The turns of one telling run a side: the first that failed on head, that passed on base."""
    before, after = _telling(base, passing=True), _telling(head, passing=False)
    turns = zip_longest(
        case.definition.conversation or (), _invocations(before), _invocations(after)
    )
    return Evidence(
        turns=tuple(
            TurnEvidence(
                asked=_clip(_asked(expected, earlier, now)),
                expected=_said(expected, wanted=True),
                base=_said(earlier),
                head=_said(now),
                judged=tuple(_judged(number, before, after)),
            )
            for number, (expected, earlier, now) in enumerate(turns)
        ),
        base_error=_error(before),
        head_error=_error(after),
    )


def _telling(runs: Sequence[ScoredRun], *, passing: bool) -> ScoredRun | None:
    wanted = [run for run in runs if (run.result.status == "passed") is passing]
    return next(iter((*wanted, *runs)), None)


def _invocations(run: ScoredRun | None) -> tuple[Invocation, ...]:
    return run.outcome.invocations if run and isinstance(run.outcome, Trace) else ()


def _error(run: ScoredRun | None) -> str | None:
    error = run.outcome.error if run and isinstance(run.outcome, Trace) else None
    return _clip(error) if error else None


def _asked(*sources: Invocation | None) -> str:
    return next((one.user_content.text for one in sources if one), "")


def _said(invocation: Invocation | None, *, wanted: bool = False) -> SideAnswer | None:
    """What was answered; an expected turn without an answer expects none in particular."""
    if invocation is None or (wanted and invocation.final_response is None):
        return None
    tools = tuple(ToolUse(name=call.name or "", args=call.args) for call in invocation.tool_calls)
    return SideAnswer(text=_clip(invocation.response_text), tools=tools)


def _judged(number: int, base: ScoredRun | None, head: ScoredRun | None) -> Iterator[JudgedItem]:
    """The judge's word on a turn wherever it is no, or differs between the sides."""
    after = head.result if head else None
    for name in sorted(after.criteria if after else ()):
        now = _verdicts(_turn(after, name, number))
        earlier = _verdicts(_turn(base.result if base else None, name, number))
        for subject, (verdict, reason, is_good) in now.items():
            was = earlier.get(subject)
            if not is_good or (was and was[0] != verdict):
                yield JudgedItem(
                    criterion=name,
                    subject=_clip(subject),
                    base=was[0] if was else None,
                    head=verdict,
                    reason=_clip(reason) or None,
                )


def _turn(result: CaseResult | None, name: str, number: int) -> InvocationResult | None:
    one = result.criteria.get(name) if result else None
    return one.invocations[number] if one and number < len(one.invocations) else None


def _verdicts(turn: InvocationResult | None) -> dict[str, tuple[str, str, bool]]:
    """What a judge said of a turn: subject → verdict, reason, whether that is good.

    The answer as a whole has no name.
    """
    if turn is None:
        return {}
    found: dict[str, tuple[str, str, bool]] = {}
    for rubric in turn.rubrics:
        is_good = bool(rubric.score)
        verdict = locales.NOTHING if rubric.score is None else "yes" if is_good else "no"
        found[rubric.rubric_id] = (verdict, rubric.rationale or "", is_good)
    for one in turn.details.get("sentences", ()):
        found[one["sentence"]] = (one["label"], one.get("reasoning") or "", bool(one["grounded"]))
    if "verdict" in turn.details:
        verdict = str(turn.details["verdict"])
        reason = str(turn.details.get("reasoning") or "")
        found[""] = (verdict, reason, bool(turn.score))
    return found


def _clip(text: str) -> str:
    return text if len(text) <= LONGEST_TEXT else f"{text[:LONGEST_TEXT]}…"


QUIET = frozenset({Verdict.UNCHANGED, Verdict.IMPROVED, Verdict.NEW})


@dataclass(frozen=True)
class Findings:
    """Both sides' runs and what is thought of them."""

    pairs: tuple[Pair, ...]
    judgements: Sequence[PairedResult]
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
    judged: dict[CaseKey, list[PairedResult]] = {}
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
    base: Mapping[CaseKey, Sequence[ScoredRun]] = found.base or {}
    leaks = shifts_of(grouped, base, found.head)
    worst = worst_shifts_of(grouped, base, found.head)
    return (
        compare_criteria(grouped, leaks, rules.gate, look=found.look),
        may_have_regressed(leaks, worst, rules.gate, look=found.look),
    )


def _informational(found: Findings, rules: Rules) -> tuple[CriterionComparison, ...]:
    return informational(
        found.pairs, found.base, found.head, rules.quarantined, alpha=rules.gate.alpha
    )


def _case(
    pair: Pair, judgements: Sequence[PairedResult], found: Findings, quarantined: frozenset[CaseKey]
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


def _evidence(pair: Pair, judgements: Sequence[PairedResult], found: Findings) -> Evidence:
    needs_attention = any(
        one.verdict not in QUIET or one.head.standing != "passed" for one in judgements
    )
    if pair.head is None or not needs_attention:
        return Evidence()
    base = found.base.get(pair.key, ()) if found.base else ()
    return evidence_of(pair.head, base, found.head.get(pair.key, ()))
