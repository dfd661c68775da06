"""What a repository's own files tell of its agents."""

from pathlib import Path

import pytest

from gradegate.evalsets.agent_hints import runs_in_test, uses_vertex

EVALUATE = """
import pathlib
from google.adk.evaluation.agent_evaluator import AgentEvaluator

async def test_all():
    await AgentEvaluator.evaluate(agent_module="weather.agent", num_runs=5)
    await AgentEvaluator.evaluate(agent_module="desk.news", num_runs=9)
"""


def write(root: Path, name: str, text: str) -> None:
    """One file."""
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / name).write_text(text)


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("a/bot/.env", "GOOGLE_GENAI_USE_VERTEXAI=TRUE\n", True),
        (".env", "# ours\nexport GOOGLE_GENAI_USE_VERTEXAI = '1'\n", True),
        ("a/.env.example", 'GOOGLE_GENAI_USE_VERTEXAI="true"\n', True),
        (".env", "GOOGLE_GENAI_USE_VERTEXAI=FALSE\n", False),
        (".env", "#GOOGLE_GENAI_USE_VERTEXAI=1\n", False),
        ("b/.env", "GOOGLE_GENAI_USE_VERTEXAI=1\n", False),
        ("a/bot/x.py", 'os.environ["GOOGLE_GENAI_USE_VERTEXAI"] = "True"\n', True),
        ("a/bot/x.py", 'os.environ.setdefault("GOOGLE_GENAI_USE_VERTEXAI", "1")\n', True),
        ("a/bot/sub/x.py", "client = Client(vertexai=True)\n", True),
        ("a/bot/x.py", "vertexai.init(project=p)\n", True),
        ("a/bot/x.py", 'os.getenv("GOOGLE_GENAI_USE_VERTEXAI", "0")\n', False),
        ("b/x.py", "vertexai.init()\n", False),
    ],
)
def test_vertex_is_told_from_the_nearest_file(
    tmp_path: Path, name: str, text: str, *, expected: bool
) -> None:
    """At or above the agent, and in its own code; a remark and another agent's file say nothing."""
    write(tmp_path, "a/bot/agent.py", "root_agent = None\n")
    write(tmp_path, name, text)
    assert uses_vertex(tmp_path, "a/bot") is expected


def test_a_file_of_variables_comes_before_code(tmp_path: Path) -> None:
    """ADK's own template has both ways in it, and the file decides."""
    write(tmp_path, "bot/agent.py", "vertexai.init()\n")
    write(tmp_path, "bot/.env", "GOOGLE_GENAI_USE_VERTEXAI=0\n")
    assert not uses_vertex(tmp_path, "bot")


@pytest.mark.parametrize(
    ("agent", "expected"),
    [("agents/weather", 5), ("desk/news", 9), ("desk", None), ("agents/other", None)],
)
def test_runs_are_those_of_the_call_for_this_agent(
    tmp_path: Path, agent: str, expected: int | None
) -> None:
    """By its module, whatever folder that is imported from."""
    write(tmp_path, "eval/test_eval.py", EVALUATE)
    assert runs_in_test(tmp_path, agent, ("eval/data/x.test.json",)) == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("evaluate(num_runs=3)", 3),
        ("evaluate(agent_module=name(), num_runs=3)", 3),
        ("evaluate()", None),
        ("evaluate(num_runs=N)", None),
        ("evaluate(num_runs=0)", None),
        ("evaluate(num_runs=5000)", None),
        ("evaluate(num_runs=True)", None),
        ("evaluate(num_runs=", None),
        ("\0", None),
    ],
)
def test_what_is_no_plain_number_tells_nothing(
    tmp_path: Path, source: str, expected: int | None
) -> None:
    """Nor does a file that is no Python."""
    write(tmp_path, "test_eval.py", source)
    assert runs_in_test(tmp_path, "bot", ("x.test.json",)) == expected
