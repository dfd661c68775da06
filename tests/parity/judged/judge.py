"""A judge for the Gemini stand-in that knows google-adk's prompts and ours.

It reads the marks in the data, finds the verdicts, and gives them in the form asked for.
"""

import json
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from tests.parity.judged.marks import Marks
from tests.standins.gemini import prompt_of

TURN = re.compile(r"\[\[(\d+-\d+)\]\]")
SENTENCE = re.compile(r"[^()]+\(\((\d+-\d+-\d+-\d+)\)\)\.")
PROSE = "That is hard to say; both views have something to them."
CUT = '{"reasoning": "The answer sa'


@dataclass(frozen=True)
class Asked:
    """What a prompt asks, whoever wrote it."""

    kind: str
    mark: str
    rubrics: tuple[tuple[str, str], ...] = ()
    """Ids and texts."""
    sentences: tuple[str, ...] = ()
    nothing_said: bool = False


@dataclass
class MarkedJudge:
    """Answers every question from its mark, and counts how often each was asked."""

    marks: Marks
    times: Counter[str] = field(default_factory=Counter)
    """How often each kind of question was asked."""
    _asked: Counter[str] = field(default_factory=Counter)

    def __call__(self, body: dict[str, Any]) -> str:
        """The reply to a request."""
        schema = body.get("generationConfig", {}).get("responseJsonSchema")
        prompt = prompt_of(body)
        asked = ours(prompt, schema) if schema else google_adks(prompt)
        self.times[asked.kind] += 1
        mark = f"{asked.kind} {asked.mark}"
        self._asked[mark] += 1
        sample = self._asked[mark]
        if self.marks.unusable(mark, sample) and not asked.nothing_said:
            return CUT if schema and sample % 2 else PROSE
        form = _in_our_form if schema else _in_google_adks_form
        return form(asked, self.marks, sample)


def ours(prompt: str, schema: dict[str, Any]) -> Asked:
    """One of our prompts, known by the answer it wants."""
    if "verdict" in schema["properties"]:
        nothing = "It is empty: the agent said nothing." in prompt
        return Asked("match", _turn(prompt), nothing_said=nothing)
    if "rubrics" in schema["properties"]:
        found = re.findall(r'^\{"rubric_id": .*\}$', prompt, re.MULTILINE)
        listed = [json.loads(line) for line in found]
        return _rubrics(prompt, [(each["rubric_id"], each["rubric"]) for each in listed])
    if schema["properties"]["sentences"]["items"]["type"] == "string":
        return _segment(_fenced_after(prompt, "## The text\n\n"))
    return _validate(json.loads(_fenced_after(prompt, "as a JSON list\n\n")))


def google_adks(prompt: str) -> Asked:
    """One of google-adk's prompts, known by the fields it names."""
    if "is_the_agent_response_valid" in prompt:
        nothing = '"Agent response": ,' in prompt
        return Asked("match", _turn(prompt), nothing_said=nothing)
    if "<properties>" in prompt:
        listed = prompt.rpartition("<properties>")[2].partition("</properties>")[0]
        if listed.strip().startswith("[\n"):
            asked = [(each["id"], each["property"]) for each in json.loads(listed)]
            return _rubrics(prompt, asked)
        return _rubrics(prompt, re.findall(r"\[id: (\S+)\] (.*)", listed))
    if "Sentences Begin**" in prompt:
        listed = prompt.rpartition("**Sentences Begin**")[2]
        return _validate(re.findall(r"<sentence>(.*?)</sentence>", listed, re.DOTALL))
    return _segment(prompt.rpartition("**Response Begin**")[2].partition("**Response End**")[0])


def _fenced_after(prompt: str, heading: str) -> str:
    rest = prompt.partition(heading)[2]
    fence, _, rest = rest.partition("\n")
    return rest.partition(f"\n{fence}")[0]


def _turn(prompt: str) -> str:
    (mark,) = set(TURN.findall(prompt))
    return str(mark)


def _rubrics(prompt: str, listed: list[tuple[str, str]]) -> Asked:
    kind = listed[0][0].partition("_")[0]
    return Asked(kind, _turn(prompt), rubrics=tuple(listed))


def _segment(text: str) -> Asked:
    found = [match[0].strip() for match in SENTENCE.finditer(text)]
    return Asked("segment", _mark_of(found[0]), sentences=tuple(found))


def _validate(sentences: list[str]) -> Asked:
    return Asked("validate", _mark_of(sentences[0]), sentences=tuple(sentences))


def _mark_of(sentence: str) -> str:
    found = SENTENCE.search(sentence)
    assert found, sentence
    return found[1]


def _in_our_form(asked: Asked, marks: Marks, sample: int) -> str:
    reasoning = f"Sample {sample}."
    if asked.kind == "segment":
        return json.dumps({"sentences": asked.sentences})
    if asked.kind == "validate":
        labelled = [
            {
                "sentence": each,
                "excerpt": None,
                "reasoning": reasoning,
                "label": marks.label(_mark_of(each), sample),
            }
            for each in asked.sentences
        ]
        return json.dumps({"sentences": labelled})
    if asked.kind == "match":
        valid = marks.verdict(f"match {asked.mark}", sample) and not asked.nothing_said
        return json.dumps({"reasoning": reasoning, "verdict": "valid" if valid else "invalid"})
    verdicts = [
        {"rubric_id": rubric, "reasoning": reasoning, "verdict": _yes(asked, rubric, marks, sample)}
        for rubric, _ in asked.rubrics
    ]
    return json.dumps({"rubrics": verdicts})


def _in_google_adks_form(asked: Asked, marks: Marks, sample: int) -> str:
    if asked.kind == "segment":
        return "\n".join(f"<sentence>{each}</sentence>" for each in asked.sentences)
    if asked.kind == "validate":
        return "\n\n".join(
            f"sentence: {each}\nlabel: {marks.label(_mark_of(each), sample)}\nrationale: so\n"
            "supporting_excerpt: null\ncontradicting_excerpt: null"
            for each in asked.sentences
        )
    if asked.kind == "match":
        valid = marks.verdict(f"match {asked.mark}", sample) and not asked.nothing_said
        verdict = "valid" if valid else "invalid"
        return json.dumps({"reasoning": "so", "is_the_agent_response_valid": verdict})
    return "\n\n".join(
        f"ID: {rubric}\nProperty: {text}\nEvidence: some\nRationale: so\n"
        f"Verdict: {_yes(asked, rubric, marks, sample)}"
        for rubric, text in asked.rubrics
    )


def _yes(asked: Asked, rubric: str, marks: Marks, sample: int) -> str:
    return "yes" if marks.verdict(f"{asked.mark} {rubric}", sample) else "no"
