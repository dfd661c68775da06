"""The verdict in one line, the line under it, and the lines at the end."""

from collections.abc import Mapping

from gradegate import locales
from gradegate.locales import Locale
from gradegate.model.report import Decision, Report, State
from gradegate.report.case_sections import Section
from gradegate.report.escape import one_line
from gradegate.report.tally import CRITERION, Tally

ICONS = {State.PASS: "✅", State.FAIL: "❌", State.INCONCLUSIVE: "⚠️"}


def title(report: Report, tally: Tally, words: Locale) -> str:
    """What the gate says, in a line that needs no other."""
    match report.decision.state:
        case State.FAIL:
            return _no(tally, words)
        case State.INCONCLUSIVE:
            return _unsure(tally, words)
        case State.PASS:
            return _yes(report, tally, words)


def lead(report: Report, tally: Tally, words: Locale) -> str:
    """What else one should know at once; empty where the title says it all."""
    said = []
    passes = report.decision.state is State.PASS
    if report.decision.accepted_by is not None:
        said.append(_accepted(report.decision, words))
    if nothing_ran(report):
        said.append(words("lead.same_fingerprint"))
    elif report.base.source == "none":
        said.append(words("lead.no_base"))
    if tally.unmeasured:
        share = locales.percent(tally.unmeasured, tally.on_head)
        said.append(
            words.some("lead.unmeasured", tally.unmeasured, total=tally.on_head, share=share)
        )
    if passes and tally.sections.get(Section.INCONCLUSIVE):
        said.append(words.some("lead.open", tally.sections[Section.INCONCLUSIVE]))
    if tally.improvements and not (passes and not tally.allowed_parts()):
        said.append(words.some("lead.improved", tally.improvements))
    return words("list.sentences").join(said)


def _accepted(decision: Decision, words: Locale) -> str:
    who = decision.accepted_by or words("someone")
    if decision.accepted_cases is None:
        return words("lead.accepted", who=who)
    named = words.list([one_line(case) for case in decision.accepted_cases])
    return words("lead.accepted_cases", who=who, cases=named)


def nothing_ran(report: Report) -> bool:
    """Whether both sides are the same, so that there was nothing to evaluate."""
    same = report.base.fingerprint == report.head.fingerprint
    return same and bool(report.head.fingerprint) and not report.cases


def _no(tally: Tally, words: Locale) -> str:
    parts = tally.blocking_parts()
    key = "title.worse" if {"regression", CRITERION} & parts.keys() else "title.no"
    return words(key, found=_found(parts, words), cases=words.some("cases", tally.total))


def _found(parts: Mapping[str, int], words: Locale) -> str:
    return words.list([words.some(f"found.{part}", n) for part, n in parts.items() if n])


def _unsure(tally: Tally, words: Locale) -> str:
    if tally.unmeasured == tally.on_head:
        return words("title.unmeasured")
    open_cases = tally.sections.get(Section.INCONCLUSIVE, 0)
    if not open_cases:
        return words("title.unsure")
    share = locales.percent(open_cases, tally.total)
    return words.some(
        "title.unsure_cases", open_cases, total=locales.count(tally.total), share=share
    )


def _yes(report: Report, tally: Tally, words: Locale) -> str:
    total = words.some("cases", tally.total)
    if nothing_ran(report):
        return words("title.same")
    if tally.unmeasured == tally.on_head and not tally.allowed_parts():
        return words("title.unmeasured_passes")
    if waived := _found(tally.allowed_parts(), words):
        accepted = report.decision.accepted_by is not None
        key = "title.accepted" if accepted else "title.allowed"
        return words(key, found=waived, cases=total)
    if report.base.source == "none":
        return words("title.thresholds", cases=total)
    if tally.improvements:
        return words.some("title.better", tally.improvements, cases=total)
    return words("title.good", cases=total)


def quiet(report: Report, number: int, words: Locale) -> str:
    """One line for the cases that are not listed."""
    key = "quiet.no_base" if report.base.source == "none" else "quiet"
    return words.some(key, number) if number else ""


def sides(report: Report, words: Locale) -> str:
    """The two commits."""
    head = _commit(report.head.commit) or words("sides.worktree")
    if report.base.source == "none":
        return words("sides.no_base", head=head)
    base = _commit(report.base.commit) or locales.NOTHING
    source = "run" if nothing_ran(report) else report.base.source
    return words(f"sides.{source}", base=base, head=head)


def usage(report: Report, words: Locale) -> str:
    """What it cost."""
    used = report.usage
    parts = [words.duration(used.seconds)] if used.seconds else []
    if used.judge_calls:
        parts.append(words.some("usage.calls", used.judge_calls))
    if used.judge_cache_hits:
        parts.append(words("usage.cached", n=locales.count(used.judge_cache_hits)))
    if used.judge_calls_saved_by_voting:
        parts.append(words("usage.saved", n=locales.count(used.judge_calls_saved_by_voting)))
    tokens = used.input_tokens + used.output_tokens
    if tokens:
        parts.append(words("usage.tokens", n=locales.count(tokens)))
    return " · ".join(parts)


def _commit(sha: str) -> str:
    return locales.commit(one_line(sha))
