"""Cases and scored runs made by hand, for tests of how two sides are compared."""

from collections.abc import Mapping, Sequence
from typing import Any

from gradegate.compare.pairing import Pair
from gradegate.evalsets.load import digest_of
from gradegate.model.evalset import Case, CaseKey, EvalCase, EvalConfig
from gradegate.model.result import CaseResult, CriterionResult, Status
from gradegate.model.runs import NotRun, Role, Runs, ScoredRun, Trace

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


def runs_of(cases: Mapping[Case, str] | Sequence[tuple[Case, str]], **more: Any) -> Runs:
    """First-pass runs of cases, a letter each."""
    listed = cases.items() if isinstance(cases, Mapping) else cases
    found: dict[CaseKey, list[ScoredRun]] = {}
    for case, letters in listed:
        found[case.key] = [
            scored(case, number, letter, **more) for number, letter in enumerate(letters, start=1)
        ]
    return found


def both(case: Case) -> Pair:
    """The same case on both sides."""
    return Pair(case, case)
