"""What the overview says beside scores and charts: shared causes, and what a change touches."""

from collections import Counter
from dataclasses import dataclass
from urllib.parse import urlencode

from gradegate import locales
from gradegate.locales import Locale
from gradegate.model.report import Report
from gradegate.report.escape import clip, one_line

MOST_CAUSES = 12
MOST_NAMED = 5
LONGEST = 300


@dataclass(frozen=True)
class Cause:
    """What got worse, in as many cases."""

    text: str
    cases: str
    link: str
    """To the list of those cases."""


@dataclass(frozen=True)
class TouchedView:
    """A part of the agent that the pull request changes."""

    kind: str
    name: str
    place: str
    """Empty where it is not known."""
    cases: str
    unused: bool


def causes_of(report: Report, words: Locale) -> tuple[Cause, ...]:
    """The causes that most cases have in common, first."""
    found = Counter(one_line(case.cause.in_words(words)) for case in report.cases if case.cause)
    return tuple(
        Cause(
            text=clip(text, LONGEST),
            cases=words.some("cases", number),
            link=f"#{urlencode({'cause': text})}",
        )
        for text, number in found.most_common(MOST_CAUSES)
    )


def untouched_line(report: Report, words: Locale) -> str:
    """One line for what the pull request changes and no case came by; empty where all was."""
    none = [one for one in report.touched if not one.cases]
    if not none:
        return ""
    named = [
        f"{words(f'page.touched.{one.kind}')} {clip(one_line(one.name), LONGEST)}"
        for one in none[:MOST_NAMED]
    ]
    if len(none) > MOST_NAMED:
        named.append(words.some("touched.more", len(none) - MOST_NAMED))
    return words("touched.none", what=words.list(named))


def touched_of(report: Report, words: Locale) -> tuple[TouchedView, ...]:
    """What no case came by, first."""
    ordered = sorted(report.touched, key=lambda one: (one.cases, one.suite, one.kind, one.name))
    return tuple(
        TouchedView(
            kind=words(f"page.touched.{one.kind}"),
            name=clip(one_line(one.name), LONGEST),
            place=f"{clip(one_line(one.path), LONGEST)}:{one.line}" if one.path else "",
            cases=locales.ratio(one.cases, one.total),
            unused=not one.cases,
        )
        for one in ordered
    )
