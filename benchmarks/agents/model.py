"""What the stand-in says: a travel desk's model to the agent, a contented judge to both."""

import json
import re
from typing import Any

from tests.parity.judged.judge import _fenced_after as fenced_after
from tests.standins import travel_model
from tests.standins.gemini import prompt_of

SENTENCE = re.compile(r"[^.\n]+\.")


def answer(body: dict[str, Any]) -> str | dict[str, Any]:
    """The agent has tools; a judge has none."""
    if body.get("tools"):
        return travel_model.answer(body)
    schema = body.get("generationConfig", {}).get("responseJsonSchema")
    prompt = prompt_of(body)
    return _to_us(prompt, schema["properties"]) if schema else _to_google_adk(prompt)


def _to_us(prompt: str, wanted: dict[str, Any]) -> str:
    if "verdict" in wanted:
        return json.dumps({"reasoning": "The same.", "verdict": "valid"})
    if wanted["sentences"]["items"]["type"] == "string":
        text = fenced_after(prompt, "## The text\n\n")
        return json.dumps({"sentences": [found.strip() for found in SENTENCE.findall(text)]})
    sentences = json.loads(fenced_after(prompt, "as a JSON list\n\n"))
    label = {"label": "supported", "reasoning": "The tool says so.", "excerpt": None}
    return json.dumps({"sentences": [{"sentence": each, **label} for each in sentences]})


def _to_google_adk(prompt: str) -> str:
    if "is_the_agent_response_valid" in prompt:
        return json.dumps({"reasoning": "The same.", "is_the_agent_response_valid": "valid"})
    if "Sentences Begin**" in prompt:
        listed = prompt.rpartition("**Sentences Begin**")[2]
        return "\n\n".join(
            f"sentence: {each}\nlabel: supported\nrationale: so\n"
            "supporting_excerpt: null\ncontradicting_excerpt: null"
            for each in re.findall(r"<sentence>(.*?)</sentence>", listed, re.DOTALL)
        )
    text = prompt.rpartition("**Response Begin**")[2].partition("**Response End**")[0]
    return "\n".join(f"<sentence>{each.strip()}</sentence>" for each in SENTENCE.findall(text))
