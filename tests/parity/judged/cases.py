"""Seeded conversations with marks in them, as google-adk and we both read them."""

from dataclasses import dataclass
from random import Random
from typing import Any

Json = dict[str, Any]

MODEL = "gemini-2.5-flash"
KINDS = {"final": "FINAL_RESPONSE_QUALITY", "tools": "TOOL_USE_QUALITY"}
WORDS = "the order was sent on Monday 注文は 届きました в пути and costs 20 € per Stück".split()  # noqa: SIM905 - reads as the sentence it is


@dataclass(frozen=True)
class Batch:
    """Cases that are scored with one config."""

    criteria: Json
    cases: tuple[Json, ...]
    """Each with `case` and `actual`."""

    def as_json(self) -> Json:
        """What the service script reads."""
        return {"criteria": self.criteria, "cases": list(self.cases)}


def batches(seed: int, cases: int) -> list[Batch]:
    """Half of the cases with each of two configs."""
    draw = Random(seed)
    made = [random_case(draw, number) for number in range(cases)]
    return [
        Batch(criteria(intermediate=False), tuple(made[::2])),
        Batch(criteria(intermediate=True), tuple(made[1::2])),
    ]


def criteria(*, intermediate: bool, samples: int = 5) -> Json:
    """All four, with and without what was said on the way."""
    judge = {"judge_model": MODEL, "num_samples": samples}
    both = {"threshold": 0.75, "judge_model_options": judge}
    included = {"include_intermediate_responses_in_final": intermediate}
    return {
        "final_response_match_v2": {**both, **included},
        "rubric_based_final_response_quality_v1": {
            **both,
            **included,
            "rubrics": [rubric("final_own", None)],
        },
        "rubric_based_tool_use_quality_v1": {**both, "rubrics": [rubric("tools_own", None)]},
        "hallucinations_v1": {
            "threshold": 0.75,
            "judge_model_options": {"judge_model": MODEL},
            "evaluate_intermediate_nl_responses": intermediate,
        },
    }


def rubric(rubric_id: str, kind: str | None) -> Json:
    """A rubric of a type, or a criterion's own."""
    text = f"The agent does what {rubric_id} wants."
    made: Json = {"rubric_id": rubric_id, "rubric_content": {"text_property": text}}
    return made | ({"type": kind} if kind else {})


def random_case(draw: Random, number: int) -> Json:
    """A conversation of two to four turns, with rubrics of its own for one criterion or both."""
    turns = [random_turn(draw, f"{number}-{turn}") for turn in range(draw.randint(2, 4))]
    expected = [{"user_content": turn["user_content"], **_reference(draw)} for turn in turns]
    rubrics = [
        rubric(f"{name}_{each}", kind)
        for name, kind in KINDS.items()
        for each in range(draw.randint(0, 2))
    ]
    case: Json = {"eval_id": f"case-{number}", "conversation": expected, "rubrics": rubrics}
    return {"case": case, "actual": turns}


def _reference(draw: Random) -> Json:
    return {"final_response": text("the reference")} if draw.random() < 0.95 else {}


def random_turn(draw: Random, mark: str) -> Json:
    """A turn with calls and words on the way, in either shape."""
    made: Json = {
        "invocation_id": f"e-{draw.random()}",
        "user_content": text(f"Where is it? [[{mark}]]"),
    }
    spoken = draw.randint(0, 1)
    on_the_way = [said(draw, f"{mark}-{place}") for place in range(spoken)]
    calls = [call(draw) for _ in range(draw.randint(0, 2))]
    if draw.random() < 0.7:
        made["intermediate_data"] = {"invocation_events": events(draw, on_the_way, calls)}
    elif calls:
        made["intermediate_data"] = {"tool_uses": calls, "tool_responses": responses(calls)}
    if draw.random() < 0.96:
        made["final_response"] = text(said(draw, f"{mark}-{spoken}"))
    if draw.random() < 0.6:
        made["app_details"] = {"agent_details": {"root": agent()}}
    return made


def said(draw: Random, mark: str) -> str:
    """One to four sentences, each marked."""
    count = draw.randint(1, 4)
    sentences = [" ".join(draw.sample(WORDS, 5)) + f" (({mark}-{n}))." for n in range(count)]
    return draw.choice((" ", "\n")).join(sentences)


def text(words: str) -> Json:
    """A content of one text."""
    return {"parts": [{"text": words}]}


def call(draw: Random) -> Json:
    """A tool call with a random id, as ADK gives one."""
    return {"id": f"adk-{draw.random()}", "name": "track", "args": {"order": draw.randint(1, 9)}}


def responses(calls: list[Json]) -> list[Json]:
    """What the tool answered to each."""
    return [{"id": c["id"], "name": c["name"], "response": {"status": "sent"}} for c in calls]


def events(draw: Random, on_the_way: list[str], calls: list[Json]) -> list[Json]:
    """Words, then calls, then their responses; now and then grounded."""
    parts = [{"text": words} for words in on_the_way]
    made: list[Json] = [
        {"author": "root", "content": {"parts": [*parts, *({"function_call": c} for c in calls)]}},
        {
            "author": "root",
            "content": {"parts": [{"function_response": r} for r in responses(calls)]},
        },
    ]
    if draw.random() < 0.3:
        made[0]["grounding_metadata"] = {"web_search_queries": ["where is my order"]}
    return made


def agent() -> Json:
    """The only agent, with its instructions and its tool."""
    declared = [{"function_declarations": [{"name": "track", "description": "Finds an order."}]}]
    return {"name": "root", "instructions": "Be exact.", "tool_declarations": declared}
