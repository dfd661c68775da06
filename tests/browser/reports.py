"""Reports to look at: as large, as long and as hostile as reports get."""

import random
from collections.abc import Sequence
from typing import Any

from gradegate.model.report import Report

CRITERIA = (
    "tool_trajectory_avg_score",
    "response_match_score",
    "rubric_based_final_response_quality_v1",
    "hallucinations_v1",
)
WORDS = (
    "the flight leaves from gate at noon please bring your passport and check in online before",
    "departure weather in Lisbon is mild with some rain hotel near the river has two free rooms",
    "for three nights breakfast included total price refund takes five working days",
)
CITIES = ("Lisbon", "Porto", "Oslo", "Réunion", "東京")
TOOLS = ("search_flights", "book_hotel", "get_weather", "refund", "get_order", "send_mail")


def large(total: int, broken: int) -> Report:
    """So many cases, so many of them broken, most by one cause."""
    draw = random.Random(f"{total}/{broken}")
    cases = [_case(number, number < broken, draw) for number in range(total)]
    draw.shuffle(cases)
    reasons = [
        {"kind": "regression", "text": "regressed", **_key(case), "criterion": CRITERIA[0]}
        for case in cases
        if case["evidence"]
    ]
    return Report.model_validate(
        {
            "decision": {"state": "fail" if broken else "pass", "reasons": reasons},
            "base": {"commit": "4f2c9be1d07a5538c2b1f0e6a9d3c47788ab1200", "source": "store"},
            "head": {"commit": "b81e3a07c5d94e2f6610aa92f7de01c3b4455c66"},
            "criteria": [_criterion(name, total, broken) for name in CRITERIA],
            "cases": cases,
            "usage": {"seconds": 312.0, "judge_calls": 4 * total, "input_tokens": 900 * total},
        }
    )


def _key(case: dict[str, Any]) -> dict[str, str]:
    return {name: case[name] for name in ("suite", "eval_set", "eval_id")}


def _criterion(name: str, total: int, broken: int) -> dict[str, Any]:
    drop = round(broken / total, 4)
    moved = name == CRITERIA[0] and broken
    return {
        "name": name,
        "base": 0.95,
        "head": 0.95 - drop if moved else 0.94,
        "delta": -drop if moved else -0.01,
        "interval": (-drop - 0.01, -drop + 0.01) if moved else (-0.02, 0.01),
        "p_value": 0.0001 if moved else 0.4,
        "scored": (total, total),
        "planned": (total, total),
        "verdict": "regressed" if moved else "unchanged",
        "range": (0, 1),
    }


def _case(number: int, broken: bool, draw: random.Random) -> dict[str, Any]:  # noqa: FBT001
    group = number % 12
    case: dict[str, Any] = {
        "suite": ("travel", "orders", "support")[group % 3],
        "eval_set": f"agents/travel/evals/part_{group:02}.evalset.json",
        "eval_id": f"{draw.choice(TOOLS)}_{number:05}",
        "line": 10 + number,
        "asked": _text(draw, 18),
        "criteria": {name: _score(broken and name == CRITERIA[0], draw) for name in CRITERIA},
        "evidence": {},
    }
    if broken:
        gone = number % 20 != 0
        code = "cause.call_gone" if gone else "cause.score"
        values = {"tool": "get_order"} if gone else {"criterion": CRITERIA[0]}
        said = "get_order is no longer called" if gone else f"{CRITERIA[0]} is lower"
        case["cause"] = {"text": said, "code": code, "values": values}
        case["evidence"] = {
            "turns": [_turn(draw, broken=place == 1) for place in range(3)],
            "base_runs": [_run("passed", place) for place in range(6)],
            "head_runs": [_run("failed", place) for place in range(6)],
        }
    return case


def _score(broken: bool, draw: random.Random) -> dict[str, Any]:  # noqa: FBT001
    if broken:
        return {
            "base": 1.0,
            "head": 0.0,
            "delta": -1.0,
            "threshold": 1.0,
            "passed": (6, 0),
            "runs": (6, 6),
            "p_value": 0.0002,
            "verdict": "regressed",
            "confirmed": True,
        }
    base, head = (round(draw.uniform(0.8, 1), 3) for _ in range(2))
    return {
        "base": base,
        "head": head,
        "delta": head - base,
        "threshold": 0.8,
        "passed": (1, 1),
        "runs": (1, 1),
        "verdict": "unchanged",
    }


def _run(status: str, place: int) -> dict[str, Any]:
    role = "first" if place == 0 else "confirm"
    return {"role": role, "status": status, "scores": dict.fromkeys(CRITERIA, 1.0)}


def _turn(draw: random.Random, *, broken: bool) -> dict[str, Any]:
    calls = [_call(draw) for _ in range(draw.randint(2, 5))]
    answer = _text(draw, 120)
    expected = {"text": answer, "tools": calls}
    head = {"text": _text(draw, 110), "tools": calls[:-1]} if broken else expected
    return {"asked": _text(draw, 20), "expected": expected, "base": expected, "head": head}


def _call(draw: random.Random) -> dict[str, Any]:
    args = {"city": draw.choice(CITIES), "nights": draw.randint(1, 9), "note": _text(draw, 4)}
    return {"name": draw.choice(TOOLS), "args": args}


def _text(draw: random.Random, words: int) -> str:
    return " ".join(_chosen(draw, words))


def _chosen(draw: random.Random, words: int) -> Sequence[str]:
    return draw.choices(" ".join(WORDS).split(), k=words)


def long_conversation() -> Report:
    """Forty calls of which one moved and one has another number deep in its arguments."""
    packages: list[dict[str, Any]] = [{"kg": 1.5, "to": "Lisbon"}, {"kg": 0.4, "to": "Porto"}]
    calls: list[dict[str, Any]] = [{"name": f"step_{n % 7}", "args": {"n": n}} for n in range(40)]
    quote: dict[str, Any] = {
        "name": "quote",
        "args": {"options": {"packages": packages, "fast": True}},
    }
    heavier = {"options": {"packages": [packages[0], {"kg": 4.0, "to": "Porto"}], "fast": True}}
    before = [*calls[:20], quote, *calls[20:]]
    after = [*calls[:6], calls[8], *calls[6:8], *calls[9:20], {**quote, "args": heavier}]
    after += [*calls[20:39], {"name": "send_mail", "args": {"body": "x" * 900}}]
    long = " ".join(_chosen(random.Random(3), 500))
    other = long.replace(long[1500:1540], "**something else** entirely, ", 1)
    runs = {"base_runs": [_run("passed", n) for n in range(6)]}
    runs["head_runs"] = [_run(status, n) for n, status in enumerate(("failed", "errored") * 3)]
    same = {"text": "Done.", "tools": calls[:2]}
    judged: list[dict[str, Any]] = [
        {
            "criterion": CRITERIA[2],
            "subject": "The answer names the price of every package.",
            "rubric_id": "names_prices",
            "base": "yes",
            "head": "no",
            "reason": "It names the total only; the price of the second package is missing.",
        },
        {
            "criterion": CRITERIA[3],
            "subject": "The parcel arrives on Sunday.",
            "base": "supported",
            "head": "contradictory",
            "reason": "The tool says Monday.",
        },
    ]
    turns: list[dict[str, Any]] = [
        {"asked": "Hello!", "expected": same, "base": same, "head": same},
        {
            "asked": "Send both packages, the fast way, and tell me what each costs.",
            "expected": {"text": long, "tools": before},
            "base": {"text": long, "tools": before},
            "head": {"text": other, "tools": after},
            "judged": judged,
        },
    ]
    case = _case(0, broken=True, draw=random.Random(1))
    case["evidence"] = {"turns": turns, **runs}
    crashed = {**_case(1, broken=True, draw=random.Random(2)), "eval_id": "crashed"}
    log = "Traceback (most recent call last):\n  …\nConnectionError: the shop's API is away"
    crashed["evidence"] = {"turns": turns[:1], "head_error": log}
    report = large(6, 1).model_dump(mode="json", by_alias=True)
    report["cases"] = [{**case, "eval_id": "two_packages"}, crashed, *report["cases"][1:]]
    report["touched"] = [
        {"kind": "tool", "name": "refund", "path": "shop/tools.py", "line": 40, "total": 50},
        {"kind": "agent", "name": "billing", "cases": 3, "total": 50},
    ]
    return Report.model_validate(report)


HOSTILE = (
    "</script><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"
    "<svg/onload=alert(1)>{{7*7}}${7*7}javascript:alert(1)\u202e\x1b[31m"
)


def hostile() -> Report:
    """Every text that others wrote is an attack."""
    said = {"text": HOSTILE, "tools": [{"name": HOSTILE, "args": {HOSTILE: HOSTILE}}]}
    judged = {"criterion": HOSTILE, "subject": HOSTILE, "head": HOSTILE, "reason": HOSTILE}
    turn: dict[str, Any] = {"asked": HOSTILE, "expected": said, "base": said}
    turn |= {"head": {**said, "text": f"{HOSTILE}!", "tools": []}, "judged": [judged]}
    case = _case(0, broken=True, draw=random.Random(1))
    case |= {"suite": HOSTILE, "eval_set": HOSTILE, "eval_id": HOSTILE, "asked": HOSTILE}
    case |= {"evidence": {"turns": [turn], "base_error": HOSTILE, "head_error": HOSTILE}}
    case["moved_from"] = HOSTILE
    case["cause"] = {"text": HOSTILE}
    report = large(4, 1).model_dump(mode="json", by_alias=True)
    report["cases"].append(case)
    report["warnings"] = [HOSTILE]
    report["head"]["commit"] = HOSTILE
    report["touched"] = [{"kind": "tool", "name": HOSTILE, "path": HOSTILE}]
    report["decision"]["reasons"].append({"kind": "budget", "text": HOSTILE})
    return Report.model_validate(report)
