"""Reports of pull requests as they come: what people see of each is held in tests/golden."""

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from gradegate.compare.causes import with_causes
from gradegate.compare.pairing import Pair
from gradegate.model.notice import notice
from gradegate.model.report import Report
from tests.runs import MATCH, TOOLS, a_case

RUBRICS, GROUNDED, JUDGED = (
    "rubric_based_final_response_quality_v1",
    "hallucinations_v1",
    "final_response_match_v2",
)
SET = "agents/desk/evals/orders.evalset.json"
BASE = {"commit": "4f2c9be1d07a5538c2b1f0e6a9d3c47788ab1200", "source": "store", "fingerprint": "b"}
HEAD = {"commit": "b81e3a07c5d94e2f6610aa92f7de01c3b4455c66", "fingerprint": "h"}
HOSTILE = (
    "</details><!-- gradegate:comment:gradegate --> @everyone #1 [x](https://evil.example) "
    "![y](//e.example/a.png) <img src=x onerror=alert(1)> ``` | a | \u202e ::error::x"
)
BROKEN = {"base": 1, "head": 0, "delta": -1, "threshold": 1, "passed": [6, 0], "runs": [6, 6]}
WORSE = {**BROKEN, "p_value": 0.0002, "verdict": "regressed", "confirmed": True}
FINE = {"base": 1, "head": 1, "delta": 0, "threshold": 0.8, "passed": [1, 1], "runs": [1, 1]}
SAME = {**FINE, "verdict": "unchanged"}
FLAKY = {**FINE, "head": 0, "delta": -1, "passed": [9, 7], "runs": [12, 12], "verdict": "flaky"}


def said(text: str = "", *tools: Mapping[str, Any]) -> dict[str, Any]:
    """What a side answered and called."""
    return {"text": text, "tools": list(tools)}


def call(name: str, **args: Any) -> dict[str, Any]:
    """A tool call."""
    return {"name": name, "args": args}


def a_turn(asked: str, **sides: Any) -> dict[str, Any]:
    """A turn with what each side did in it."""
    return {"asked": asked, **sides}


def case(name: str, criteria: Mapping[str, Any], *turns: Any, **more: Any) -> dict[str, Any]:
    """A case as the report has it; further fields of its evidence begin with `evidence_`."""
    of_evidence = {key[9:]: more.pop(key) for key in tuple(more) if key.startswith("evidence_")}
    return {
        "suite": "desk",
        "eval_set": SET,
        "eval_id": name,
        "line": 12,
        "asked": turns[0]["asked"] if turns else f"Question {name}?",
        "criteria": dict(criteria),
        "evidence": {"turns": list(turns), **of_evidence} if turns or of_evidence else {},
        **more,
    }


def quiet(number: int) -> list[dict[str, Any]]:
    """So many cases in which nothing happened."""
    return [case(f"quiet_{n}", {TOOLS: SAME}) for n in range(number)]


def reason(kind: str, one: Mapping[str, Any], criterion: str = TOOLS) -> dict[str, Any]:
    """A finding of a case."""
    where = {name: one[name] for name in ("suite", "eval_set", "eval_id")}
    return {"kind": kind, "text": f"{one['eval_id']}: {kind}", "criterion": criterion, **where}


def overall(name: str, base: float | None, head: float, verdict: str, **more: Any) -> Any:
    """A criterion over all cases."""
    delta = None if base is None else round(head - base, 4)
    counts = {"scored": [50, 50], "planned": [50, 50]}
    return {"name": name, "base": base, "head": head, "delta": delta, "verdict": verdict} | {
        **counts,
        **more,
    }


def report(
    cases: Sequence[Mapping[str, Any]],
    state: str = "pass",
    reasons: Iterable[Any] = (),
    criteria: Iterable[Any] = (),
    **more: Any,
) -> Report:
    """A report, with the causes that our own comparison finds."""
    decision = {"state": state, "reasons": list(reasons), **more.pop("decision", {})}
    made = Report.model_validate(
        {"decision": decision, "base": BASE, "head": HEAD, "cases": list(cases)}
        | {"criteria": list(criteria), "usage": {"seconds": 312.4, "judge_calls": 96}, **more}
    )
    pairs = [
        Pair(None, a_case(one.eval_id, criteria=dict.fromkeys(one.criteria, 1.0)))
        for one in made.cases
    ]
    return made.model_copy(update={"cases": with_causes(made.cases, pairs)})


def regressed(*cases: Mapping[str, Any], beside: int = 4, **more: Any) -> Report:
    """The gate says no because of each of these cases."""
    reasons = [reason("regression", one, next(iter(one["criteria"]))) for one in cases]
    return report([*cases, *quiet(beside)], "fail", reasons, **more)


def _all_well() -> Report:
    criteria = [overall(TOOLS, 0.97, 0.97, "unchanged", interval=[-0.01, 0.01])]
    found = {"case_passes": 0.07, "drops": {TOOLS: 0.1234, MATCH: 0.04}}
    return report(quiet(50), criteria=criteria, would_find=found)


def _flaky_only() -> Report:
    turn = a_turn("Weather?", base=said("Sunny."), head=said("It is sunny."))
    told = overall(MATCH, 0.9, 0.88, "uncertain", interval=[-0.08, 0.04], passes_to_settle=28)
    found = {"case_passes": 0.07, "drops": {MATCH: None}}
    cases = [case("weather", {MATCH: FLAKY}, turn), *quiet(10)]
    return report(cases, criteria=[told], would_find=found)


def _inconclusive() -> Report:
    missing = {"verdict": "uncertain", "reason": "HTTP 429 after 6 tries", "runs": [1, 0]}
    cases = [case(f"refund_{n}", {JUDGED: {**missing, "base": 1, "threshold": 1}}) for n in (1, 2)]
    scored = overall(JUDGED, 0.95, 0.95, "uncertain", scored=[12, 10], planned=[12, 12])
    reasons = [reason("inconclusive", one, JUDGED) for one in cases]
    return report([*cases, *quiet(10)], "inconclusive", reasons, [scored])


def _no_base() -> Report:
    low = {"head": 0.4, "threshold": 0.8, "passed": [0, 0], "runs": [0, 3], "verdict": "new"}
    turn = a_turn("Order 7?", expected=said("It is sent."), head=said("I do not know."))
    one = case("order_7", {MATCH: low}, turn)
    criteria = [overall(MATCH, None, 0.83, "new", scored=[0, 11], planned=[0, 11])]
    reasons = [reason("threshold", one, MATCH)]
    return report([one, *quiet(10)], "fail", reasons, criteria, base={"source": "none"})


def _improved_only() -> Report:
    better = {**FINE, "base": 0, "delta": 1, "passed": [0, 1], "verdict": "improved"}
    criteria = [overall(TOOLS, 0.8, 0.9, "improved", interval=[0.04, 0.16], p_value=0.004)]
    return report([case("refund", {TOOLS: better}), *quiet(10)], criteria=criteria)


def _many_broken_by_one_cause() -> Report:
    find, order = call("find_customer", id=7), call("get_order", id=7)
    turn = a_turn(
        "Where is my order?",
        expected=said("Your order is on its way.", find, order),
        base=said("Your order is on its way.", find, order),
        head=said("I cannot see any order.", find),
    )
    broken = [case(f"order_{n:04}", {TOOLS: WORSE}, turn) for n in range(700)]
    told = overall(TOOLS, 0.99, 0.64, "regressed", interval=[-0.37, -0.33], p_value=0.0001)
    reasons = [*(reason("regression", one) for one in broken), _fell(TOOLS, "0.35", 2_000)]
    return report([*broken, *quiet(1_300)], "fail", reasons, [told])


def _fell(criterion: str, by: str, cases: int) -> dict[str, Any]:
    values = {"criterion": criterion, "by": by, "n": f"{cases:,}", "p": "p < 0.001"}
    told = notice("criterion.fell", tolerance="0.02", **values).model_dump()
    return {"kind": "regression", "criterion": criterion, **told}


def _hostile() -> Report:
    judged = {"criterion": RUBRICS, "subject": HOSTILE, "head": "no", "base": "yes"}
    turn = a_turn(
        HOSTILE,
        base=said(HOSTILE, call(HOSTILE, **{HOSTILE: HOSTILE})),
        head=said(HOSTILE[::-1], call(HOSTILE, **{HOSTILE: 1})),
        judged=[{**judged, "reason": HOSTILE}],
    )
    one = case(HOSTILE, {TOOLS: WORSE, RUBRICS: WORSE}, turn, eval_set=HOSTILE, suite=HOSTILE)
    return regressed(one, warnings=[HOSTILE])


def _empty() -> Report:
    nothing = {"kind": "inconclusive", "text": "there are no cases, so nothing was evaluated"}
    return report([], "inconclusive", [{**nothing, "code": "undecided.no_cases"}])


def _long_trajectory() -> Report:
    parcels = [{"to": "Lisbon", "kg": 1.5}, {"to": "Porto", "kg": 0.4}]
    heavier = [parcels[0], {"to": "Porto", "kg": 4.0}]
    calls = [call(f"step_{n}", number=n) for n in range(1, 31)]
    quote = call("quote", options={"packages": parcels, "fast": True})
    wrong = call("quote", options={"packages": heavier, "fast": True})
    before = [*calls[:20], quote, *calls[20:]]
    after = [*calls[:6], calls[8], *calls[6:8], *calls[9:20], wrong, *calls[20:]]
    turn = a_turn(
        "Send both parcels.",
        expected=said("Done.", *before),
        base=said("Done.", *before),
        head=said("Done.", *after),
    )
    return regressed(case("two_parcels", {TOOLS: WORSE}, turn))


def _rubric_flips() -> Report:
    judged = [
        {"criterion": RUBRICS, "rubric_id": f"r{n}", "subject": text, "base": was, "head": now}
        | {"reason": why}
        for n, (text, was, now, why) in enumerate(
            (
                ("The answer names the price.", "yes", "no", "No price is named."),
                ("The answer is polite.", "yes", "no", "It is curt."),
                ("The answer asks nothing that was said.", "no", "yes", "It asks nothing."),
            )
        )
    ]
    before, after = "It is 40 euros. Anything else?", "You can look that up."
    turn = a_turn("How much is it?", base=said(before), head=said(after), judged=judged)
    return regressed(case("price", {RUBRICS: {**WORSE, "head": 0.33}}, turn))


def _ungrounded() -> Report:
    sentence = "The parcel arrives on Sunday."
    judged = {"criterion": GROUNDED, "subject": sentence, "base": None, "head": "contradictory"}
    turn = a_turn(
        "When does it arrive?",
        base=said("It arrives on Monday."),
        head=said(f"It was sent today. {sentence}"),
        judged=[{**judged, "reason": "The tool says Monday."}],
    )
    return regressed(case("arrival", {GROUNDED: {**WORSE, "head": 0.5}}, turn))


def _long_answer() -> Report:
    words = " ".join(f"Sentence {n} says what the traveller should know." for n in range(70))
    changed = words.replace("Sentence 52 says what", "Sentence 52 hides what")
    turn = a_turn("Tell me all.", base=said(words), head=said(changed))
    low = {**WORSE, "head": 0.7, "delta": -0.3, "threshold": 0.8}
    return regressed(case("everything", {MATCH: low}, turn))


def _crash() -> Report:
    log = (
        "the program ended with exit code 1\nits log ends with:\n"
        "Traceback (most recent call last):\n"
        '  File "agent/tools.py", line 12, in refund\n    return ORDERS[number]\n'
        "KeyError: 'order'"
    )
    turn = a_turn("Refund it.", expected=said("Done."), base=said("Done.", call("refund")))
    crashed = {**WORSE, "head": None, "delta": None}
    return regressed(case("refund", {TOOLS: crashed}, turn, evidence_head_error=log))


def _untouched() -> Report:
    touched = [
        {"suite": "desk", "kind": "tool", "name": "refund", "path": "desk/tools.py", "line": 40},
        {"suite": "desk", "kind": "tool", "name": "search", "path": "desk/tools.py", "cases": 12},
        {"suite": "desk", "kind": "agent", "name": "billing", "path": "desk/agent.py", "cases": 3},
    ]
    return report(quiet(50), touched=[{**one, "total": 50} for one in touched])


def _several_kinds() -> Report:
    """Everything a pull request can have at once, one of each."""
    turn = a_turn("Order 7?", base=said("Sent.", call("get", id=7)), head=said("?", call("get")))
    worse = case("order_7", {TOOLS: WORSE, MATCH: FLAKY}, turn)
    low = {**SAME, "base": 0.2, "head": 0.2, "below_threshold": True, "passed": [0, 0]}
    new = {"head": 0.1, "threshold": 0.8, "runs": [0, 3], "verdict": "new"}
    added = case("new_one", {MATCH: new}, change="added")
    removed = case("gone", {}, change="removed")
    poor = case("poor", {MATCH: low})
    apart = case("apart", {MATCH: FLAKY}, quarantined=True)
    edited = case("edited", {TOOLS: SAME}, change="edited")
    reasons = [reason("regression", worse), reason("new_failure", added, MATCH)]
    reasons.append({**reason("removed", removed), "code": "removed"})
    notes = [reason("threshold", poor, MATCH)]
    cases = [worse, added, removed, poor, apart, edited, *quiet(3)]
    return report(cases, "fail", reasons, decision={"notes": notes})


def _accepted() -> Report:
    turn = a_turn("Order 7?", base=said("Sent."), head=said("It was sent."))
    one = case("order_7", {MATCH: WORSE}, turn)
    told = {"notes": [reason("regression", one, MATCH)], "accepted_by": "mona"}
    return report([one, *quiet(5)], decision=told)


def _answer_in_markdown() -> Report:
    before = "# Your trip\n\n- **Flight**: 9:40\n- Hotel: [Inn](https://inn.example)\n\nEnjoy!"
    after = "# Your trip\n\n- **Flight**: 19:40\n- Hotel: [Inn](https://inn.example)\n"
    turn = a_turn("Plan?", base=said(before), head=said(after))
    return regressed(case("plan", {JUDGED: WORSE}, turn))


SITUATIONS: Mapping[str, Callable[[], Report]] = {
    "accepted": cache(_accepted),
    "all_well": cache(_all_well),
    "answer_in_markdown": cache(_answer_in_markdown),
    "crash": cache(_crash),
    "empty": cache(_empty),
    "flaky_only": cache(_flaky_only),
    "hostile": cache(_hostile),
    "improved_only": cache(_improved_only),
    "long_answer": cache(_long_answer),
    "long_trajectory": cache(_long_trajectory),
    "many_broken_by_one_cause": cache(_many_broken_by_one_cause),
    "no_base": cache(_no_base),
    "not_evaluated": cache(_inconclusive),
    "rubric_flips": cache(_rubric_flips),
    "several_kinds": cache(_several_kinds),
    "ungrounded": cache(_ungrounded),
    "untouched": cache(_untouched),
}
"""By name; tests/golden has what each looks like."""


def random_report(draw: random.Random) -> Report:
    """A report that our gate could have made, with everything it can have."""
    cases: list[dict[str, Any]] = []
    reasons: list[Any] = []
    notes: list[Any] = []
    passes = draw.random() < 0.4
    for number in range(draw.randint(0, 40)):
        kind = draw.choice(
            ["quiet", "worse", "worse", "flaky", "low", "new", "gone", "open", "better", "edited"]
        )
        verdicts = {"worse": WORSE, "flaky": FLAKY, "better": {**SAME, "verdict": "improved"}}
        low = {**SAME, "head": 0.1, "below_threshold": True}
        verdicts |= {"low": low, "new": {**low, "base": None, "verdict": "new"}}
        verdicts |= {"open": {"verdict": "uncertain", "reason": "no answer", "threshold": 1}}
        change = {"new": "added", "gone": "removed", "edited": "edited"}.get(kind, "same")
        turn = a_turn("?", base=said("a", call(draw.choice("ab"))), head=said("b"))
        turns = [turn] if kind in {"worse", "low", "flaky", "new"} else []
        scored = {} if kind == "gone" else {TOOLS: verdicts.get(kind, SAME)}
        if kind == "worse" and draw.random() < 0.5:
            scored |= {MATCH: WORSE}
        quarantined = kind in {"worse", "low"} and draw.random() < 0.1
        one = case(f"c{number}", scored, *turns, change=change, quarantined=quarantined)
        cases.append(one)
        kinds = {"worse": "regression", "low": "threshold", "new": "new_failure"}
        kinds |= {"gone": "removed", "open": "inconclusive"}
        if kind in kinds:
            found = [reason(kinds[kind], one, name) for name in scored or (TOOLS,)]
            blocks = kind not in {"low", "open"} and not quarantined and not passes
            (reasons if blocks else notes).extend(found)
    criteria = [overall(name, 0.9, 0.8, "uncertain") for name in (TOOLS, MATCH)]
    for one in criteria:
        if draw.random() < 0.5:
            one["verdict"] = "regressed"
            fell = {"kind": "regression", "text": "fell", "criterion": one["name"]}
            (notes if passes else reasons).append(fell)
    if draw.random() < 0.3:
        (notes if passes else reasons).append({"kind": "loosened", "text": "a rule"})
    unsure = not reasons and draw.random() < 0.5
    if unsure:
        reasons = [one for one in notes if one["kind"] == "inconclusive"]
        notes = [one for one in notes if one not in reasons]
    state = ("inconclusive" if unsure else "fail") if reasons else "pass"
    return report(cases, state, reasons, criteria, decision={"notes": notes})
