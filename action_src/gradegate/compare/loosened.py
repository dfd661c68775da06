"""What a pull request makes easier for itself: only what has an order counts.

A changed expected answer or a reworded rubric has none; it is shown as an edit.
"""

from collections.abc import Iterable, Iterator, Sequence
from math import inf

from gradegate.compare.pairing import Pair
from gradegate.criteria import registry
from gradegate.model.budget import is_looser
from gradegate.model.evalset import EvalCase, EvalConfig
from gradegate.model.notice import Notice, notice
from gradegate.model.report import Reason, ReasonKind
from gradegate.model.settings import Gate, Level, Quarantine, Settings, Suite

LEVELS: tuple[Level, ...] = ("critical", "blocking", "advisory")
"""The strictest first."""


def loosened(
    pairs: Sequence[Pair], base: Settings | None, head: Settings | None
) -> tuple[Reason, ...]:
    """Every rule that head relaxes, in the settings, the configs and the cases' rubrics."""
    return (
        *(Reason.of(ReasonKind.LOOSENED, told) for told in _settings(base, head)),
        *(Reason.of(ReasonKind.LOOSENED, told) for told in _judge(base, head)),
        *_configs(pairs),
        *_case_rubrics(pairs),
        *_references(pairs),
    )


def loosened_suites(
    pairs: Sequence[Pair], base: Sequence[Suite], head: Sequence[Suite], *, has_file: bool = True
) -> tuple[Reason, ...]:
    """What head's suites, as they are written, ask less of the agent than base's did.

    Limits that nobody wrote down on base are no rule that head could relax.
    """
    ours = {suite.name: suite for suite in base}
    theirs = {suite.name: suite for suite in head}
    moved = dict.fromkeys(
        (pair.base.suite, pair.head.suite)
        for pair in pairs
        if pair.base and pair.head and pair.base.suite in ours
    )
    return tuple(
        Reason.of(ReasonKind.LOOSENED, told, suite=now)
        for was, now in moved
        for told in (
            *_answers(ours[was], theirs[now], known=now in ours),
            *(_limits(ours[was], theirs[now]) if has_file else ()),
        )
    )


def _answers(was: Suite, now: Suite, *, known: bool) -> Iterator[Notice]:
    if was.runs_live and now.traces is not None:
        yield notice("loosened.recording", suite=now.name, base=was.name)
    elif not known:
        yield notice("loosened.suite", suite=now.name, base=was.name)


def _limits(was: Suite, now: Suite) -> Iterator[Notice]:
    """What head's agent may use more of, and how its tools may be answered more easily."""
    for name in ("turn_timeout", "case_timeout", "memory_mb", "max_parallel"):
        before, after = getattr(was, name), getattr(now, name)
        if after > before:
            told = {"name": name, "was": f"{before:g}", "now": f"{after:g}"}
            yield notice("loosened.limit", suite=now.name, **told)
    for name, easier in (("tools", "recorded"), ("tools_missing", "live")):
        before, after = getattr(was, name), getattr(now, name)
        if after != before and after == easier:
            yield notice("loosened.limit", suite=now.name, name=name, was=before, now=after)
    for argument in now.ignore_args:
        if argument not in was.ignore_args:
            yield notice("loosened.ignored", suite=now.name, argument=argument)


def looser_than_defaults(head: Settings) -> tuple[Notice, ...]:
    """What a first settings file relaxes: it counts at once, and should not do so unseen."""
    return tuple(_settings(Settings(), head))


def _settings(base: Settings | None, head: Settings | None) -> Iterator[Notice]:
    if base is None:
        return
    before, after = base.gate, (head or Settings()).gate
    gone = [kind for kind in before.fail_on if kind not in after.fail_on]
    if gone:
        yield notice("loosened.fail_on", kinds=", ".join(gone))
    for name, was, now, looser in (
        ("tolerance", before.tolerance, after.tolerance, after.tolerance > before.tolerance),
        ("alpha", before.alpha, after.alpha, after.alpha < before.alpha),
        (
            "confirm_runs",
            before.confirm_runs,
            after.confirm_runs,
            confirm_strictness(after.confirm_runs) < confirm_strictness(before.confirm_runs),
        ),
    ):
        if looser:
            yield notice("loosened.gate", name=name, was=f"{was:g}", now=f"{now:g}")
    for name in sorted({*_with_tolerance(before), *_with_tolerance(after)}):
        was, now = before.tolerance_for(name), after.tolerance_for(name)
        if now > was:
            yield notice("loosened.tolerance", criterion=name, was=f"{was:g}", now=f"{now:g}")
    if after.soak and not before.soak:
        yield notice("loosened.soak")
    yield from _levels(before, after)
    for name, budget in before.budget.items():
        left = after.budget.get(name)
        if is_looser(budget, left):
            dropped = notice("loosened.no_budget") if left is None else left
            yield notice("loosened.budget", criterion=name, was=budget, now=dropped)
    yield from _runs(base.suite, (head or Settings()).suite)
    yield from _quarantine(base.quarantine, (head or Settings()).quarantine)


def _judge(base: Settings | None, head: Settings | None) -> Iterator[Notice]:
    """Another judge, of which nobody can say whether it is a milder one."""
    after = (head or Settings()).judge.model
    if base is not None and after != base.judge.model:
        yield notice("loosened.judge", was=base.judge.model, now=after)


def _levels(before: Gate, after: Gate) -> Iterator[Notice]:
    """What may block less, or is not decided apart any more."""
    for name in sorted({*before.criteria, *after.criteria}):
        was, now = before.level_of(name, None), after.level_of(name, None)
        if LEVELS.index(now) > LEVELS.index(was):
            yield notice("loosened.level", what=name, was=was, now=now)
    if before.case != after.case:
        told = [
            ", ".join(f"{one.case}: {one.level}" for one in gate.case) or "-"
            for gate in (before, after)
        ]
        yield notice("loosened.level", what="[[gate.case]]", was=told[0], now=told[1])


def confirm_strictness(runs: int) -> float:
    """More runs find more; with none at all every case that turned red blocks."""
    return runs or inf


def _with_tolerance(gate: Gate) -> list[str]:
    """Criteria with a tolerance of their own; the others go with the gate's."""
    return [name for name, own in gate.criteria.items() if own.tolerance is not None]


def _runs(base: Iterable[Suite], head: Iterable[Suite]) -> Iterator[Notice]:
    now = {suite.name: suite.runs for suite in head}
    for suite in base:
        if now.get(suite.name, suite.runs) < suite.runs:
            yield notice("loosened.runs", suite=suite.name, was=suite.runs, now=now[suite.name])


def _quarantine(base: Iterable[Quarantine], head: Iterable[Quarantine]) -> Iterator[Notice]:
    known = {(entry.eval_set, entry.eval_id): entry.until for entry in base}
    for entry in head:
        until = known.get((entry.eval_set, entry.eval_id))
        if until is None:
            yield notice("loosened.quarantined", case=entry.eval_id, until=entry.until)
        elif entry.until > until:
            yield notice("loosened.quarantine", case=entry.eval_id, was=until, now=entry.until)


def _configs(pairs: Sequence[Pair]) -> Iterator[Reason]:
    """Each relaxed rule once for an eval set, however many cases it has."""
    seen: set[str] = set()
    for pair in pairs:
        if pair.base is None or pair.head is None:
            continue
        where = pair.head.eval_set
        for criterion, told in _config(where, pair.base.config, pair.head.config):
            if told.text not in seen:
                seen.add(told.text)
                yield Reason.of(ReasonKind.LOOSENED, told, eval_set=where, criterion=criterion)


def _config(where: str, base: EvalConfig, head: EvalConfig) -> Iterator[tuple[str, Notice]]:
    if base == head:
        return
    for name in base.criteria:
        if name not in head.criteria:
            yield name, notice("loosened.criterion", eval_set=where, criterion=name)
            continue
        for rule in registry.loosened(name, base, head):
            yield name, notice("loosened.config", eval_set=where, criterion=name, rule=rule)


def _case_rubrics(pairs: Sequence[Pair]) -> Iterator[Reason]:
    for pair in pairs:
        if pair.base is None or pair.head is None:
            continue
        gone = _own_rubrics(pair.base.definition) - _own_rubrics(pair.head.definition)
        for rubric_id in sorted({rubric_id for rubric_id, _ in gone}):
            told = notice("loosened.rubric", name=rubric_id)
            yield Reason.of(ReasonKind.LOOSENED, told, pair.key)


def _references(pairs: Sequence[Pair]) -> Iterator[Reason]:
    """Cases that a criterion of head has less to compare with in; changed answers are edits."""
    for pair in pairs:
        if pair.base is None or pair.head is None or pair.base.digest == pair.head.digest:
            continue
        was, now = pair.base.definition, pair.head.definition
        for name in sorted(pair.head.config.criteria.keys() - pair.head.config.custom_metrics):
            cls = registry.criterion_class(name)
            had, has = (cls.turns_with_reference(case) for case in (was, now)) if cls else (0, 0)
            if cls and cls.needs.reference and _is_less(had, has, len(was.turns), len(now.turns)):
                told = notice("loosened.reference", criterion=name, lost=had - has, had=had)
                yield Reason.of(ReasonKind.LOOSENED, told, pair.key, criterion=name)


def _is_less(had: int, has: int, turns_before: int, turns_now: int) -> bool:
    """All are gone, or turns stay without theirs; a turn taken out takes its own along."""
    return has < had and (not has or turns_now - has > turns_before - had)


def _own_rubrics(case: EvalCase) -> set[tuple[str, str]]:
    """The rubrics of the case and of its turns; by its type each is some criterion's."""
    listed = [case.rubrics, *(turn.rubrics for turn in case.conversation or ())]
    return {
        (rubric.rubric_id, (rubric.type or "").upper())
        for rubrics in listed
        for rubric in rubrics or ()
    }
