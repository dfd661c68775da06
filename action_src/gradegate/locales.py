"""Sentences, plurals and numbers, in the reader's language: a JSON file for each.

Every number that a reader sees is written here, so that all views say it the same way.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from math import isfinite
from pathlib import Path
from string import Formatter

MINUS = "\u2212"
NOTHING = "\u2013"
LARGE = 100
"""From here on a value is a count (tokens, calls) and not a score: no decimals."""
SMALLEST_P = 0.001
MINUTE = 60


def score(value: float | None, *, beside: float | None = None) -> str:
    """A score with two decimals, or three where two would hide that it is not `beside`."""
    if value is None:
        return NOTHING
    if abs(value) >= LARGE:
        return _signed_text(f"{value:,.0f}")
    text = f"{value:.2f}"
    if beside is not None and beside != value and text == f"{beside:.2f}":
        text = f"{value:.3f}"
    return _signed_text(text)


def delta(value: float | None) -> str:
    """A difference with its sign; a real minus, and no sign on what rounds to nothing."""
    if value is None:
        return NOTHING
    text = f"{value:+,.0f}" if abs(value) >= LARGE else f"{value:+.2f}"
    if value and text in {"+0.00", "-0.00"}:
        text = f"{value:+.3f}"
    if not text.strip("+-0."):
        return "0.00"
    return _signed_text(text)


def interval(bounds: tuple[float, float] | None) -> str:
    """The two ends of a confidence interval."""
    if bounds is None:
        return NOTHING
    low, high = bounds
    return f"{delta(low)} … {delta(high)}"


def p_value(value: float | None) -> str:
    """A p-value as papers write it."""
    if value is None:
        return NOTHING
    if value < SMALLEST_P:
        return f"p < {SMALLEST_P}"
    return f"p = {value:.3f}".rstrip("0").removesuffix(".")


def count(value: int) -> str:
    """A whole number with its thousands apart."""
    return f"{value:,}"


def some(number: int, what: str) -> str:
    """So many of something, in English."""
    return f"{count(number)} {what}{'s'[: number != 1]}"


def ratio(part: int, whole: int) -> str:
    """So many of so many."""
    return f"{count(part)}/{count(whole)}"


def percent(part: int, whole: int) -> str:
    """A share; never 100 % unless it is all, never 0 % unless it is none."""
    if not whole:
        return NOTHING
    rounded = round(100 * part / whole)
    if part < whole:
        rounded = min(rounded, 99)
    if part > 0:
        rounded = max(rounded, 1)
    return f"{rounded} %"


def change(base: float | None, head: float | None) -> str:
    """How much more or less than base, in percent of it; nothing where base is nothing."""
    if not base or head is None:
        return NOTHING
    percent_more = 100 * (head - base) / base
    if not isfinite(percent_more):
        return NOTHING
    rounded = round(percent_more)
    return _signed_text(f"{rounded:+,d} %") if rounded else "0 %"


def duration(seconds: float) -> str:
    """How long it took, in English, to the precision anyone cares about."""
    return " ".join(f"{number} {unit}" for number, unit in _parts_of(seconds))


def _parts_of(seconds: float) -> list[tuple[str, str]]:
    if seconds < MINUTE / 6:
        return [(f"{seconds:.1f}", "s")]
    minutes, rest = divmod(round(seconds), MINUTE)
    if minutes < MINUTE:
        parts = [(minutes, "min"), (rest, "s")]
    else:
        hours, minutes = divmod(minutes, MINUTE)
        parts = [(hours, "h"), (minutes, "min")]
    return [(str(number), unit) for number, unit in parts if number]


def commit(sha: str) -> str:
    """A commit as people quote it."""
    return sha[:7]


def _signed_text(text: str) -> str:
    return text.replace("-", MINUS)


@dataclass(frozen=True)
class Piece:
    """A stretch of a sentence; `code` where it is someone's name, call or value."""

    text: str
    code: bool = False


@dataclass(frozen=True)
class Sentence:
    """Something said in our words about someone else's."""

    pieces: tuple[Piece, ...]

    def __str__(self) -> str:
        return "".join(piece.text for piece in self.pieces)


@dataclass(frozen=True, eq=False)
class Locale:
    """A language: phrases by key, with `{holes}`. Each is itself alone: see `locale_of`."""

    language: str
    phrases: dict[str, str]

    def __call__(self, key: str, /, **holes: object) -> str:
        """The phrase with its holes filled."""
        return self.phrases[key].format(**holes)

    def some(self, key: str, number: int, /, **holes: object) -> str:
        """The phrase for so many of something."""
        form = "one" if number == 1 else "other"
        return self(f"{key}.{form}", n=count(number), **holes)

    def notice(self, code: str, values: Mapping[str, str]) -> str:
        """What a code says with these values; a count, where there is one, is called `n`."""
        key = f"notice.{code}"
        if f"{key}.other" in self.phrases:
            key += ".one" if values.get("n") == "1" else ".other"
        return self(key, **values)

    def knows_notice(self, code: str) -> bool:
        """Whether there is a sentence for a code; a report may be of a newer version."""
        return f"notice.{code}" in self.phrases or f"notice.{code}.other" in self.phrases

    def word(self, kind: str, text: str) -> str:
        """One of the few words of a kind in this language; what is none of them stays."""
        return self.phrases.get(f"{kind}.{text}", text)

    def sentence(self, key: str, /, **holes: str | Piece) -> Sentence:
        """The phrase in pieces, what fills a hole apart from our own words.

        A name, a call or a value comes as it is; prose comes as a piece.
        """
        pieces: list[Piece] = []
        for literal, hole, _, _ in Formatter().parse(self.phrases[key]):
            if literal:
                pieces.append(Piece(literal))
            if hole is not None:
                filling = holes[hole]
                pieces.append(filling if isinstance(filling, Piece) else Piece(filling, code=True))
        return Sentence(tuple(pieces))

    def duration(self, seconds: float) -> str:
        """How long it took."""
        parts = [self(f"duration.{unit}", n=number) for number, unit in _parts_of(seconds)]
        return self("duration.join").join(parts)

    def list(self, items: list[str]) -> str:
        """One, two and three."""
        if len(items) < 2:  # noqa: PLR2004 - a list of one needs no "and"
            return "".join(items)
        return self("list.comma").join(items[:-1]) + self("list.and") + items[-1]


def templates_dir() -> Path:
    """Our templates: inside the installed package, or at the root of the sources."""
    package = Path(__file__).resolve().parent
    places = (package / "templates", package.parents[1] / "templates")
    return next(place for place in places if (place / "locales").is_dir())


@cache
def languages() -> tuple[str, ...]:
    """The languages there are: a file each, and nothing else lists them."""
    return tuple(sorted(path.stem for path in (templates_dir() / "locales").glob("*.json")))


@cache
def locale_of(language: str) -> Locale:
    """The words of a language we have.

    Raises:
        UnknownLanguageError: we have none of that name.
    """
    if language not in languages():
        raise UnknownLanguageError(language)
    text = (templates_dir() / "locales" / f"{language}.json").read_text(encoding="utf-8")
    return Locale(language, json.loads(text))


class UnknownLanguageError(ValueError):
    """A language that we do not speak."""

    def __init__(self, language: str) -> None:
        known = ", ".join(languages())
        super().__init__(f"no report language {language!r}: write one of {known}")
