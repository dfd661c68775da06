"""Criteria that judge a dialogue as a whole, or the simulated user in it, agree with google-adk."""

import json
import re
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

from gradegate.model.result import Status
from tests.parity.judged.cases import MODEL, Batch, random_turn, rubric, text
from tests.parity.judged.judge import MarkedJudge
from tests.parity.judged.marks import Marks
from tests.parity.judged.sides import Scored, asker, disagreement, google_adks, ours
from tests.standins.gemini import GeminiStandin, prompt_of

CASES, SEED = 30, 5
JUDGE = {"judge_model": MODEL, "num_samples": 5}
RUBRICS = "rubric_based_multi_turn_trajectory_quality_v1"
SIMULATOR = "per_turn_user_simulator_quality_v1"
STOP = "</finished>"
MARK = re.compile(r"\{\{(\d+-\d+)\}\}")


class SimulatorJudge:
    """Judges the message of a simulated user by its mark, or a stop by the dialogue before it."""

    def __init__(self, marks: Marks) -> None:
        self.marks = marks
        self.asked: Counter[str] = Counter()

    def __call__(self, body: dict[str, Any]) -> str:
        """The reply, in our form or in google-adk's."""
        prompt = prompt_of(body)
        is_ours = "responseJsonSchema" in body.get("generationConfig", {})
        message = (
            prompt.partition("## The message to judge\n\n")[2].partition("## How to")[0]
            if is_ours
            else prompt.rpartition("# Generated User Response\n")[2]
        )
        found = MARK.findall(message) or [f"stop after {MARK.findall(prompt)[-1]}"]
        self.asked[found[-1]] += 1
        valid = self.marks.verdict(found[-1], self.asked[found[-1]])
        if is_ours:
            return json.dumps({"reasoning": "so", "verdict": "valid" if valid else "invalid"})
        return json.dumps({"criteria": [], "is_valid": "true" if valid else "false"})


def with_rubrics(draw: Random, number: int) -> dict[str, Any]:
    """A dialogue with rubrics of the criterion's and of the case's own."""
    turns = [random_turn(draw, f"{number}-0") for _ in range(draw.randint(1, 4))]
    for turn in turns[1:]:
        turn["user_content"] = text("And now?")
    for turn in turns:
        turn.pop("app_details", None)  # google-adk trips over declarations that it reads from JSON
    rubrics = [rubric(f"traj_{each}", "TRAJECTORY_QUALITY") for each in range(draw.randint(0, 3))]
    expected = [{"user_content": turn["user_content"]} for turn in turns]
    case = {"eval_id": f"case-{number}", "conversation": expected, "rubrics": rubrics}
    return {"case": case, "actual": turns}


def simulated(draw: Random, number: int) -> dict[str, Any]:
    """A dialogue of a simulated user, whose first message may not be what it should."""
    turns = [random_turn(draw, f"{number}-{turn}") for turn in range(draw.randint(1, 4))]
    for place, turn in enumerate(turns):
        turn["user_content"] = text(f"I want it. {{{{{number}-{place}}}}}")
    start = turns[0]["user_content"]["parts"][0]["text"] if draw.random() < 0.8 else "Hello."
    scenario = {"starting_prompt": start, "conversation_plan": "Get it."}
    case = {"eval_id": f"case-{number}", "conversation_scenario": scenario}
    return {"case": case, "actual": turns}


async def compare(batch: Batch, judges: list[Any], store: Path) -> list[Scored]:
    """Have both sides score the batch, each before a judge of its own; ours."""
    with GeminiStandin(judges[0]) as standin:
        theirs = google_adks(batch, standin.environ)["cases"]
    with GeminiStandin(judges[1]) as standin:
        async with asker(standin.environ, store) as ask:
            mine = await ours(batch, ask)
    differing = [
        f"case {number}, {name}: {found}"
        for number, (one, other) in enumerate(zip(mine, theirs, strict=True))
        for name in one
        if (found := disagreement(one[name], other[name]))
    ]
    assert not differing, "\n".join(differing)
    return mine


async def test_a_dialogue_is_held_to_its_rubrics(tmp_path: Path) -> None:
    """Once, with the last turn; 5 % of the answers are unusable."""
    draw = Random(SEED)
    own = [rubric("traj_own", None)]
    entry = {"threshold": 0.75, "judge_model_options": JUDGE, "rubrics": own}
    batch = Batch({RUBRICS: entry}, tuple(with_rubrics(draw, n) for n in range(CASES)))
    judges = [MarkedJudge(Marks(SEED)) for _ in range(2)]
    mine = await compare(batch, judges, tmp_path / "store")
    assert {case[RUBRICS].status for case in mine} == {Status.PASSED, Status.FAILED}
    theirs, ours_ = (judge.times.total() for judge in judges)
    assert theirs == 5 * CASES
    assert ours_ < 0.8 * theirs


async def test_a_simulated_user_is_held_to_its_plan(tmp_path: Path) -> None:
    """Its first message, each that follows, and how it ends."""
    draw = Random(SEED)
    entry = {"threshold": 0.75, "judge_model_options": JUDGE}
    batch = Batch({SIMULATOR: entry}, tuple(simulated(draw, n) for n in range(CASES)))
    judges = [SimulatorJudge(Marks(SEED)) for _ in range(2)]
    mine = await compare(batch, judges, tmp_path / "store")
    scores = [case[SIMULATOR].score for case in mine]
    assert {case[SIMULATOR].status for case in mine} == {Status.PASSED, Status.FAILED}
    assert len(set(scores)) > 3
