"""What of an agent a change touches, read from its files."""

from pathlib import Path

import pytest

from gradegate.sides.definitions import python_files, touched_definitions

TOOLS = '''
def search(what):
    """Find orders."""
    return what


@audited
async def refund(order):
    return order


def helper():
    return 1
'''
AGENT = '''
from google.adk.agents import Agent, LlmAgent
from google.adk.tools import FunctionTool
from .tools import refund, search

STYLE = """Be brief.
Be kind."""

billing = LlmAgent(
    name="billing",
    model="m",
    instruction=STYLE,
    tools=[FunctionTool(func=refund)],
)
root_agent = Agent(
    name="desk",
    instruction="Help the customer.",
    tools=[search],
    sub_agents=[billing],
)
'''
BASE = {"desk/tools.py": TOOLS, "desk/agent.py": AGENT}


def touched(**changes: tuple[str, str]) -> list[str]:
    """What a replacement in a file touches: kind, name and line."""
    head = dict(BASE)
    for name, (old, new) in changes.items():
        path = f"desk/{name}.py"
        assert old in head[path]
        head[path] = head[path].replace(old, new)
    return [f"{one.kind} {one.name}:{one.first}" for one in touched_definitions(BASE, head)]


@pytest.mark.parametrize(
    ("file", "old", "new", "expected"),
    [
        ("tools", "return order", "return -order", ["tool refund:7"]),
        ("tools", "@audited", "@logged", ["tool refund:7"]),
        ("tools", '    """Find orders."""\n', "", ["tool search:2"]),
        ("tools", "return 1", "return 2", []),
        ("agent", "Be kind", "Be curt", ["instruction billing:6"]),
        ("agent", "Help the", "Mind the", ["instruction desk:17"]),
        ("agent", 'model="m"', 'model="n"', ["agent billing:9"]),
        ("agent", "    sub_agents=[billing],\n", "", ["agent desk:15"]),
        ("agent", "tools=[search]", "tools=[search, refund]", ["agent desk:15"]),
        ("agent", "\nroot_agent", "\n# the desk\n\nroot_agent", []),
    ],
)
def test_a_change_is_told_by_what_it_is_in(
    file: str, old: str, new: str, expected: list[str]
) -> None:
    """A tool, an agent or its instruction, at its line in head's file."""
    assert touched(**{file: (old, new)}) == expected


def test_what_did_not_change_is_not_touched() -> None:
    """Whatever else is in the files."""
    assert touched_definitions(BASE, BASE) == ()
    assert touched_definitions({}, {"x.py": "def search(): pass"}) == ()


def test_a_tool_may_be_known_by_other_evidence() -> None:
    """As of a program that is no ADK agent, whose cases expect it to be called."""
    (one,) = touched_definitions({}, {"serve.py": "def get_order(): pass\n"}, {"get_order"})
    assert (one.kind, one.name, one.path, one.first) == ("tool", "get_order", "serve.py", 1)


@pytest.mark.parametrize("text", ["def broken(:", "\x00", "(" * 5_000, "-" * 50_000 + "1"])
def test_files_that_are_no_python_say_nothing(text: str) -> None:
    """Nor do they stop anything."""
    assert touched_definitions({}, {"x.py": text}, {"broken"}) == ()


@pytest.mark.trust
def test_only_files_of_the_folder_are_read(tmp_path: Path) -> None:
    """No links, which may lead anywhere, and nothing too large."""
    (tmp_path / "secret.py").write_text("SECRET = 1")
    folder = tmp_path / "agent"
    (folder / ".venv").mkdir(parents=True)
    (folder / ".venv" / "installed.py").write_text("x = 1")
    (folder / "linked.py").symlink_to(tmp_path / "secret.py")
    (folder / "links").symlink_to(tmp_path)
    (folder / "large.py").write_text("#" * 1024 * 257)
    (folder / "tools.py").write_text("x = 2")
    assert python_files(tmp_path, folder) == {"agent/tools.py": "x = 2"}
