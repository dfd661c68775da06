"""Can these eval sets go red? Planted runs are scored, and what passes says that they cannot."""

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

from gradegate import locales
from gradegate.criteria import registry
from gradegate.evalsets.load import digest_of
from gradegate.model.evalset import Case, CaseKey
from gradegate.model.notice import Notice, notice
from gradegate.model.question import Question, Votes
from gradegate.model.result import CaseResult, CriterionResult, Status
from gradegate.pipeline.journal import Journal
from gradegate.pipeline.planted import (
    OF_AGENTS,
    WITHOUT_AN_ANSWER,
    Plant,
    PlantedRun,
    planted_runs,
)
from gradegate.pipeline.prepare import Prepared
from gradegate.pipeline.score import score_run
from gradegate.ports import Ask, Store

T = TypeVar("T")

NOT_ASKED = "no judge is asked"
_DELIBERATE = frozenset({Plant.REORDERED, Plant.ALTERED})
"""What a criterion may let pass because its options say so, and not because of its threshold."""


class SetCriterion(NamedTuple):
    """A criterion of an eval set."""

    suite: str
    eval_set: str
    criterion: str


@dataclass(frozen=True)
class Weakness:
    """Cases in which a criterion lets a planted run pass."""

    place: SetCriterion
    plant: Plant
    threshold: float | None
    cases: tuple[str, ...]
    of: int
    """In how many cases of the set it was planted."""
    highest: float
    """What the planted runs scored at most."""
    by_option: bool
    """Whether it is an option that says so, such as a match type; such a rule is no mistake."""


@dataclass(frozen=True)
class Met:
    """How base's kept runs score: the highest threshold that all of them would have met."""

    place: SetCriterion
    lowest: float
    runs: int


@dataclass(frozen=True)
class Audit:
    """What came of planting."""

    cases: int = 0
    """In which runs were planted."""
    passing: Mapping[Plant, tuple[CaseKey, ...]] = field(default_factory=dict)
    """Cases that stay green, all their criteria together."""
    undecided: tuple[CaseKey, ...] = ()
    """Cases that nobody can tell of without asking a judge, or calling a user's own metric."""
    simulated: int = 0
    """Cases without written turns, in which nothing can be planted."""
    weaknesses: tuple[Weakness, ...] = ()
    equal: tuple[tuple[CaseKey, ...], ...] = ()
    """Cases that are equal to each other but for their ids."""
    lenient_rubrics: tuple[tuple[SetCriterion, str], ...] = ()
    """Rubrics that every planted run meets."""
    met: tuple[Met, ...] = ()

    @property
    def without_an_answer(self) -> tuple[CaseKey, ...]:
        """Cases that pass for an agent that does nothing, refuses, or repeats the question."""
        keys = (self.passing.get(plant, ()) for plant in WITHOUT_AN_ANSWER)
        return tuple(sorted({key for own in keys for key in own}))

    @property
    def with_anothers(self) -> tuple[CaseKey, ...]:
        """Cases that pass with the answers of another."""
        return self.passing.get(Plant.OTHER, ())

    @property
    def is_toothless(self) -> bool:
        """Whether anything passes that should not."""
        threshold_too_low = any(not weak.by_option for weak in self.weaknesses)
        return bool(self.without_an_answer or self.with_anothers or threshold_too_low)

    def line(self) -> Notice:
        """The whole in one line."""
        told = notice(
            "audit.passing",
            empty=locales.count(len(self.without_an_answer)),
            other=locales.count(len(self.with_anothers)),
            total=locales.count(self.cases),
        )
        if not self.undecided:
            return told
        return notice("audit.undecided", told=told, number=locales.count(len(self.undecided)))


async def unasked(question: Question[Any], samples: int) -> Votes[Any]:
    """In a judge's place."""
    del question, samples
    return Votes(failure=NOT_ASKED)


async def audit(cases: Sequence[Case], ask: Ask) -> Audit:
    """Plant in every case and score by every criterion."""
    written = [case for case in cases if case.definition.turns]
    scored = await asyncio.gather(*(_scored(*one, ask) for one in _with_others(written)))
    results = [one for own in scored for one in own]
    passing = {
        plant: tuple(result.key for run, result in results if run.plant is plant and _green(result))
        for plant in OF_AGENTS
    }
    undecided = {
        result.key
        for run, result in results
        if run.plant in OF_AGENTS and result.status is Status.NOT_EVALUATED and _gated(result)
    }
    return Audit(
        cases=len(written),
        passing=passing,
        undecided=tuple(sorted(undecided)),
        simulated=sum(case.definition.is_simulated for case in cases),
        weaknesses=tuple(_weaknesses(results)),
        equal=tuple(_equal(cases)),
        lenient_rubrics=tuple(_lenient_rubrics(results)),
    )


async def in_a_line(cases: Sequence[Case]) -> Notice:
    """How many cases stay green whatever the agent does, without asking anybody."""
    return (await audit(cases, unasked)).line()


async def toothless(cases: Sequence[Case]) -> tuple[Notice, ...]:
    """The same, where there are any."""
    found = await audit(cases, unasked)
    return (found.line(),) if found.without_an_answer or found.with_anothers else ()


async def thresholds_met(prepared: Prepared, store: Store, ask: Ask) -> tuple[Met, ...]:
    """The highest thresholds that base's own runs would have met, as far as they are kept."""
    side = prepared.base or prepared.head
    journal = Journal(store, "")
    lowest: dict[SetCriterion, list[float]] = defaultdict(list)
    for case in prepared.head.cases:
        agent = side.identities.get(case.suite)
        for trace in journal.first_passes(agent, case) if agent else ():
            result = await score_run(case, trace, trace.run, ask)
            for name, one in result.criteria.items():
                if one.threshold is not None and one.score is not None:
                    lowest[SetCriterion(case.suite, case.eval_set, name)].append(one.score)
    return tuple(Met(place, min(scores), len(scores)) for place, scores in sorted(lowest.items()))


def _with_others(cases: Iterable[Case]) -> Iterator[tuple[Case, list[Case]]]:
    """Each case with the others of its set, the next one first."""
    sets: dict[tuple[str, str], list[Case]] = defaultdict(list)
    for case in cases:
        sets[case.suite, case.eval_set].append(case)
    for own in sets.values():
        for at, case in enumerate(own):
            yield case, [*own[at + 1 :], *own[:at]]


async def _scored(
    case: Case, others: Sequence[Case], ask: Ask
) -> list[tuple[PlantedRun, CaseResult]]:
    runs = list(planted_runs(case, others))
    results = await asyncio.gather(*(score_run(case, run.trace, 1, ask) for run in runs))
    return list(zip(runs, results, strict=True))


def _green(result: CaseResult) -> bool:
    return result.status is Status.PASSED


def _gated(result: CaseResult) -> bool:
    """Whether a criterion has something to say of the case, if it could."""
    return any(
        one.applies and one.status is not Status.INFORMATIONAL for one in result.criteria.values()
    )


def _weaknesses(results: Iterable[tuple[PlantedRun, CaseResult]]) -> Iterator[Weakness]:
    """By place and plant, in order. What is as the case expects may pass."""
    found: dict[tuple[SetCriterion, int], list[tuple[PlantedRun, CriterionResult]]] = defaultdict(
        list
    )
    order = list(Plant)
    for run, result in results:
        for name, one in result.criteria.items():
            if one.threshold is not None and run.wrong & _asked_for(name):
                place = SetCriterion(result.suite, result.eval_set, name)
                found[place, order.index(run.plant)].append((run, one))
    for (place, number), tried in sorted(found.items(), key=lambda item: item[0]):
        passed = [(run, one) for run, one in tried if one.status is Status.PASSED]
        if passed:
            scores = [one.score for _, one in passed if one.score is not None]
            yield Weakness(
                place=place,
                plant=order[number],
                threshold=passed[0][1].threshold,
                cases=tuple(run.trace.eval_id for run, _ in passed),
                of=len(tried),
                highest=max(scores, default=0.0),
                by_option=order[number] in _DELIBERATE and min(scores) == _best(place.criterion),
            )


def _asked_for(criterion: str) -> frozenset[str]:
    cls = registry.criterion_class(criterion)
    return cls.asks_for if cls else frozenset()


def _best(criterion: str) -> float:
    return registry.scale_of(criterion).best


def _equal(cases: Iterable[Case]) -> Iterator[tuple[CaseKey, ...]]:
    alike: dict[tuple[str, str], list[CaseKey]] = defaultdict(list)
    for case in cases:
        nameless = case.definition.model_copy(update={"eval_id": ""})
        alike[case.suite, digest_of(nameless, case.dataset)].append(case.key)
    yield from (tuple(keys) for keys in alike.values() if len(keys) > 1)


def _lenient_rubrics(
    results: Iterable[tuple[PlantedRun, CaseResult]],
) -> Iterator[tuple[SetCriterion, str]]:
    """Rubrics that were asked of planted runs, and never failed."""
    met: dict[tuple[SetCriterion, str], bool] = {}
    for run, result in results:
        for name, one in result.criteria.items():
            if run.wrong & _asked_for(name):
                place = SetCriterion(result.suite, result.eval_set, name)
                for rubric in one.rubrics:
                    key = place, rubric.rubric_id
                    met[key] = met.get(key, True) and rubric.score == 1
    yield from sorted(key for key, always in met.items() if always)
