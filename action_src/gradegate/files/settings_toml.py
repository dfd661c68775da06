"""`gradegate.toml`, or `[tool.gradegate]` in pyproject.toml, and the places in it."""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from gradegate.files.findings import Finding, refuse_errors
from gradegate.files.json_document import read_text, refuse_outside, text_within
from gradegate.files.schema_errors import field, nearest, objection
from gradegate.model.errors import FileError
from gradegate.model.settings import Settings

Key = str | int

_HEADER = re.compile(r"^\s*(\[\[?)\s*([^\[\]]+?)\s*\]\]?\s*(?:#.*)?$")
_ENTRY = re.compile(
    r"""^\s*((?:[\w-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[\w-]+|"[^"]*"|'[^']*'))*)\s*="""
)
_WORD = re.compile(r"""[\w-]+|"[^"]*"|'[^']*'""")
_DEEPEST = 100
_TOO_DEEP = "nested too deeply to be read"
_LONG_QUOTES = ('"' * 3, "'" * 3)


def place_of(text: str, keys: Sequence[Key]) -> tuple[int, int]:
    """Line and column of the key at this path, or of its nearest ancestor that is written."""
    best, depth = (1, 1), 0
    for path, place in _places(text):
        shared = _shared(path, keys)
        if shared == len(path) and shared > depth:
            best, depth = place, shared
    return best


def _places(text: str) -> Iterator[tuple[tuple[Key, ...], tuple[int, int]]]:
    """Every header and entry, as the path it opens or sets."""
    table: tuple[Key, ...] = ()
    counts: dict[tuple[str, ...], int] = {}
    for number, line in _lines_outside_long_texts(text):
        place = (number, len(line) - len(line.lstrip()) + 1)
        if header := _HEADER.match(line):
            words = tuple(_words(header[2]))
            if header[1] == "[[":
                counts[words] = counts.get(words, -1) + 1
            table = _with_indices(words, counts)
            yield table, place
        elif entry := _ENTRY.match(line):
            yield (*table, *_words(entry[1])), place


def _with_indices(words: tuple[str, ...], counts: dict[tuple[str, ...], int]) -> tuple[Key, ...]:
    """A header's path, with the number of the current element after each array of tables."""
    path: list[Key] = []
    for end, word in enumerate(words, start=1):
        path.append(word)
        if words[:end] in counts:
            path.append(counts[words[:end]])
    return tuple(path)


def _lines_outside_long_texts(text: str) -> Iterator[tuple[int, str]]:
    inside = ""
    for number, line in enumerate(text.splitlines(), start=1):
        if not inside:
            yield number, line
        for quotes in (inside,) if inside else _LONG_QUOTES:
            if line.count(quotes) % 2:
                inside = "" if inside else quotes
                break


def _words(dotted: str) -> list[str]:
    return [word.strip("\"'") for word in _WORD.findall(dotted)]


def _shared(path: Sequence[Key], keys: Sequence[Key]) -> int:
    count = 0
    for ours, theirs in zip(path, keys, strict=False):
        if ours != theirs:
            break
        count += 1
    return count


SETTINGS_FILE = "gradegate.toml"
PYPROJECT = "pyproject.toml"
_PATHS_WITHIN = ("agent", "traces", "eval_config", "requirements")
_AT_LINE = re.compile(r"\s*\(at (?:line (\d+), column (\d+)|end of document)\)$")


def read_settings(root: Path, config: str | None = None) -> Settings | None:
    """The repository's settings; None where it has none. `config` names another file."""
    if config is not None:
        if not (root / config).is_file():
            message = "there is no such file: correct `config`, or leave it out"
            raise FileError(config, message)
        if ".." not in PurePosixPath(config).parts:  # the workflow's word, which may lead up
            refuse_outside(root, config)
        return parse_settings(config, read_text(root / config, config))
    for name in (SETTINGS_FILE, PYPROJECT):
        if (root / name).is_file():
            text = text_within(root, name)
            if name == SETTINGS_FILE or has_settings(name, text):
                return parse_settings(name, text)
    return None


def prefix_in(label: str) -> tuple[str, ...]:
    """The table of a TOML file that our settings are in."""
    return ("tool", "gradegate") if PurePosixPath(label).name == PYPROJECT else ()


def has_settings(label: str, text: str) -> bool:
    """Whether a TOML text says anything to us: all of ours does, a pyproject.toml may."""
    if not prefix_in(label):
        return True
    tool = load_toml(label, text).get("tool")
    return isinstance(tool, dict) and "gradegate" in tool


def parse_settings(label: str, text: str) -> Settings:
    """Settings from a file's text. Raises a FileError for the first thing that is wrong."""
    settings, findings = examine_settings(label, text)
    refuse_errors(findings)
    return settings


def examine_settings(label: str, text: str) -> tuple[Settings, tuple[Finding, ...]]:
    """Settings, and all that is wrong with them; broken ones read as if nothing were said."""
    value = load_toml(label, text)
    prefix = prefix_in(label)
    for key in prefix:
        value = value.get(key, {})
    try:
        settings = Settings.model_validate(_with_names(value))
    except ValidationError as error:
        details = error.errors(include_url=False)
        return Settings(), tuple(_finding(label, text, prefix, detail) for detail in details)
    return settings, tuple(_outside(label, text, prefix, settings))


def load_toml(label: str, text: str) -> dict[str, Any]:
    """Anybody's TOML text as tables. Raises a FileError for what cannot be read."""
    for path, (number, start) in _places(text):
        if len(path) > _DEEPEST:  # before it is read, which takes minutes
            raise FileError(label, _TOO_DEEP, line=number, column=start)
    try:
        value = tomllib.loads(text.replace("\r\n", "\n"))
    except tomllib.TOMLDecodeError as error:
        message = str(error)
        place = _AT_LINE.search(message)
        line, column = (place[1], place[2]) if place and place[1] else (text.count("\n") + 1, 1)
        what = _AT_LINE.sub("", message)
        message = f"not valid TOML: {what[:1].lower()}{what[1:]}"
        raise FileError(label, message, line=int(line), column=int(column)) from error
    except RecursionError as error:
        raise FileError(label, _TOO_DEEP) from error
    except ValueError as error:  # more digits than Python takes
        raise FileError(label, "a number in it is too long to be read") from error
    if _depth(value) > _DEEPEST:
        raise FileError(label, _TOO_DEEP)
    return value


def _depth(value: Any) -> int:
    """How many containers are in each other."""
    depth, layer = 0, [value]
    while layer := [one for one in layer if isinstance(one, dict | list)]:
        depth += 1
        layer = [i for one in layer for i in (one.values() if isinstance(one, dict) else one)]
    return depth


def _with_names(value: dict[str, Any]) -> dict[str, Any]:
    """A suite without a name goes by its agent folder's."""
    suites = value.get("suite")
    if not isinstance(suites, list):
        return value
    return {**value, "suite": [_with_name(suite) for suite in suites]}


def _with_name(suite: Any) -> Any:
    if not isinstance(suite, dict) or not isinstance(suite.get("agent"), str):
        return suite
    return {"name": PurePosixPath(suite["agent"]).name, **suite}


def _finding(label: str, text: str, prefix: Sequence[Key], detail: ErrorDetails) -> Finding:
    path = (*prefix, *detail["loc"])
    message = f"{field(path)}{objection(detail)}"
    if detail["type"] == "extra_forbidden":
        known = _fields_at(Settings, detail["loc"][:-1])
        message = f"unknown key {field(path).strip()}: {nearest(str(path[-1]), known)}"
    return Finding(label, *place_of(text, path), "error", message)


def _fields_at(model: Any, path: Sequence[Key]) -> list[str]:
    """The keys that a table may have."""
    for key in path:
        if isinstance(key, str) and key in model.model_fields:
            model = _model_in(model.model_fields[key].annotation) or model
    return list(model.model_fields)


def _model_in(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next(filter(None, map(_model_in, get_args(annotation))), None)


def _outside(label: str, text: str, prefix: Sequence[Key], settings: Settings) -> list[Finding]:
    """Paths of a suite that lead out of the repository."""
    findings = []
    for index, suite in enumerate(settings.suite):
        for name in _PATHS_WITHIN:
            path = PurePosixPath(getattr(suite, name) or "")
            if path.is_absolute() or ".." in path.parts:
                keys = (*prefix, "suite", index, name)
                message = f"{field(keys)}leads outside the repository: write a path within it"
                findings.append(Finding(label, *place_of(text, keys), "error", message))
    return findings


def table(content: Mapping[str, Any], *keys: str) -> Mapping[str, Any]:
    """A table in it; an empty one where there is none, or something else in its place."""
    for key in keys:
        inner = content.get(key)
        content = inner if isinstance(inner, dict) else {}
    return content
