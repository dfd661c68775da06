"""Prompts: versioned, strict, and unable to print other people's words bare."""

import hashlib
import json
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest
from jinja2 import UndefinedError

from gradegate.criteria import registry
from gradegate.criteria.base import prompts
from gradegate.criteria.base.criterion import JudgedCriterion
from gradegate.criteria.base.prompts import Prompt

RECORD = Path(__file__).with_name("prompt_versions.json")
INCLUDE = re.compile(r'{% include "([^"]+)" %}')


def all_prompts() -> dict[str, Prompt]:
    """Every prompt of every judged criterion, by its template."""
    modules = {
        cls.__module__ for cls in registry.built().values() if issubclass(cls, JudgedCriterion)
    }
    found = [each for name in modules for each in vars(import_module(name)).values()]
    return {each.template: each for each in found if isinstance(each, Prompt)}


def texts(template: str) -> Iterator[str]:
    """A template's text and that of all it includes."""
    text = (prompts.TEMPLATES / template).read_text(encoding="utf-8")
    yield text
    for name in INCLUDE.findall(text):
        yield from texts(name)


def test_a_changed_prompt_has_a_changed_version() -> None:
    """Verdicts are kept by version: another text under the same version would reuse them.

    After a change: raise the version in the criterion's file, then write the new line here.
    """
    found = {
        template: {
            "version": prompt.version,
            "digest": hashlib.sha256("".join(texts(template)).encode()).hexdigest(),
        }
        for template, prompt in all_prompts().items()
    }
    assert found == json.loads(RECORD.read_text(encoding="utf-8"))


def test_every_template_is_some_prompts() -> None:
    """None lies about unused, and each of the four criteria has its own."""
    used = {name for template in all_prompts() for name in (template, *_included(template))}
    assert used == {path.name for path in prompts.TEMPLATES.glob("*.j2")}
    assert len(all_prompts()) >= 5


def _included(template: str) -> Iterator[str]:
    for name in INCLUDE.findall((prompts.TEMPLATES / template).read_text(encoding="utf-8")):
        yield from (name, *_included(name))


@pytest.mark.parametrize("template", sorted(all_prompts()))
def test_a_prompt_asks_for_reasons_first_and_declares_data(template: str) -> None:
    """The verdict is the last thing asked for, and the fence is explained before it is used."""
    text = "".join(texts(template))
    assert '{% include "data_rules.md.j2" %}' in text
    asked = text[text.index("## Your answer") :]
    for verdict in ('"verdict"', '"label"'):
        if verdict in asked:
            assert asked.index('"reasoning"') < asked.index(verdict)
    main = next(texts(template))
    assert main.index("data_rules.md.j2") < main.index("block(")
    assert main.rindex("block(") < main.rindex("\n## ")


def test_a_value_that_is_missing_is_an_error() -> None:
    """No prompt leaves us with a hole in it."""
    prompt = Prompt("final_response_match.md.j2", "1")
    with pytest.raises(UndefinedError, match="reference"):
        prompt.render({"user_prompt": "x", "response": "y"}, "FENCE")


@pytest.mark.parametrize(
    "text", ["{{ response }}", "{% for each in response %}{{ each }}{% endfor %}"]
)
def test_words_printed_bare_are_refused(tmp_path: Path, text: str) -> None:
    """A template that forgets the fence does not render."""
    (tmp_path / "bare.md.j2").write_text(text)
    with pytest.raises(TypeError, match="outside the fence"):
        Prompt("bare.md.j2", "1", folder=tmp_path).render({"response": ["x"]}, "FENCE")


def test_every_criterion_can_be_shown_with_a_config_to_copy() -> None:
    """A summary in one line, and an example that the criterion itself takes without a remark."""
    for name, cls in registry.built().items():
        assert cls.summary
        assert "\n" not in cls.summary
        entry = dict(cls.example)
        assert registry.parse(name, entry).threshold == entry["threshold"]
        assert registry.unknown_fields(name, entry) == []
