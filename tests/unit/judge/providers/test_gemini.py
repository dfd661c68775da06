"""The form of an answer, as Gemini takes it."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from gradegate.judge.providers.gemini import response_schema


class Inner(BaseModel):
    """A docstring that is a description."""

    model_config = ConfigDict(extra="forbid")

    reasoning: str = Field(description="why", min_length=1)
    label: Literal["a", "b"]
    only: Literal["one"] = "one"
    excerpt: str | None = None


class Outer(BaseModel):
    rubrics: tuple[Inner, ...]


def keywords(schema: Any) -> set[str]:
    """Every keyword used in a schema, names of properties aside."""
    found: set[str] = set()
    for key, value in schema.items():
        found.add(key)
        if key == "properties":
            found.update(*(keywords(each) for each in value.values()))
        elif isinstance(value, dict):
            found |= keywords(value)
        elif isinstance(value, list):
            found.update(*(keywords(each) for each in value if isinstance(each, dict)))
    return found


def test_references_are_written_out_and_order_is_kept() -> None:
    """Reasons come before the verdict, in the schema's order."""
    schema = response_schema(Outer)
    inner = schema["properties"]["rubrics"]["items"]
    assert inner["propertyOrdering"] == ["reasoning", "label", "only", "excerpt"]
    assert inner["required"] == ["reasoning", "label"]
    assert inner["properties"]["label"]["enum"] == ["a", "b"]
    assert inner["properties"]["only"]["enum"] == ["one"]
    assert inner["properties"]["excerpt"] == {"anyOf": [{"type": "string"}, {"type": "null"}]}
    assert inner["additionalProperties"] is False


def test_only_keywords_that_the_service_takes_are_sent() -> None:
    """No references, defaults, titles or lengths."""
    assert keywords(response_schema(Outer)) <= {
        "additionalProperties",
        "anyOf",
        "description",
        "enum",
        "items",
        "properties",
        "propertyOrdering",
        "required",
        "type",
    }
