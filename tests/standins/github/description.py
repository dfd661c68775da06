"""GitHub's own description of its requests, and what is wrong with one."""

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

from jsonschema import Draft202012Validator, FormatChecker

CUT = Path(__file__).parents[1] / "openapi" / "github.json"

_FORMATS = FormatChecker(formats=())
_DATE_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)")


def _is_date_time(value: object) -> bool:
    return not isinstance(value, str) or _DATE_TIME.fullmatch(value) is not None


_FORMATS.checks("date-time")(_is_date_time)


class Operation(NamedTuple):
    """One method on one path, such as `post /repos/{owner}/{repo}/check-runs`."""

    name: str
    path: re.Pattern[str]
    parameters: Mapping[str, Mapping[str, Any]]
    body: Mapping[str, Any] | None

    def problems(self, query: Mapping[str, str], body: Any) -> list[str]:
        """What GitHub's description does not know or does not allow; empty where all is well."""
        return [*self._query_problems(query), *self._body_problems(body)]

    def _query_problems(self, query: Mapping[str, str]) -> Iterator[str]:
        for name, value in query.items():
            if name not in self.parameters:
                yield f"unknown parameter {name}"
                continue
            schema = self.parameters[name]
            number = schema.get("type") == "integer" and value.isdecimal()
            yield from _errors(schema, int(value) if number else value, name)

    def _body_problems(self, body: Any) -> Iterator[str]:
        if self.body is None:
            if body is not None:
                yield "a body where none is expected"
            return
        yield from _errors(self.body, body, "body")
        known = self.body["properties"]
        if isinstance(body, dict):
            yield from (f"body: unknown property {name}" for name in body if name not in known)


class Match(NamedTuple):
    """The operation that a request asks for, with what its path says."""

    operation: Operation
    values: Mapping[str, str]


def match(method: str, path: str) -> Match | None:
    """The operation that GitHub would take this request for."""
    for operation in _operations():
        if operation.name.startswith(f"{method.lower()} ") and (
            found := operation.path.fullmatch(path)
        ):
            return Match(operation, {k: unquote(v) for k, v in found.groupdict().items()})
    return None


@cache
def _operations() -> tuple[Operation, ...]:
    paths = json.loads(CUT.read_text())["paths"]
    return tuple(
        Operation(
            name=f"{method} {path}",
            path=_pattern(path),
            parameters={
                parameter["name"]: _json_schema(parameter["schema"])
                for parameter in described["parameters"]
                if parameter["in"] == "query"
            },
            body=_json_schema(described["body"]),
        )
        # fixed paths before those with a placeholder: comments/{id} is no issue's number
        for path, methods in sorted(paths.items(), key=lambda item: item[0].count("{"))
        for method, described in methods.items()
    )


def _pattern(path: str) -> re.Pattern[str]:
    """A placeholder is one segment; a file's path and a reference at the end are several."""
    named = re.sub(r"\\{(\w+)\\}", r"(?P<\1>[^/]+)", re.escape(path))
    return re.compile(re.sub(r"\(\?P<(path|ref)>\[\^/\]\+\)$", r"(?P<\1>.+)", named))


def _json_schema(node: Any) -> Any:
    """OpenAPI's way of saying that null is fine, as JSON Schema says it."""
    if isinstance(node, list):
        return [_json_schema(item) for item in node]
    if not isinstance(node, dict):
        return node
    schema = {key: _json_schema(value) for key, value in node.items() if key != "nullable"}
    if node.get("nullable") is True:
        schema["type"] = [node["type"], "null"]
    return schema


def _errors(schema: Mapping[str, Any], value: Any, name: str) -> Iterator[str]:
    for error in Draft202012Validator(schema, format_checker=_FORMATS).iter_errors(value):
        place = "".join(f"[{part}]" for part in error.absolute_path)
        yield f"{name}{place}: {error.message[:300]}"
