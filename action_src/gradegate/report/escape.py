"""Other people's words made harmless: for Markdown on GitHub and for terminals and logs.

GitHub looks for mentions, issue numbers and links in the text that *remains* after
Markdown, so no backslash helps against them; a zero-width space in the middle does.
Everything else becomes a character reference, which means the same in a paragraph, in a
table cell and inside raw HTML such as `<summary>`.
"""

import re
import unicodedata

BREAK = "\u200b"
ELLIPSIS = "…"

_SPECIAL = re.compile(r"[\\`*\[\]<>&|~!#{}\"]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")
_LEADING = re.compile(r"^(?:[-+=:]|\d{1,9}(?=[.)](?:\s|$)))")
_AUTOLINKS = re.compile(
    r"@|#(?=\d)|\$|:(?=//)|\bwww(?=\.)|\b(?:mailto|xmpp)(?=:)|\bGH-(?=\d)"
    r"|\b[0-9a-f]{7,}\b",
    re.IGNORECASE,
)
_ADDRESSES = re.compile(
    r":(?=//)|\bwww(?=\.)|(?<=[\w.+-])@(?=\w)|\b(?:mailto|xmpp)(?=:)", re.IGNORECASE
)
_FENCE = re.compile(r"`{3,}")
_WORKFLOW_COMMAND = re.compile(r"^(\s*:)(?=:)|(#)(?=#\[)", re.MULTILINE)
_ODD = re.compile(r"[^\n\x20-\x7e\xa1-\xac\xae-\u02ff\u3001-\ud7ff]")
"""What may need a look: everything but common printable ranges, for speed."""
_JOINERS = "\u200c\u200d"
_LAST_ASCII = "\x7f"
_MARKS_IN_A_ROW = 4
_SHORTEST_SHA = 7


def clean(text: str) -> str:
    """The text with everything that cannot be seen made visible, line breaks kept."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\t", "    ")
    text = text.replace("\u2028", "\n").replace("\u2029", "\n")
    return _ODD.sub(lambda found: _visible(found, text), text)


def one_line(text: str) -> str:
    """The same on one line, with single spaces."""
    return " ".join(clean(text).split())


def clip(text: str, limit: int | None) -> str:
    """The first `limit` characters, with an ellipsis where there were more."""
    if limit is None or len(text) <= limit:
        return text
    return text[: max(limit - 1, 0)].rstrip() + ELLIPSIS


def markdown(text: str) -> str:
    """One line of someone's words, as words and nothing else, anywhere in Markdown."""
    before = " " if text[:1] == " " else ""
    after = " " if text[-1:] == " " and text.strip() else ""
    return before + _autolinks_broken(code_text(text)) + after


def code_text(text: str) -> str:
    """The same for between `<code>` and `</code>`, where GitHub looks for no mentions."""
    line = one_line(text)
    start = _LEADING.match(line)
    if start is None:
        return _SPECIAL.sub(_reference, line)
    head = line[: start.end()]
    first = _reference_to(head) if len(head) == 1 and not head.isdigit() else head
    rest = line[start.end() :]
    if head.isdigit():
        first, rest = head + _reference_to(rest[0]), rest[1:]
    return first + _SPECIAL.sub(_reference, rest)


def code_span(text: str) -> str:
    """The same with addresses broken, which GitHub links also within an element of ours."""
    parts = re.split(r"(&#\d+;)", code_text(text))
    return "".join(p if p.startswith("&#") else _ADDRESSES.sub(_broken, p) for p in parts)


def fenced(text: str, language: str = "") -> str:
    """The text as a code block whose fence is longer than any in it."""
    body = clean(text).strip("\n")
    longest = max((len(fence) for fence in _FENCE.findall(body)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{body}\n{fence}"


def terminal(text: str) -> str:
    """The text for a terminal or a log: no control sequences, no workflow commands."""
    return _WORKFLOW_COMMAND.sub(lambda found: found.group() + BREAK, clean(text))


def _autolinks_broken(escaped: str) -> str:
    parts = re.split(r"(&#\d+;)", escaped)
    broken = [p if p.startswith("&#") else _AUTOLINKS.sub(_broken, p) for p in parts]
    return "".join(_hash_broken(broken))


def _hash_broken(parts: list[str]) -> list[str]:
    hash_reference = _reference_to("#")
    return [part + BREAK if part == hash_reference else part for part in parts]


def _broken(found: re.Match[str]) -> str:
    text = found.group()
    if text == "@":
        return f"{BREAK}@{BREAK}"
    if len(text) >= _SHORTEST_SHA:
        step = _SHORTEST_SHA - 1
        return BREAK.join(text[i : i + step] for i in range(0, len(text), step))
    return text + BREAK


def _reference(found: re.Match[str]) -> str:
    return _reference_to(found.group())


def _reference_to(character: str) -> str:
    return f"&#{ord(character)};"


def _visible(found: re.Match[str], text: str) -> str:
    character, place = found.group(), found.start()
    category = unicodedata.category(character)
    if category == "Zs":
        return " "
    if character in _JOINERS and place and text[place - 1] > _LAST_ASCII:
        return character
    if category in {"Cc", "Cf", "Cs", "Co", "Cn"}:
        return f"⟨U+{ord(character):04X}⟩"
    if category == "Mn" and _is_a_pile(text, place):
        return ""
    return character


def _is_a_pile(text: str, place: int) -> bool:
    before = text[max(0, place - _MARKS_IN_A_ROW) : place]
    return len(before) == _MARKS_IN_A_ROW and all(unicodedata.combining(c) for c in before)
