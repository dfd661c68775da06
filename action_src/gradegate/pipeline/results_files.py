"""Results files: two of them compared, or the shards of one side put together."""

from collections.abc import Sequence

from gradegate.compare.comparison import compare
from gradegate.compare.gate import decide, over_budget, unmeasured
from gradegate.compare.pairing import Pair, pair
from gradegate.compare.terms import Terms
from gradegate.model.errors import InputError
from gradegate.model.evalset import DEFAULT_EVAL_CONFIG, Case, CaseKey, EvalCase
from gradegate.model.notice import notice, texts_of
from gradegate.model.report import BaseSide, HeadSide, Report
from gradegate.model.result import CaseResult, Results, Status
from gradegate.model.runs import SIDES, NotRun, Role, Runs, ScoredRun, SideRuns
from gradegate.model.settings import Gate
from gradegate.pipeline.shards import added_up

NO_TRACE = NotRun.because(notice("compare.no_trace"))


def compare_results(base: Results, head: Results, gate: Gate | None = None) -> Report:
    """Pair the cases of both files, test them, decide.

    With one run a side a flip blocks; with several, an exact test over all cases decides.
    """
    gate = gate or Gate()
    runs = Runs(_runs(base), _runs(head))
    terms = _terms(pair(_cases(base), _cases(head)), runs, gate)
    comparison = compare(terms, runs)
    reasons = (*comparison.reasons, *over_budget(comparison.criteria, gate.budget))
    told = (
        *(notice("base.told", what=one) for one in base.told),
        *head.told,
        *comparison.remarks,
        *unmeasured(comparison.criteria, gate.budget),
    )
    return Report(
        decision=decide(reasons, comparison.undecided, comparison.terms),
        base=BaseSide(commit=base.commit, source="run", fingerprint=base.fingerprint),
        head=HeadSide(commit=head.commit, fingerprint=head.fingerprint),
        criteria=comparison.criteria,
        cases=comparison.cases,
        would_find=comparison.would_find,
        usage=head.usage,
        warnings=texts_of(told),
        notices=told,
    )


def _terms(pairs: tuple[Pair, ...], runs: Runs, gate: Gate) -> Terms:
    """Nothing can be run again, and every suite has a base."""
    suites = {one.key.suite: 1 for one in pairs}
    made = {
        (side, one.key): len(found)
        for one in pairs
        for side in SIDES
        if (found := runs.of(side, one.key))
    }
    return Terms(
        pairs=pairs, gate=gate, runs=suites, first_pass=made, base_suites=frozenset(suites)
    )


def lean(results: Results) -> Results:
    """The same without the turns of what passed, which nobody will be shown.

    Half of what a large file holds; two of them are held at once.
    """
    return results.model_copy(update={"cases": tuple(map(_lean_case, results.cases))})


def _lean_case(case: CaseResult) -> CaseResult:
    criteria = {
        name: one.model_copy(update={"invocations": ()}) if one.status is Status.PASSED else one
        for name, one in case.criteria.items()
    }
    return case.model_copy(update={"criteria": criteria})


def _runs(results: Results) -> SideRuns:
    found: dict[CaseKey, list[ScoredRun]] = {}
    for case in results.cases:
        found.setdefault(case.key, []).append(ScoredRun(Role.FIRST, NO_TRACE, case))
    return found


def _cases(results: Results) -> list[Case]:
    """The cases by name: their definitions are not in the file, and so never count as edited."""
    return [
        Case(
            suite=one.suite,
            eval_set=one.eval_set,
            eval_set_id=one.eval_set,
            eval_id=one.eval_id,
            line=one.line,
            definition=EvalCase(eval_id=one.eval_id, conversation=()),
            config=DEFAULT_EVAL_CONFIG,
            digest="",
        )
        for one in {case.key: case for case in results.cases}.values()
    ]


Shards = Sequence[tuple[str, Results]]
"""Each with its file's name."""


def merge_results(shards: Shards) -> Results:
    """One side, whole.

    Raises:
        InputError: the shards overlap, one is missing, or they are of different commits.
    """
    _same(shards, "commit")
    _same(shards, "fingerprint")
    _same_configuration(shards)
    _complete(shards)
    _no_overlap(shards)
    cases = sorted(
        (case for _, shard in shards for case in shard.cases), key=lambda c: (*c.key, c.run)
    )
    first = shards[0][1]
    told = tuple({one.text: one for _, shard in shards for one in shard.told}.values())
    return Results(
        commit=first.commit,
        fingerprint=first.fingerprint,
        cases=tuple(cases),
        usage=added_up([shard.usage for _, shard in shards]),
        warnings=texts_of(told),
        notices=told,
    )


def _same(shards: Shards, field: str) -> None:
    first_name, first = shards[0]
    for name, shard in shards[1:]:
        if getattr(shard, field) != getattr(first, field):
            raise InputError(
                f"{name} has the {field} {getattr(shard, field)!r} and {first_name} "
                f"{getattr(first, field)!r}: merge the shards of one job"
            )


def _same_configuration(shards: Shards) -> None:
    first_name, first = shards[0]
    for name, shard in shards[1:]:
        if shard.configuration != first.configuration:
            raise InputError(
                f"{name} was run with other settings, inputs or cases than {first_name}: merge the "
                "shards of one job"
            )


def _complete(shards: Shards) -> None:
    """Shards that say which part they are must be all the parts, each once."""
    named = {name: shard.shard for name, shard in shards if shard.shard}
    if not named:
        return
    if len(named) < len(shards):
        missing = next(name for name, shard in shards if not shard.shard)
        raise InputError(f"{missing} is no shard, and the others are: merge shards only")
    totals = {part.partition("/")[2] for part in named.values()}
    if len(totals) > 1:
        raise InputError(f"the shards are cut in different ways: {', '.join(named.values())}")
    total = int(totals.pop())
    have = sorted(int(part.partition("/")[0]) for part in named.values())
    for number in range(1, total + 1):
        if have.count(number) != 1:
            what = "is missing" if number not in have else "is there twice"
            raise InputError(f"shard {number}/{total} {what}: name each shard's file once")


def _no_overlap(shards: Shards) -> None:
    seen: dict[object, str] = {}
    for name, shard in shards:
        for case in shard.cases:
            key = (case.key, case.run)
            if key in seen:
                raise InputError(
                    f"run {case.run} of {case.eval_id!r} in {case.eval_set} is in both "
                    f"{seen[key]} and {name}: name each shard's file once"
                )
            seen[key] = name
