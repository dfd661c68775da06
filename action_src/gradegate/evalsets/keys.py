"""Keys that nobody reads: a warning, or an error where one would change what is run."""

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic.alias_generators import to_snake

from gradegate.files.findings import Finding
from gradegate.files.json_document import Document, Key
from gradegate.model.errors import did_you_mean
from gradegate.model.notice import Notice, notice

CONFIG = frozenset({"criteria", "custom_metrics", "user_simulator_config"})
EVAL_SET = frozenset({"eval_set_id", "name", "description", "eval_cases", "creation_timestamp"})
CASE = frozenset(
    {
        "eval_id",
        "conversation",
        "conversation_scenario",
        "session_input",
        "creation_timestamp",
        "rubrics",
    }
)
OLD_CASE = frozenset({"name", "data", "initial_session"})
OLD_TURN = frozenset(
    {"query", "reference", "expected_tool_use", "expected_intermediate_agent_responses"}
)

_NOT_SUPPORTED: Mapping[str, str] = {
    "live_model_config": "live (audio) sessions are not supported yet",
    "final_session_state": "no criterion compares the session's final state yet",
}
"""Keys of google-adk's that would change what is run or measured, and what to know of them."""
_REMARKS = ("$", "_", "/", "#")
"""How keys begin that people write for each other."""


class KeyReader:
    """Notes each unknown key of a file once, at the first place where it stands."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._seen: set[tuple[frozenset[str], str]] = set()

    def unknown(self, value: Any, known: frozenset[str], *path: Key) -> Iterator[Finding]:
        """What is wrong with the keys of the object at this path."""
        for key, entry in value.items() if isinstance(value, dict) else ():
            name = to_snake(key)
            if name in known or key.startswith(_REMARKS):
                continue
            if name in _NOT_SUPPORTED:
                if entry:
                    message = f"`{key}`: {_NOT_SUPPORTED[name]}: remove it"
                    yield self._document.finding(message, *path, key)
            elif (known, name) not in self._seen:
                self._seen.add((known, name))
                told = _ignored(key, known)
                yield self._document.finding(told, *path, key, level="warning")


def _ignored(key: str, known: frozenset[str]) -> Notice:
    meant = did_you_mean(to_snake(key), sorted(known), cutoff=0.5)
    if meant:
        return notice("evals.unknown_key", key=key, meant=meant)
    return notice("evals.unknown_key_of", key=key, known=", ".join(sorted(known)))
