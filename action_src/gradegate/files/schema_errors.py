"""Pydantic's objections as findings: at the right line, in words that say what to write."""

from collections.abc import Iterable, Sequence

from pydantic import ValidationError
from pydantic.alias_generators import to_snake
from pydantic_core import ErrorDetails

from gradegate.files.findings import Finding
from gradegate.files.json_document import Document, Key
from gradegate.model.errors import did_you_mean

_EXPECTED = {
    "string_type": "a text in quotes",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "float_parsing": "a number",
    "finite_number": "a finite number",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "tuple_type": "a list",
    "list_type": "a list",
    "dict_type": "an object",
    "model_type": "an object",
    "model_attributes_type": "an object",
    "date_type": "a date such as 2026-12-31",
    "date_from_datetime_parsing": "a date such as 2026-12-31",
}


def schema_findings(
    document: Document, error: ValidationError, *prefix: Key
) -> tuple[Finding, ...]:
    """Each objection once, at the value it is about."""
    found: dict[tuple[Key, ...], Finding] = {}
    for detail in error.errors(include_url=False, include_context=True):
        path = document.resolve((*prefix, *detail["loc"]))
        missing = (to_snake(str(detail["loc"][-1])),) if detail["type"] == "missing" else ()
        message = f"{field((*path, *missing))}{objection(detail)}"
        found.setdefault((*path, *missing), document.finding(message, *path))
    return tuple(found.values())


def objection(detail: ErrorDetails) -> str:
    """What is wrong with a value and what to write instead."""
    kind = detail["type"]
    context = detail.get("ctx", {})
    if kind == "missing":
        return "is missing: add it"
    if kind in _EXPECTED:
        return f"must be {_EXPECTED[kind]}, not {_shown(detail['input'])}"
    if kind in {"literal_error", "enum"}:
        return f"must be {context['expected']}, not {_shown(detail['input'])}"
    if kind == "value_error":
        return str(context["error"])
    return f"{_shown(detail['input'])}: {detail['msg'][:1].lower()}{detail['msg'][1:]}"


def field(path: Sequence[Key]) -> str:
    """A path as one would write it, ready to stand before an objection."""
    words = ""
    for key in path:
        words += f"[{key}]" if isinstance(key, int) else f".{key}"
    return f"`{words.removeprefix('.')}` " if words else ""


def nearest(name: str, known: Iterable[str]) -> str:
    """A hint at the known name that was probably meant, or at all of them."""
    choices = sorted(known)
    close = did_you_mean(name, choices, cutoff=0.5)
    return f"did you mean `{close}`?" if close else f"known are {', '.join(choices)}"


def _shown(value: object) -> str:
    text = repr(value)
    longest = 60
    return text if len(text) <= longest else f"{text[:longest]}…"
