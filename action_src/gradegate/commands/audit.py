"""`gradegate audit`: can these eval sets go red? Planted runs are scored, and no agent is run."""

import asyncio
import json
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, replace
from itertools import groupby
from typing import Any

from gradegate import locales
from gradegate.commands.options import add_answers, add_sides, count, say
from gradegate.model.errors import InputError
from gradegate.model.evalset import CaseKey
from gradegate.model.overrides import Overrides
from gradegate.model.settings import JudgeSettings
from gradegate.pipeline.dry_run import EstimatingJudge
from gradegate.pipeline.planted import Plant
from gradegate.pipeline.prepare import EvaluationRequest, Prepared, prepare
from gradegate.pipeline.services import Services
from gradegate.pipeline.weaknesses import Audit, Met, Weakness, audit, thresholds_met, unasked
from gradegate.ports import Machine
from gradegate.report.escape import terminal
from gradegate.sides.checkout import Revisions
from gradegate.sides.git import NO_BASE, Repo
from gradegate.wiring import cache_folder, services, store_path

MAX_CALLS = 200
"""Judge calls at most, where nobody says how many."""
PASSES = {
    Plant.NOTHING: "an empty answer",
    Plant.REFUSAL: "a refusal",
    Plant.ECHO: "the question repeated",
    Plant.OTHER: "another case's answer and calls",
    Plant.REORDERED: "the expected calls in another order",
    Plant.ALTERED: "an argument changed",
    Plant.UNEXPECTED: "a call where none is expected",
}


def add_arguments(parser: ArgumentParser) -> None:
    """What `audit` takes."""
    add_sides(parser)
    parser.add_argument(
        "--base",
        metavar="REV",
        help="whose kept runs to compare thresholds with (default: where head left the default "
        "branch)",
    )
    parser.add_argument(
        "--judge", action="store_true", help="also ask the judges about planted answers"
    )
    parser.add_argument(
        "--max-calls",
        type=count,
        default=MAX_CALLS,
        metavar="N",
        help=f"judge calls at most (default: {MAX_CALLS})",
    )
    add_answers(parser)
    parser.add_argument(
        "--strict", action="store_true", help="exit 1 where a case or a criterion cannot go red"
    )
    parser.add_argument("--json", action="store_true", help="print what was found as JSON")


def audit_sets(options: Namespace, environ: Mapping[str, str]) -> int:
    """Print which cases and criteria let planted runs pass; with `--strict`, 1 where any does."""
    repo = Repo.open(options.repo, environ)
    request = EvaluationRequest(
        repo=repo,
        revisions=Revisions(head=options.head, base=options.base or _base_of(repo)),
        overrides=Overrides(suite=options.suite, config=options.config),
    )
    machine = Machine(environ, repo.top, cache_folder(environ), answers=options.answers)
    with (
        services(machine, store_path(environ, options.store)) as outside,
        prepare(request) as prepared,
    ):
        found = asyncio.run(_found(prepared, outside, options.max_calls if options.judge else 0))
    if options.json:
        sys.stdout.write(f"{json.dumps(_plain(asdict(found) | _summary(found)), indent=2)}\n")
    else:
        sys.stdout.writelines(terminal(f"{line}\n") for line in told(found, judged=options.judge))
    return 1 if options.strict and found.is_toothless else 0


def _base_of(repo: Repo) -> str | None:
    """None is for the merge base; a repository without a default branch has none."""
    try:
        repo.default_branch()
    except InputError:
        return NO_BASE
    return None


async def _found(prepared: Prepared, outside: Services, max_calls: int) -> Audit:
    cases = prepared.head.cases
    settings = prepared.policy.judge
    estimate = EstimatingJudge(outside.store, settings.model)
    met = await thresholds_met(prepared, outside.store, estimate)
    if not max_calls:
        return replace(await audit(cases, unasked), met=met)
    counting = EstimatingJudge(outside.store, settings.model)
    await audit(cases, counting)
    least, most = counting.estimate().total
    say(f"judge calls: {least} to {most}, and {max_calls} at most (--max-calls)")
    limits = JudgeSettings.model_validate(settings.model_dump() | {"max_calls": max_calls})
    async with outside.judge(limits, prepared.agent_folders, outside.masker) as judge:
        return replace(await audit(cases, judge), met=met)


def _summary(found: Audit) -> dict[str, object]:
    return {
        "without_an_answer": found.without_an_answer,
        "with_anothers": found.with_anothers,
        "toothless": found.is_toothless,
    }


def _plain(value: Any) -> Any:
    """Places and cases with the names of their fields."""
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return value._asdict()
    if isinstance(value, dict):
        return {key: _plain(entry) for key, entry in value.items()}
    return [_plain(entry) for entry in value] if isinstance(value, tuple | list) else value


def told(found: Audit, *, judged: bool) -> Iterator[str]:
    """What was found, in lines."""
    for eval_set, weak in groupby(found.weaknesses, key=lambda one: one.place.eval_set):
        yield f"{eval_set}:"
        yield from (f"  {_weakness(one)}" for one in weak)
    for place, rubric in found.lenient_rubrics:
        yield (
            f"{place.eval_set}: {place.criterion}: every planted answer meets the rubric `{rubric}`"
        )
    for keys in found.equal:
        yield f"cases that are equal to each other: {_names(keys)}"
    yield from _met(found.met)
    yield from _passing("without an answer", found.without_an_answer, found.cases)
    yield from _passing("with another case's answer", found.with_anothers, found.cases)
    if found.undecided:
        how = "the judge gave no score" if judged else "add `--judge` to ask"
        yield (
            f"{locales.some(len(found.undecided), 'case')} could pass: the rest is up to judges or "
            f"custom metrics ({how}): {_names(found.undecided)}"
        )
    if found.simulated:
        yield f"{locales.some(found.simulated, 'case')} with a simulated user: not audited"
    if not found.is_toothless:
        yield f"{locales.some(found.cases, 'case')} audited: no planted run passes"


def _weakness(weak: Weakness) -> str:
    where = f"in {weak.of} of {weak.of}" if len(weak.cases) == weak.of else ""
    where = where or f"in {len(weak.cases)} of {weak.of}"
    threshold = "no threshold" if weak.threshold is None else f"{weak.threshold:g}"
    why = ", as its options say" if weak.by_option else f", scoring up to {weak.highest:.2f}"
    return (
        f"{weak.place.criterion} ≥ {threshold} passes {PASSES[weak.plant]} {where} cases{why}: "
        f"{', '.join(weak.cases)}"
    )


def _met(met: Iterable[Met]) -> Iterator[str]:
    for one in met:
        yield (
            f"{one.place.eval_set}: {one.place.criterion}: base's {locales.some(one.runs, 'run')} "
            f"in the store would have met a threshold of {one.lowest:.2f}"
        )


def _passing(how: str, keys: Iterable[CaseKey], total: int) -> Iterator[str]:
    keys = tuple(keys)
    if keys:
        yield f"{len(keys)} of {locales.some(total, 'case')} pass {how}: {_names(keys)}"


def _names(keys: Iterable[CaseKey]) -> str:
    return ", ".join(key.eval_id for key in keys)
