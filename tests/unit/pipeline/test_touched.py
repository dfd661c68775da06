"""In how many cases what a pull request touches was used."""

from typing import Any

from gradegate.model.evalset import CaseKey, Invocation
from gradegate.model.result import CaseResult, Status
from gradegate.model.runs import NotRun, Role, ScoredRun, Trace
from gradegate.pipeline.touched import touched
from gradegate.sides.definitions import Definition

PARTS = {
    "desk": [
        Definition("tool", "refund", "desk/tools.py", 7, 9),
        Definition("tool", "search", "desk/tools.py", 2, 4),
        Definition("agent", "billing", "desk/agent.py", 9, 14),
        Definition("instruction", "billing", "desk/agent.py", 6, 7),
    ]
}


def a_turn(*tools: str, authors: tuple[str, ...] = (), **more: Any) -> Invocation:
    """A turn in which these tools were called, and these agents spoke."""
    parts = [{"function_call": {"name": name}} for name in tools]
    events = [{"author": name, "content": {"parts": []}} for name in authors]
    events.append({"author": "desk", "content": {"parts": parts}})
    data = {"invocation_events": events}
    return Invocation.model_validate({"user_content": {}, "intermediate_data": data, **more})


def a_run(key: CaseKey, *turns: Invocation, made: bool = True) -> ScoredRun:
    """A run of a case, or one that was not made."""
    outcome = Trace(**key._asdict(), invocations=turns) if made else NotRun("out of time")
    return ScoredRun(Role.FIRST, outcome, CaseResult(**key._asdict(), status=Status.PASSED))


def test_a_case_counts_once_however_often_it_was_used() -> None:
    """In any of its runs; cases that were not run do not count at all."""
    one, two, three = (CaseKey("desk", "evals/a.json", name) for name in ("1", "2", "3"))
    details = {"agent_details": {"billing": {"name": "billing"}}}
    head = {
        one: [a_run(one, a_turn("search", "search")), a_run(one, a_turn("search"))],
        two: [a_run(two, a_turn(authors=("billing",))), a_run(two, a_turn("search"))],
        three: [a_run(three, made=False)],
        CaseKey("shop", "s", "4"): [a_run(CaseKey("shop", "s", "4"), a_turn("refund"))],
    }
    found = touched(PARTS, head)
    assert [(part.kind, part.name, part.cases, part.total) for part in found] == [
        ("tool", "refund", 0, 2),
        ("tool", "search", 2, 2),
        ("agent", "billing", 1, 2),
        ("instruction", "billing", 1, 2),
    ]
    assert (found[0].suite, found[0].path, found[0].line) == ("desk", "desk/tools.py", 7)
    told = a_run(one, a_turn(app_details=details))
    assert touched(PARTS, {one: [told]})[2].cases == 1


def test_of_a_suite_that_was_not_run_nothing_is_said() -> None:
    """As where the time was over."""
    assert touched(PARTS, {}) == ()
