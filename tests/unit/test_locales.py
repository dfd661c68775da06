"""The languages: each says everything, with the same values, and nothing else lists them."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from string import Formatter

import pytest

from gradegate.locales import UnknownLanguageError, languages, locale_of, templates_dir

SOURCE = Path(__file__).parents[2] / "action_src" / "gradegate"
ENGLISH = locale_of("en").phrases
OTHERS = [language for language in languages() if language != "en"]


def holes(phrase: str) -> set[str]:
    """What a phrase is filled with."""
    return {hole for _, hole, _, _ in Formatter().parse(phrase) if hole is not None}


def notices(path: Path) -> Iterator[ast.Call]:
    """The calls that make a notice."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.Call(func=ast.Name(id="notice")):
                yield node


def codes(told: ast.expr) -> list[str]:
    """The codes that an expression may be: written out, or one of two that are."""
    match told:
        case ast.Constant(value=str(code)):
            return [code]
        case ast.IfExp(body=one, orelse=other):
            return [*codes(one), *codes(other)]
    raise AssertionError(f"write the code out, or nobody finds it: {ast.unparse(told)}")


def made() -> list[tuple[str, str, frozenset[str] | None]]:
    """Every code in the source: where, and its values (None: handed on as they are)."""
    found = []
    for path in sorted(SOURCE.rglob("*.py")):
        for call in notices(path):
            names = [keyword.arg for keyword in call.keywords]
            values = None if None in names else frozenset(name for name in names if name)
            where = f"{path.relative_to(SOURCE)}:{call.lineno}"
            found += [(where, code, values) for code in codes(call.args[0])]
    return found


@pytest.mark.parametrize("language", OTHERS)
def test_every_language_says_everything(language: str) -> None:
    """No phrase is missing, and none is left over."""
    assert locale_of(language).phrases.keys() == ENGLISH.keys()


@pytest.mark.parametrize("language", OTHERS)
def test_a_phrase_has_the_same_holes_in_every_language(language: str) -> None:
    """A translation neither loses a value nor asks for one that nobody has."""
    phrases = locale_of(language).phrases
    differ = [key for key, phrase in ENGLISH.items() if holes(phrase) != holes(phrases[key])]
    assert differ == []


def test_every_code_has_a_sentence_with_the_values_it_is_given() -> None:
    """Looked up in the source itself: a code is written out where a notice is made."""
    found = made()
    assert len(found) > 50
    wrong = []
    for where, code, values in found:
        key = f"notice.{code}"
        phrase = ENGLISH.get(key) or ENGLISH.get(f"{key}.other")
        if phrase is None or (values is not None and holes(phrase) != values):
            wrong.append(f"{where}: {code}: {phrase}")
    assert wrong == []


def test_japanese_has_its_own_punctuation() -> None:
    """Full-width colons and commas, but in names of files and calls."""
    bare = {key: re.sub(r"`[^`]*`", "", phrase) for key, phrase in locale_of("ja").phrases.items()}
    assert [phrase for phrase in bare.values() if re.search(r":|,\s|;", phrase)] == []


def test_a_language_is_a_file() -> None:
    """The folder is the list."""
    files = (templates_dir() / "locales").glob("*.json")
    assert languages() == tuple(sorted(path.stem for path in files))
    with pytest.raises(UnknownLanguageError, match=f"'tlh': write one of {', '.join(languages())}"):
        locale_of("tlh")
