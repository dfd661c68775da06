"""The fixed words of every view, in the reader's language."""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from string import Formatter

from gradegate import numbers
from gradegate.model.errors import InputError


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
class Words:
    """A language: phrases by key, with `{holes}`. Each is itself alone: see `words_of`."""

    language: str
    phrases: dict[str, str]

    def __call__(self, key: str, **holes: object) -> str:
        """The phrase with its holes filled."""
        return self.phrases[key].format(**holes)

    def some(self, key: str, number: int, **holes: object) -> str:
        """The phrase for so many of something."""
        form = "one" if number == 1 else "other"
        return self(f"{key}.{form}", n=numbers.count(number), **holes)

    def sentence(self, key: str, **holes: str) -> Sentence:
        """The phrase in pieces, what fills a hole apart from our own words."""
        pieces: list[Piece] = []
        for literal, hole, _, _ in Formatter().parse(self.phrases[key]):
            if literal:
                pieces.append(Piece(literal))
            if hole is not None:
                pieces.append(Piece(holes[hole], code=True))
        return Sentence(tuple(pieces))

    def list(self, items: list[str]) -> str:
        """One, two and three."""
        if len(items) < 2:  # noqa: PLR2004 - a list of one needs no "and"
            return "".join(items)
        return self("list.comma").join(items[:-1]) + self("list.and") + items[-1]


def templates_dir() -> Path:
    """Our templates: inside the installed package, or at the root of the sources."""
    package = Path(__file__).resolve().parents[1]
    places = (package / "templates", package.parents[1] / "templates")
    return next(place for place in places if (place / "locales").is_dir())


@cache
def words_of(language: str) -> Words:
    """The words of a language we have."""
    folder = templates_dir() / "locales"
    known = sorted(path.stem for path in folder.glob("*.json"))
    if language not in known:
        message = f"no report language {language!r}: write one of {', '.join(known)}"
        raise InputError(message)
    text = (folder / f"{language}.json").read_text(encoding="utf-8")
    return Words(language, json.loads(text))
