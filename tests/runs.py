"""Cases and scored runs made by hand, for tests of how two sides are compared."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from gradegate.compare.pairing import Pair
from gradegate.compare.terms import Terms
from gradegate.evalsets.load import digest_of
from gradegate.model.evalset import Case, CaseKey, EvalCase, EvalConfig
from gradegate.model.result import CaseResult, CriterionResult, Status
from gradegate.model.runs import SIDES, NotRun, Role, Runs, ScoredRun, SideName, SideRuns, Trace
from gradegate.model.settings import Gate

MATCH, TOOLS = "response_match_score", "tool_trajectory_avg_score"
SET = "evals/basic.evalset.json"
OUTAGE = "the judge did not answer"

STATUS = {
    "p": Status.PASSED,
    "f": Status.FAILED,
    "e": Status.FAILED,
    "?": Status.NOT_EVALUATED,
    "-": Status.INFORMATIONAL,
}
SCORE = {"p": 1.0, "f": 0.0, "e": None, "?": None, "-": None}
CASE_STATUS = {"e": Status.ERRORED, "f": Status.FAILED, "p": Status.PASSED, "-": Status.PASSED}


def a_case(  # noqa: PLR0913 - a case has many sides, and each test changes one
    eval_id: str = "paris",
    *,
    asked: str = "hello",
    rubrics: Sequence[str] = (),
    turn_rubrics: Sequence[str] = (),
    criteria: Mapping[str, Any] | None = None,
    eval_set: str = SET,
    eval_set_id: str = "basic",
    suite: str = "desk",
    line: int = 3,
) -> Case:
    """A loaded case."""
    turn = {
        "user_content": {"parts": [{"text": asked}]},
        "final_response": {"parts": [{"text": "hi"}]},
        "rubrics": [_rubric(name) for name in turn_rubrics] or None,
    }
    definition = EvalCase.model_validate(
        {
            "eval_id": eval_id,
            "conversation": [turn],
            "rubrics": [_rubric(name) for name in rubrics] or None,
        }
    )
    return Case(
        suite=suite,
        eval_set=eval_set,
        eval_set_id=eval_set_id,
        eval_id=eval_id,
        line=line,
        definition=definition,
        config=EvalConfig(criteria=dict({MATCH: 0.8} if criteria is None else criteria)),
        digest=digest_of(definition),
    )


def _rubric(name: str) -> dict[str, Any]:
    return {"rubric_id": name, "rubric_content": {"text_property": f"about {name}"}}


def scored(
    case: Case, run: int, letter: str, *, role: Role = Role.FIRST, names: Sequence[str] = (MATCH,)
) -> ScoredRun:
    """A run: p passed, f failed, e the agent failed, ? not evaluated, - not applicable."""
    one = CriterionResult(
        score=SCORE[letter],
        threshold=0.8,
        status=STATUS[letter],
        reason=OUTAGE if letter == "?" else None,
    )
    result = CaseResult(
        suite=case.suite,
        eval_set=case.eval_set,
        eval_id=case.eval_id,
        run=run,
        status=CASE_STATUS.get(letter, Status.NOT_EVALUATED),
        criteria=dict.fromkeys(names, one),
    )
    error = "boom" if letter == "e" else None
    trace = Trace(suite=case.suite, eval_set=case.eval_set, eval_id=case.eval_id, error=error)
    return ScoredRun(role, NotRun(OUTAGE) if letter == "?" else trace, result)


def with_score(case: Case, run: int, score: float, *, role: Role = Role.FIRST) -> ScoredRun:
    """A run with a score, held against 0.8."""
    made = scored(case, run, "p" if score >= 0.8 else "f", role=role)
    one = made.result.criteria[MATCH].model_copy(update={"score": score})
    return ScoredRun(role, made.outcome, made.result.model_copy(update={"criteria": {MATCH: one}}))


def runs_of(cases: Mapping[Case, str] | Sequence[tuple[Case, str]], **more: Any) -> SideRuns:
    """A side's first-pass runs of cases, a letter each."""
    listed = cases.items() if isinstance(cases, Mapping) else cases
    found: dict[CaseKey, list[ScoredRun]] = {}
    for case, letters in listed:
        found[case.key] = [
            scored(case, number, letter, **more) for number, letter in enumerate(letters, start=1)
        ]
    return found


def add(  # noqa: PLR0913 - where to, what, and what for
    runs: Runs,
    side: SideName,
    case: Case,
    role: Role,
    letters: str,
    *,
    names: Sequence[str] = (MATCH,),
) -> None:
    """More runs of a case on a side, numbered on from those it has."""
    for letter in letters:
        number = len(runs.of(side, case.key)) + 1
        runs.add(side, case.key, scored(case, number, letter, role=role, names=names))


def both(case: Case) -> Pair:
    """The same case on both sides."""
    return Pair(case, case)


def terms_of(  # noqa: PLR0913 - each test changes one
    pairs: Iterable[Pair],
    gate: Gate | None = None,
    *,
    runs: int = 1,
    base_suites: Iterable[str] | None = None,
    rerunnable: Iterable[tuple[SideName, str]] | None = None,
    quarantined: Iterable[CaseKey] = (),
) -> Terms:
    """Terms under which every suite has a base, and nothing is a recording."""
    pairs = tuple(pairs)
    suites = dict.fromkeys((pair.key.suite for pair in pairs), runs)
    with_base = frozenset(suites if base_suites is None else base_suites)
    anywhere: list[tuple[SideName, str]] = [("head", suite) for suite in suites]
    anywhere += [("base", suite) for suite in with_base]
    return Terms(
        pairs=pairs,
        gate=gate or Gate(),
        runs=suites,
        first_pass={
            (side, pair.key): runs
            for pair in pairs
            for side in SIDES
            if pair.head and (side == "head" or (pair.base and pair.key.suite in with_base))
        },
        base_suites=with_base,
        rerunnable=frozenset(anywhere if rerunnable is None else rerunnable),
        quarantined=frozenset(quarantined),
    )
