"""How to see it again: the command for exactly these cases, and a prompt for a coding agent.

Both are pasted where they are obeyed, so they hold our own words, and of others' only paths and
names of plain characters. Nothing that an agent or a judge said comes near them.
"""

import re
import shlex
from collections.abc import Iterable, Sequence

from gradegate import locales
from gradegate.locales import Locale
from gradegate.model.report import CaseComparison, Report, Verdict

MOST_CASES = 20
ENOUGH = 24
"""Characters that tell an odd name from others: more would be words to be obeyed."""
_PLAIN = re.compile(r"[\w./:+=,-]{1,100}", re.ASCII)
_COMMIT = re.compile(r"[0-9a-f]{7,40}")
_ODD = re.compile(r"[^\w.-]", re.ASCII)


def local_command(report: Report, cases: Sequence[CaseComparison]) -> str:
    """What runs these cases on both sides again; empty where there are none."""
    if not cases:
        return ""
    globs = dict.fromkeys(map(_glob, cases[:MOST_CASES]))
    suites = {case.suite for case in cases}
    words = ["gradegate", "run"]
    if report.base.source == "none":
        words += ["--base", "none"]
    elif _COMMIT.fullmatch(report.base.commit):
        words += ["--base", locales.commit(report.base.commit)]
    if len(suites) == 1 and _PLAIN.fullmatch(suite := suites.pop()):
        words += ["--suite", suite]
    for glob in globs:
        words += ["--case", glob]
    return shlex.join(words)


def prompt(report: Report, cases: Sequence[CaseComparison], words: Locale) -> str:
    """What to hand to a coding agent; empty where nothing got worse."""
    command = local_command(report, cases)
    if not command:
        return ""
    return "\n".join(
        (
            words("prompt.intro"),
            "",
            *(line for case in cases[:MOST_CASES] for line in _listed(case, words)),
            *_more(len(cases) - MOST_CASES, words),
            "",
            words("prompt.reproduce"),
            f"    {command}",
            words("prompt.evidence"),
            f"    gradegate show .gradegate/report/report.json {shlex.quote(_glob(cases[0]))}",
            "",
            words("prompt.rules"),
        )
    )


def _listed(case: CaseComparison, words: Locale) -> Iterable[str]:
    place = f"{_plain(case.eval_set)}:{case.line}"
    yield words("prompt.case", case=_plain(case.eval_id), place=place)
    for name, one in case.criteria.items():
        if one.verdict is Verdict.REGRESSED or one.falls_short:
            yield "  - " + words(
                "prompt.score",
                criterion=_plain(name),
                base=locales.score(one.base, beside=one.head),
                head=locales.score(one.head, beside=one.threshold),
                needed=locales.score(one.threshold, beside=one.head),
            )


def _more(number: int, words: Locale) -> Iterable[str]:
    if number > 0:
        yield words.some("prompt.more", number)


def _plain(text: str) -> str:
    """A name of plain characters as it is; of another one as little as finds it."""
    if _PLAIN.fullmatch(text):
        return text
    return f"{_ODD.sub('?', text[:ENOUGH])}{'*' if len(text) > ENOUGH else ''}"


def _glob(case: CaseComparison) -> str:
    """A glob that matches the case's id, whatever is in it; it never looks like an option."""
    glob = _plain(case.eval_id)
    return f"?{glob[1:]}" if glob.startswith("-") else glob
