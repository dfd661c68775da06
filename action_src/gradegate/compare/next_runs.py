"""Which runs to have: one pure function of what there is."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from gradegate.compare.base_history import NO_HISTORY, BaseHistory
from gradegate.compare.case_results import (
    PairedResult,
    gated_names,
    outcomes,
    paired_results,
    summarize,
)
from gradegate.compare.confirm import Settled, settle
from gradegate.compare.criterion_shift import MOST_PASSES, another_pass_wanted
from gradegate.compare.criterion_table import by_criterion, shifts_of
from gradegate.compare.memory import Rule, is_suspicious, told_by_a_pass, weigh
from gradegate.compare.no_base import with_sound_base
from gradegate.compare.screening import NO_RUNS, Confirmation, Outcomes, Suspect, SuspectId
from gradegate.compare.stats.bayes import ORDINARY, Day, day_of
from gradegate.compare.stats.exact import Count
from gradegate.compare.stored_base import is_unsteady, refresh, refreshed
from gradegate.compare.terms import Terms
from gradegate.compare.without_reruns import FixedRuns, judge_fixed
from gradegate.model.evalset import CaseKey
from gradegate.model.report import Verdict
from gradegate.model.result import CaseResult, Status
from gradegate.model.runs import FRESH, SIDES, Role, RunRequest, Runs, SideName

BASELINE_RUNS = 2
"""A base that many pull requests are held against must not have been lucky once."""


def wanted_runs(
    terms: Terms, runs: Runs, history: BaseHistory = NO_HISTORY
) -> tuple[RunRequest, ...]:
    """The runs to have next; none where nothing more can be learnt.

    A function of the runs made so far, of base's history and of nothing else: a killed job that
    reads them back from its journal goes on exactly where it was.
    """
    begin = first_runs(terms, runs, history)
    if begin:
        return begin
    runs = history.beside(runs)
    begin = runs.missing(refresh(terms, runs))
    if begin:
        return begin
    sound, now = with_sound_base(terms, refreshed(runs))
    return now.missing(extra_passes(sound, now)) or fresh_runs(terms, runs, history)


def first_runs(
    terms: Terms, runs: Runs, history: BaseHistory = NO_HISTORY
) -> tuple[RunRequest, ...]:
    """What is still to be run for the first time; each case for itself, so that a shard knows."""
    return runs.missing(first_pass(terms, history)) or runs.missing(history.missing(terms, runs))


def wanted_of_part(  # noqa: PLR0913 - a part of what, of how many
    terms: Terms,
    begin: Collection[RunRequest],
    cases: Collection[CaseKey],
    parts: int,
    runs: Runs,
    *,
    history: BaseHistory = NO_HISTORY,
) -> tuple[RunRequest, ...]:
    """Of what is wanted next, the part of these cases, and what may be wanted of them after it.

    How strict the test is hangs on all suspects, of which the other parts screen theirs at the same
    time: it is taken to be as strict as if each part had as many. What turns out to be too
    much nobody takes in; what is too little, the job that decides makes itself.
    """
    first = runs.missing(one for one in begin if one.case in cases)
    if first or not all(one.role in FRESH for one in begin):
        return first
    gate = terms.gate.model_copy(update={"alpha": terms.gate.alpha / parts})
    own = tuple(pair for pair in terms.pairs if pair.key in cases)
    return fresh_runs(replace(terms, pairs=own, gate=gate), history.beside(runs), history)


def first_pass(terms: Terms, history: BaseHistory = NO_HISTORY) -> Iterator[RunRequest]:
    """What every case of both sides is run for once; not base's where there is a history of it."""
    for pair in terms.pairs:
        for side in terms.sides_of(pair):
            if side == "head" or pair.key not in history:
                yield RunRequest(side, pair.key, Role.FIRST, terms.first_pass[side, pair.key])


def extra_passes(terms: Terms, runs: Runs) -> tuple[RunRequest, ...]:
    """Another full pass of both sides, while a criterion looks close."""
    if not terms.passes_can_be_bought or any(_has_fresh(terms, runs)):
        return ()
    look = passes_made(terms, runs)
    another = tuple(_pass(terms, look))
    if _is_begun(another, terms, runs):
        return another
    if look < MOST_PASSES:
        grouped = by_criterion(results_of(terms, runs, {}), terms.quarantined)
        shifts = shifts_of(grouped, runs.base, runs.head)
        gate = terms.gate
        if another_pass_wanted(
            shifts, gate.tolerance_for, alpha=gate.alpha, look=look, rule=gate.rule
        ):
            return another
    return ()


def _is_begun(one_pass: Iterable[RunRequest], terms: Terms, runs: Runs) -> bool:
    """Whether some of a pass is made: then all of it is, for half a pass tells nothing."""
    return any(
        len(runs.of(side, key, role)) > total - terms.runs[key.suite]
        for side, key, role, total in one_pass
    )


def passes_made(terms: Terms, runs: Runs) -> int:
    """How many full passes there are: the first, and those bought."""
    made = [
        len(runs.of(side, key, Role.AGAIN)) // per_pass
        for side, key, _, per_pass in _pass(terms, 1)
    ]
    return 1 + min(made, default=0)


def _pass(terms: Terms, number: int) -> Iterator[RunRequest]:
    """So many passes beyond the first, of what both sides have."""
    for pair in terms.pairs:
        if pair.head and pair.base:
            for side in terms.sides_of(pair):
                yield RunRequest(side, pair.key, Role.AGAIN, number * terms.runs[pair.key.suite])


def _has_fresh(terms: Terms, runs: Runs) -> Iterator[bool]:
    """Whether suspects are being run already: then the passes are all made."""
    for pair in terms.pairs:
        for side in terms.sides_of(pair):
            yield any(run.role in FRESH for run in runs.of(side, pair.key))


def fresh_runs(
    terms: Terms, runs: Runs, history: BaseHistory = NO_HISTORY
) -> tuple[RunRequest, ...]:
    """Runs that tell a broken case from a flaky one; one serves all criteria of its case."""
    unsteady = bool(history) and is_unsteady(terms, runs)
    sound, now = with_sound_base(terms, refreshed(runs))
    return merged(_settled(sound, now, history, is_another_day=unsteady).wanted)


def confirmations(
    terms: Terms, runs: Runs, history: BaseHistory = NO_HISTORY
) -> Mapping[SuspectId, Confirmation]:
    """What fresh runs, or an exact test of recorded ones, came to."""
    beside = history.beside(runs)
    sound, now = with_sound_base(terms, refreshed(beside))
    unsteady = is_unsteady(terms, beside)
    weighed = _settled(sound, now, history, is_another_day=unsteady)
    found = {
        **_recorded(sound, now),
        **dict(_passing(sound, now, history)),
        **weighed.confirmations,
    }
    if not unsteady:
        return found
    return {at: one.on_an_unsteady_day() for at, one in found.items()}


def merged(wanted: Iterable[RunRequest]) -> tuple[RunRequest, ...]:
    """Of several requests for the same the largest."""
    most: dict[tuple[CaseKey, Role, SideName], int] = {}
    for one in wanted:
        place = (one.case, one.role, one.side)
        most[place] = max(most.get(place, 0), one.total)
    return tuple(
        RunRequest(side, key, role, total) for (key, role, side), total in sorted(most.items())
    )


def results_of(
    terms: Terms, runs: Runs, settled: Mapping[SuspectId, Confirmation]
) -> list[PairedResult]:
    """Every criterion of every pair, as far as it is known."""
    return [
        one for pair in terms.pairs for one in paired_results(pair, runs.base, runs.head, settled)
    ]


def _settled(terms: Terms, runs: Runs, history: BaseHistory, *, is_another_day: bool) -> Settled:
    """With `confirm_runs = 0` nobody wants fresh runs: the first pass has the last word."""
    gate = terms.gate
    if not gate.confirm_runs:
        return Settled({}, ())
    failing = list(_failing(terms, runs))
    parts = 2 if gate.has_critical else 1
    if gate.rule == "exact":
        suspects = [_suspect(one, runs, terms) for one in failing if _is_suspect(one, terms)]
        return settle(suspects, alpha=gate.alpha, confirm_runs=gate.confirm_runs, parts=parts)
    day = _day(terms, runs, history) if failing and history else ORDINARY
    rule = Rule(gate.alpha / parts, gate.confirm_runs, day, is_another_day)
    return _weighed(failing, terms, runs, history, rule)


def _weighed(
    failing: Sequence[PairedResult], terms: Terms, runs: Runs, history: BaseHistory, rule: Rule
) -> Settled:
    """The same by base's history, as far as there is one."""
    suspects, as_ever = [], {}
    for one in failing:
        earlier = history.tally(one.id) if one.base is not None else NO_RUNS
        if not earlier.runs:
            if _is_suspect(one, terms):
                suspects.append(_suspect(one, runs, terms))
        elif terms.can_rerun(one.pair) and is_suspicious(earlier, one.head.count, rule.day):
            suspects.append(_suspect(one, runs, terms, earlier))
        else:
            as_ever[one.id] = Confirmation(
                Verdict.FLAKY if earlier.passed else Verdict.UNCHANGED, earlier=earlier
            )
    found = weigh(suspects, rule)
    return Settled({**as_ever, **found.confirmations}, found.wanted)


def _passing(
    terms: Terms, runs: Runs, history: BaseHistory
) -> Iterator[tuple[SuspectId, Confirmation]]:
    """Cases that pass now and did not always in base's earlier runs, which may be chance."""
    for pair in terms.pairs if history else ():
        if pair.head is None or not runs.of("base", pair.key):
            continue
        first = runs.of("head", pair.key, Role.FIRST)
        for name in gated_names(first):
            earlier, head = history.tally((pair.key, name)), summarize(first, name)
            if earlier.passed < earlier.runs and head.standing == "passed":
                verdict = told_by_a_pass(earlier, head.count)
                yield (pair.key, name), Confirmation(verdict, earlier=earlier)


def _day(terms: Terms, runs: Runs, history: BaseHistory) -> Day:
    """What kind of day it is for the whole set: head's first runs by base's earlier ones."""
    return day_of(
        (history.tally((pair.key, name)), summarize(first, name).count)
        for pair in terms.pairs
        if pair.key not in terms.quarantined
        for first in (runs.of("head", pair.key, Role.FIRST),)
        for name in gated_names(first)
        if history.tally((pair.key, name)).runs
    )


def _failing(terms: Terms, runs: Runs) -> Iterator[PairedResult]:
    """What fails on head in the first pass; most cases pass, and are not looked at twice."""
    for pair in terms.pairs:
        if any(run.result.status is not Status.PASSED for run in runs.of("head", pair.key)):
            for one in paired_results(pair, runs.base, runs.head, {}):
                if one.head.passed < one.head.evaluated:
                    yield one


def _is_suspect(one: PairedResult, terms: Terms) -> bool:
    """Fails on head, can be run again, and base passed, failed too, or has nothing to say."""
    if one.head.standing != "failed":
        return False
    if one.base is None:
        return ("head", one.pair.key.suite) in terms.rerunnable
    return one.base.standing != "unknown" and terms.can_rerun(one.pair)


def _suspect(one: PairedResult, runs: Runs, terms: Terms, earlier: Count = NO_RUNS) -> Suspect:
    key, name = one.id
    failed = one.base is not None and one.base.standing == "failed"
    level = terms.gate.level_of(name, key)
    return Suspect(
        id=one.id,
        is_new=one.base is None,
        failed_on_both=failed and not earlier.runs,
        quarantined=key in terms.quarantined or level == "advisory",
        critical=level == "critical",
        earlier=earlier,
        recheck=outcomes(runs.of("base", key, Role.RECHECK), name),
        screen=outcomes(runs.of("head", key, Role.SCREEN), name),
        base=outcomes(runs.of("base", key, Role.CONFIRM), name),
        head=outcomes(runs.of("head", key, Role.CONFIRM), name),
    )


def _recorded(terms: Terms, runs: Runs) -> Mapping[SuspectId, Confirmation]:
    """Where an agent cannot be run again, the recordings are all there is: one exact test."""
    cases = [
        FixedRuns(
            id=(pair.key, one.criterion),
            base=_recorded_outcomes(runs, "base", one),
            head=_recorded_outcomes(runs, "head", one),
            quarantined=pair.key in terms.quarantined,
        )
        for pair in terms.pairs
        if not terms.can_rerun(pair) and _several(runs, pair.key)
        for one in paired_results(pair, runs.base, runs.head, {})
        if one.base is not None
    ]
    return judge_fixed(cases, alpha=terms.gate.alpha)


def _several(runs: Runs, key: CaseKey) -> bool:
    """Whether more than one run was planned; between single ones a flip is a flip."""
    return any(run.result.run > 1 for side in SIDES for run in runs.of(side, key, Role.FIRST))


def _recorded_outcomes(runs: Runs, side: SideName, one: PairedResult) -> Outcomes:
    """Of all runs that were planned: one that is missing among the numbers was lost."""
    made = {run.result.run: run for run in runs.of(side, one.pair.key, Role.FIRST)}
    found: list[bool | None] = []
    for number in range(1, max(made, default=0) + 1):
        if number not in made:
            found.append(None)
        elif _was_to_be_scored(made[number].result, one.criterion):
            found += outcomes([made[number]], one.criterion)
    return tuple(found)


def _was_to_be_scored(result: CaseResult, criterion: str) -> bool:
    return criterion in result.criteria or result.status is Status.NOT_EVALUATED
