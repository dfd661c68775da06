"""Where an agent's tools, sub-agents and instructions are defined, and which a change touches.

Python files are read as text and never run. What is not written plainly (a tool made by a function,
an agent without a literal name) is not found, and nothing is claimed of it.
"""

import ast
import os
import stat
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from pathlib import Path
from typing import Literal, NamedTuple

Kind = Literal["tool", "agent", "instruction"]
_MOST_FILES = 500
_LARGEST = 256 * 1024
_SKIPPED = frozenset({".git", ".venv", "venv", "node_modules", "__pycache__"})


class Definition(NamedTuple):
    """A part of an agent, and the lines that define it."""

    kind: Kind
    name: str
    path: str
    first: int
    last: int


@dataclass
class Found:
    """What the files of an agent define."""

    functions: list[Definition] = field(default_factory=list)
    agents: list[Definition] = field(default_factory=list)
    instructions: list[Definition] = field(default_factory=list)
    texts: list[Definition] = field(default_factory=list)
    """Names that a text is assigned to, which an instruction may be."""
    tools: set[str] = field(default_factory=set)
    """Names in an agent's `tools`."""
    instructed_by: dict[str, str] = field(default_factory=dict)
    """Of an agent, the name that its instruction is read from."""


def python_files(root: Path, folder: Path) -> Mapping[str, str]:
    """The texts of the Python files below a folder by their path from the root; links left out."""
    found: dict[str, str] = {}
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(set(folders) - _SKIPPED)
        for name in sorted(names):
            if name.endswith(".py") and len(found) < _MOST_FILES:
                path = Path(place, name)
                text = _text(path)
                if text is not None:
                    found[path.relative_to(root).as_posix()] = text
    return found


def touched_definitions(
    base: Mapping[str, str], head: Mapping[str, str], known_tools: Collection[str] = ()
) -> tuple[Definition, ...]:
    """What of head's agent differs from base's; `known_tools` are tools by other evidence."""
    if base == head:
        return ()
    found = Found()
    for path, text in head.items():
        _read(path, text, found)
    lines = {path: _changed_lines(base.get(path, ""), text) for path, text in head.items()}
    tools = found.tools | set(known_tools)
    instructions = [*found.instructions, *_named_instructions(found)]
    parts = [one for one in found.functions if one.name in tools]
    parts += [one for one in instructions if _is_touched(one, lines)]
    parts += [one for one in found.agents if _touched_beside(one, instructions, lines)]
    return tuple(sorted({one for one in parts if _is_touched(one, lines)}))


def _text(path: Path) -> str | None:
    about = path.lstat()
    if not stat.S_ISREG(about.st_mode) or about.st_size > _LARGEST:
        return None
    return path.read_text(encoding="utf-8", errors="replace")


def _read(path: str, text: str, found: Found) -> None:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return  # the agent says so itself when it is loaded
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
            found.functions.append(Definition("tool", node.name, path, first, _end(node)))
        elif isinstance(node, ast.Assign) and len(node.targets) == 1:
            target = node.targets[0]
            if isinstance(target, ast.Name):
                text_of = Definition("instruction", target.id, path, node.lineno, _end(node))
                found.texts.append(text_of)
        elif isinstance(node, ast.Call):
            _read_call(path, node, found)


def _read_call(path: str, node: ast.Call, found: Found) -> None:
    """An agent, where something called `…Agent` is made with a literal name."""
    given = {one.arg: one.value for one in node.keywords if one.arg}
    name = given.get("name")
    if not _name_of(node.func).endswith("Agent") or not _is_text(name):
        return
    agent = str(ast.literal_eval(name))  # type: ignore[arg-type]
    found.agents.append(Definition("agent", agent, path, node.lineno, _end(node)))
    found.tools |= set(_tool_names(given.get("tools")))
    instruction = given.get("instruction")
    if isinstance(instruction, ast.Name):
        found.instructed_by[agent] = instruction.id
    elif instruction is not None:
        lines = instruction.lineno, _end(instruction)
        found.instructions.append(Definition("instruction", agent, path, *lines))


def _is_text(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _tool_names(node: ast.expr | None) -> Iterator[str]:
    for item in node.elts if isinstance(node, ast.List | ast.Tuple) else ():
        inner = item
        if isinstance(item, ast.Call):
            named = [one.value for one in item.keywords if one.arg == "func"]
            inner = next(iter([*named, *item.args]), item.func)
        if name := _name_of(inner):
            yield name


def _name_of(node: ast.expr) -> str:
    if isinstance(node, ast.Name):
        return node.id
    return node.attr if isinstance(node, ast.Attribute) else ""


def _end(node: ast.stmt | ast.expr) -> int:
    return node.end_lineno or node.lineno


def _named_instructions(found: Found) -> Iterator[Definition]:
    """Instructions that are assigned to a name which no other file gives another meaning."""
    for agent, name in found.instructed_by.items():
        places = [one for one in found.texts if one.name == name]
        if len(places) == 1:
            yield places[0]._replace(name=agent)


def _changed_lines(before: str, after: str) -> Sequence[range]:
    """The lines of `after` that `before` has not; where lines are gone, the one behind them."""
    if before == after:
        return ()
    old, new = before.splitlines(), after.splitlines()
    codes = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return [range(k + 1, max(m, k + 1) + 1) for tag, _, _, k, m in codes if tag != "equal"]


def _is_touched(one: Definition, lines: Mapping[str, Sequence[range]]) -> bool:
    own = lines.get(one.path, ())
    return any(part.start <= one.last and part.stop > one.first for part in own)


def _touched_beside(
    agent: Definition, instructions: Sequence[Definition], lines: Mapping[str, Sequence[range]]
) -> bool:
    """Whether anything of the agent changed beside its instruction."""
    inner = {
        number
        for one in instructions
        if one.path == agent.path and one.name == agent.name
        for number in range(one.first, one.last + 1)
    }
    return any(
        number not in inner
        for part in lines.get(agent.path, ())
        for number in part
        if agent.first <= number <= agent.last
    )
