"""What makes a side what it is: the agent's content, and all that its scores depend on."""

import hashlib
import json
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from gradegate.model.case import Case
from gradegate.model.settings import Settings, Suite
from gradegate.sides.checkout import Side
from gradegate.sides.fingerprint import tree_digest

HOW_IT_RUNS = {"agent", "command", "python", "requirements", "env"}
NOT_THE_AGENT = (".github/workflows", ".gradegate", "gradegate.toml")
"""Of `.github` only the workflows: prompts are kept beside them, which agents do read."""


def agent_identity(suite: Suite, side: Side, exclude: Collection[str]) -> str:
    """Equal for agents that cannot but behave alike.

    An agent may read any file of the repository, so all of them count, but for eval sets and
    settings (`exclude`, from the project's folder): a new case does not make a new agent.
    """
    if suite.traces is not None:
        recording = side.root / suite.traces
        content = recording.read_bytes() if recording.is_file() else b""
        return _digest(["recorded", hashlib.sha256(content).hexdigest()])
    below = side.root.relative_to(side.top).as_posix()
    prefix = "" if below == "." else f"{below}/"
    left_out = [f"{prefix}{path}" for path in (*NOT_THE_AGENT, *exclude)]
    how = suite.model_dump(mode="json", include=HOW_IT_RUNS)
    return _digest([how, below, tree_digest(side.top, [*left_out, *NOT_THE_AGENT])])


def fingerprint(agents: Sequence[str], cases: Iterable[Case], settings: Settings | None) -> str:
    """Equal for sides that nothing could tell apart: agents, cases, configs, settings."""
    return _digest(
        [
            list(agents),
            [[*case.key, case.digest, case.config.model_dump(mode="json")] for case in cases],
            (settings or Settings()).model_dump(mode="json"),
        ]
    )


def _digest(content: Any) -> str:
    text = json.dumps(content, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()
