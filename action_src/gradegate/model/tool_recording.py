"""Calls of tools with their answers, and the file that keeps them."""

import json
from typing import Any, Final, Literal

from pydantic import Field

from gradegate.model.base import Value
from gradegate.model.question import content_digest

TOOLS_SCHEMA: Final = "gradegate/tools/v1"


class ToolAnswer(Value):
    """A call of a tool, and where its answer came from."""

    name: str
    args: dict[str, Any] = Field(default_factory=dict)
    source: Literal["case", "recording", "live", "missing"] = "live"
    response: Any = None
    """What it answered; taken down where a recording is made, like the rest."""
    error: str | None = None
    """What it raised in place of an answer."""
    state: dict[str, Any] = Field(default_factory=dict)
    """What it changed in the session's state."""
    actions: dict[str, Any] = Field(default_factory=dict)


class ToolRecording(Value):
    """The file: calls with their answers by case, in order; what MCP servers declare."""

    schema_: Literal["gradegate/tools/v1"] = Field(default=TOOLS_SCHEMA, alias="schema")
    toolsets: dict[str, tuple[dict[str, Any], ...]] = Field(default_factory=dict)
    """By the agent that has it, and its number among the agent's MCP toolsets."""
    cases: dict[str, tuple[ToolAnswer, ...]] = Field(default_factory=dict)

    def digest_of(self, eval_id: str) -> str:
        """Of what is recorded for a case; empty where nothing is."""
        answers = [one.model_dump(mode="json") for one in self.cases.get(eval_id, ())]
        return content_digest([answers, self.toolsets]) if answers or self.toolsets else ""

    def and_then(self, newer: "ToolRecording") -> "ToolRecording":
        """With what a newer one has in its place."""
        return ToolRecording(
            toolsets={**self.toolsets, **newer.toolsets}, cases={**self.cases, **newer.cases}
        )

    def as_text(self) -> str:
        """The file."""
        told = self.model_dump(mode="json", exclude_defaults=True, by_alias=True)
        for answers in told.get("cases", {}).values():
            for one in answers:
                one.pop("source", None)
        return json.dumps({"schema": TOOLS_SCHEMA, **told}, indent=1, ensure_ascii=False) + "\n"
