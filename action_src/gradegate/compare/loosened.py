"""What a pull request makes easier for itself: only what has an order counts.

A changed expected answer or a reworded rubric has none; it is shown as an edit.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import inf
from typing import Any

from gradegate.compare.pairing import Pair
from gradegate.model.evalset import EvalCase, EvalConfig
from gradegate.model.report import Reason, ReasonKind
from gradegate.model.settings import Gate, Quarantine, Settings, Suite, is_looser

_STRICTNESS = {"ANY_ORDER": 0, "IN_ORDER": 1, "EXACT": 2}
_DEFAULT_SAMPLES = {"hallucinations_v1": 1}
_USUAL_SAMPLES = 5


def loosened(
    pairs: Sequence[Pair], base: Settings | None, head: Settings | None
) -> tuple[Reason, ...]:
    """Every rule that head relaxes, in the settings, the configs and the cases' rubrics."""
    return (
        *(_reason(text) for text in _settings(base, head)),
        *_configs(pairs),
        *_case_rubrics(pairs),
    )


def loosened_suites(
    pairs: Sequence[Pair], base: Sequence[Suite], head: Sequence[Suite]
) -> tuple[Reason, ...]:
    """What head's suites ask less of the agent than base's did."""
    ours = {suite.name: suite for suite in base}
    theirs = {suite.name: suite for suite in head}
    moved = dict.fromkeys(
        (pair.base.suite, pair.head.suite)
        for pair in pairs
        if pair.base and pair.head and pair.base.suite in ours
    )
    return tuple(
        _reason(f"suite {now}: {text}", suite=now)
        for was, now in moved
        for text in _suite(ours[was], theirs[now], known=now in ours)
    )


def _suite(was: Suite, now: Suite, *, known: bool) -> Iterator[str]:
    if _runs_an_agent(was) and now.traces is not None:
        yield f"a recording answers cases that base's suite {was.name} has an agent answer"
    elif not known:
        yield f"its cases are of base's suite {was.name}, and base has nothing to compare them with"


def _runs_an_agent(suite: Suite) -> bool:
    return suite.traces is None and bool(suite.agent or suite.command)


def looser_than_defaults(head: Settings) -> tuple[str, ...]:
    """What a first settings file relaxes: it counts at once, and should not do so unseen."""
    return tuple(_settings(Settings(), head))


def _reason(text: str, **where: str) -> Reason:
    return Reason(kind=ReasonKind.LOOSENED, text=text, **where)


def _settings(base: Settings | None, head: Settings | None) -> Iterator[str]:
    if base is None:
        return
    before, after = base.gate, (head or Settings()).gate
    gone = [kind for kind in before.fail_on if kind not in after.fail_on]
    if gone:
        yield f"`fail_on` no longer lists {', '.join(gone)}"
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
            yield f"the gate's `{name}` goes from {was:g} to {now:g}"
    for name in sorted({*_with_tolerance(before), *_with_tolerance(after)}):
        was, now = before.tolerance_for(name), after.tolerance_for(name)
        if now > was:
            yield f"the tolerance for {name} goes from {was:g} to {now:g}"
    for name, budget in before.budget.items():
        if is_looser(budget, after.budget.get(name)):
            yield f"the budget for {name} goes from {budget} to {after.budget.get(name, 'nothing')}"
    yield from _runs(base.suite, (head or Settings()).suite)
    yield from _quarantine(base.quarantine, (head or Settings()).quarantine)


def confirm_strictness(runs: int) -> float:
    """More runs find more; with none at all every case that turned red blocks."""
    return runs or inf


def _with_tolerance(gate: Gate) -> list[str]:
    """Criteria with a tolerance of their own; the others go with the gate's."""
    return [name for name, own in gate.criteria.items() if own.tolerance is not None]


def _runs(base: Iterable[Suite], head: Iterable[Suite]) -> Iterator[str]:
    now = {suite.name: suite.runs for suite in head}
    for suite in base:
        if now.get(suite.name, suite.runs) < suite.runs:
            yield f"`runs` of suite {suite.name} goes from {suite.runs} to {now[suite.name]}"


def _quarantine(base: Iterable[Quarantine], head: Iterable[Quarantine]) -> Iterator[str]:
    known = {(entry.eval_set, entry.eval_id): entry.until for entry in base}
    for entry in head:
        until = known.get((entry.eval_set, entry.eval_id))
        if until is None:
            yield f"{entry.eval_id} is put in quarantine until {entry.until}"
        elif entry.until > until:
            yield f"the quarantine of {entry.eval_id} is extended from {until} to {entry.until}"


def _configs(pairs: Sequence[Pair]) -> Iterator[Reason]:
    """Each relaxed rule once for an eval set, however many cases it has."""
    seen: set[tuple[str, str]] = set()
    for pair in pairs:
        if pair.base is None or pair.head is None:
            continue
        for criterion, text in _config(pair.base.config, pair.head.config):
            if (pair.head.eval_set, text) not in seen:
                seen.add((pair.head.eval_set, text))
                where = {"eval_set": pair.head.eval_set, "criterion": criterion}
                yield _reason(f"{pair.head.eval_set}: {text}", **where)


def _config(base: EvalConfig, head: EvalConfig) -> Iterator[tuple[str, str]]:
    if base == head:
        return
    for name, before in base.criteria.items():
        if name not in head.criteria:
            yield name, f"{name} is no longer asked for"
            continue
        was, now = _fields(before), _fields(head.criteria[name])
        for text in (*_threshold(name, base, was, now), *_criterion(name, was, now)):
            yield name, f"{name}: {text}"


def _threshold(
    name: str, base: EvalConfig, was: Mapping[str, Any], now: Mapping[str, Any]
) -> Iterator[str]:
    """Lowered, or raised where a user's own metric is better low."""
    raised = _number(now, "threshold") - _number(was, "threshold")
    upside_down = bool(_fields(base.custom_metrics.get(name, {})).get("lower_is_better"))
    if raised and (raised > 0) == upside_down:
        yield f"the threshold goes from {was['threshold']:g} to {now['threshold']:g}"


def _criterion(name: str, was: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    matches = [_match_type(fields) for fields in (was, now)]
    if matches[1] in _STRICTNESS and _STRICTNESS[matches[1]] < _STRICTNESS.get(matches[0], 0):
        yield f"`match_type` goes from {matches[0]} to {matches[1]}"
    if now.get("ignore_args") and not was.get("ignore_args"):
        yield "`ignore_args` is switched on"
    intermediate = "evaluate_intermediate_nl_responses"
    if was.get(intermediate) and not now.get(intermediate):
        yield f"`{intermediate}` is switched off"
    samples = [_samples(name, fields) for fields in (was, now)]
    if samples[1] < samples[0]:
        yield f"`num_samples` goes from {samples[0]} to {samples[1]}"
    for rubric_id in _rubric_ids(was):
        if rubric_id not in _rubric_ids(now):
            yield f"the rubric `{rubric_id}` is taken out"


def _case_rubrics(pairs: Sequence[Pair]) -> Iterator[Reason]:
    for pair in pairs:
        if pair.base is None or pair.head is None:
            continue
        gone = _own_rubrics(pair.base.definition) - _own_rubrics(pair.head.definition)
        for rubric_id in sorted({rubric_id for rubric_id, _ in gone}):
            yield _reason(
                f"the rubric `{rubric_id}` is taken out",
                suite=pair.key.suite,
                eval_set=pair.key.eval_set,
                eval_id=pair.key.eval_id,
            )


def _own_rubrics(case: EvalCase) -> set[tuple[str, str]]:
    """The rubrics of the case and of its turns; by its type each is some criterion's."""
    listed = [case.rubrics, *(turn.rubrics for turn in case.conversation or ())]
    return {
        (rubric.rubric_id, (rubric.type or "").upper())
        for rubrics in listed
        for rubric in rubrics or ()
    }


def _fields(entry: float | Mapping[str, Any]) -> dict[str, Any]:
    """An entry as an object with snake_case keys."""
    from pydantic.alias_generators import to_snake

    if not isinstance(entry, Mapping):
        return {"threshold": entry}
    return {to_snake(key): value for key, value in entry.items()}


def _number(fields: Mapping[str, Any], name: str) -> float:
    value = fields.get(name, 0.0)
    return float(value) if isinstance(value, int | float) else 0.0


def _match_type(fields: Mapping[str, Any]) -> str:
    written = fields.get("match_type", "EXACT")
    if isinstance(written, int):
        return ("EXACT", "IN_ORDER", "ANY_ORDER")[written % 3]
    return str(written).strip().upper().replace("-", "_").replace(" ", "_")


def _samples(name: str, fields: Mapping[str, Any]) -> int:
    usual = _DEFAULT_SAMPLES.get(name, _USUAL_SAMPLES)
    options = fields.get("judge_model_options")
    given = _fields(options).get("num_samples", usual) if isinstance(options, Mapping) else usual
    return given if isinstance(given, int) else usual


def _rubric_ids(fields: Mapping[str, Any]) -> list[str]:
    rubrics = fields.get("rubrics")
    listed = rubrics if isinstance(rubrics, list) else []
    return [
        str(_fields(rubric).get("rubric_id")) for rubric in listed if isinstance(rubric, Mapping)
    ]
