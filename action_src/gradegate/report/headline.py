"""The verdict in one line, the line under it, and the lines at the end."""

from collections.abc import Mapping

from gradegate import locales
from gradegate.locales import Locale
from gradegate.model.report import Change, Decision, ReasonKind, Report, State
from gradegate.report.case_sections import Section
from gradegate.report.escape import one_line

ICONS = {State.PASS: "✅", State.FAIL: "❌", State.INCONCLUSIVE: "⚠️"}


def title(report: Report, counts: Mapping[Section, int], words: Locale) -> str:
    """What the gate says, in a line that needs no other."""
    total = words.some("cases", len(report.cases))
    match report.decision.state:
        case State.FAIL:
            return _no(report.decision, total, words)
        case State.INCONCLUSIVE:
            return _unsure(report, counts, words)
        case State.PASS:
            return _yes(report, counts, total, words)


def lead(report: Report, counts: Mapping[Section, int], words: Locale) -> str:
    """What else one should know at once; empty where the title says it all."""
    said = []
    if report.decision.accepted_by is not None:
        said.append(words("lead.accepted", who=report.decision.accepted_by or words("someone")))
    if nothing_ran(report):
        said.append(words("lead.same_fingerprint"))
    elif report.base.source == "none":
        said.append(words("lead.no_base"))
    unmeasured, there = _unmeasured(report), _on_head(report)
    if unmeasured:
        share = locales.percent(unmeasured, there)
        said.append(words.some("lead.unmeasured", unmeasured, total=there, share=share))
    if report.decision.state is State.PASS and counts[Section.INCONCLUSIVE]:
        said.append(words.some("lead.open", counts[Section.INCONCLUSIVE]))
    if report.decision.state is not State.PASS and counts[Section.IMPROVED]:
        said.append(words.some("lead.improved", counts[Section.IMPROVED]))
    return words("list.sentences").join(said)


def nothing_ran(report: Report) -> bool:
    """Whether both sides are the same, so that there was nothing to evaluate."""
    same = report.base.fingerprint == report.head.fingerprint
    return same and bool(report.head.fingerprint) and not report.cases


def _unmeasured(report: Report) -> int:
    return sum(case.unmeasured is not None for case in report.cases)


def _on_head(report: Report) -> int:
    return sum(case.change is not Change.REMOVED for case in report.cases)


def _no(decision: Decision, total: str, words: Locale) -> str:
    found = {kind: _places(decision, kind) for kind in ReasonKind}
    parts = [words.some(f"found.{kind}", n) for kind, n in found.items() if n]
    key = "title.worse" if found[ReasonKind.REGRESSION] else "title.no"
    return words(key, found=words.list(parts), cases=total)


def _places(decision: Decision, kind: ReasonKind) -> int:
    """Cases count once each however many of their criteria are concerned."""
    own = [reason for reason in decision.reasons if reason.kind is kind]
    cases = {(r.suite, r.eval_set, r.eval_id) for r in own if r.eval_id is not None}
    return len(cases) + sum(reason.eval_id is None for reason in own)


def _unsure(report: Report, counts: Mapping[Section, int], words: Locale) -> str:
    if _unmeasured(report) == _on_head(report):
        return words("title.unmeasured")
    open_cases = counts[Section.INCONCLUSIVE]
    if not open_cases:
        return words("title.unsure")
    share = locales.percent(open_cases, len(report.cases))
    return words.some("title.unsure_cases", open_cases, total=len(report.cases), share=share)


def _yes(report: Report, counts: Mapping[Section, int], total: str, words: Locale) -> str:
    if nothing_ran(report):
        return words("title.same")
    if _unmeasured(report) == _on_head(report):
        return words("title.unmeasured_passes")
    if report.base.source == "none":
        return words("title.thresholds", cases=total)
    if report.decision.accepted_by is not None:
        return words("title.accepted", cases=total)
    if counts[Section.IMPROVED]:
        return words.some("title.better", counts[Section.IMPROVED], cases=total)
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
    parts = [locales.duration(used.seconds)] if used.seconds else []
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
