"""Where in a TOML text a key is written."""

import re
from collections.abc import Iterator, Sequence

Key = str | int

_HEADER = re.compile(r"^\s*(\[\[?)\s*([^\[\]]+?)\s*\]\]?\s*(?:#.*)?$")
_ENTRY = re.compile(
    r"""^\s*((?:[\w-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[\w-]+|"[^"]*"|'[^']*'))*)\s*="""
)
_WORD = re.compile(r"""[\w-]+|"[^"]*"|'[^']*'""")
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
