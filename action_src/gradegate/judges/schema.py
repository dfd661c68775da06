"""An answer's type as the JSON Schema that Gemini takes. Pure."""

from functools import cache
from typing import Any

from pydantic import BaseModel

_TAKEN = frozenset(
    (
        "additionalProperties",
        "anyOf",
        "description",
        "enum",
        "items",
        "maxItems",
        "minItems",
        "maximum",
        "minimum",
        "properties",
        "required",
        "type",
    )
)
"""The service answers 400 to some of the other keywords, and ignores the rest."""


@cache
def response_schema(answer: type[BaseModel]) -> dict[str, Any]:
    """The schema without references, its properties in the order in which to write them."""
    schema = answer.model_json_schema()
    return _plain(schema, schema.get("$defs", {}))


def _plain(schema: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    if "$ref" in schema:
        return _plain(definitions[schema["$ref"].removeprefix("#/$defs/")], definitions)
    plain = {key: value for key, value in schema.items() if key in _TAKEN}
    if "const" in schema:
        plain["enum"] = [schema["const"]]
    if "properties" in schema:
        named = {name: _plain(each, definitions) for name, each in schema["properties"].items()}
        plain |= {"properties": named, "propertyOrdering": list(named)}
    if isinstance(schema.get("items"), dict):
        plain["items"] = _plain(schema["items"], definitions)
    if "anyOf" in schema:
        plain["anyOf"] = [_plain(each, definitions) for each in schema["anyOf"]]
    return plain
