"""What the page's script is handed: the cases in words and numbers, ready to be laid out.

Small reports are embedded as JSON that a person can read; large ones are packed.
"""

import base64
import json
import zlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from gradegate import locales
from gradegate.locales import Locale, Sentence
from gradegate.model.report import Evidence, JudgedItem, Report, SideAnswer, TurnEvidence
from gradegate.model.trajectory import CallRow, Place, call_rows
from gradegate.report.calls import CallView, CellView, call, call_view
from gradegate.report.case_sections import ATTENTION, Section
from gradegate.report.escape import clean, one_line
from gradegate.report.links import case_address
from gradegate.report.scores import ScoreView
from gradegate.report.sections import CaseView
from gradegate.report.view import ReportView

LARGEST_PLAIN = 200_000
"""In characters: below, being readable is worth more than being small."""
WORDS = ("page.", "side.", "column.", "cases.", "calls.folded.", "label.blocking", "list.comma")
"""The phrases that the script says itself."""
SIGNS = {
    Section.REGRESSED: "bad",
    Section.NEW_FAILURE: "bad",
    Section.REMOVED: "gone",
    Section.LOOSENED: "loose",
    Section.THRESHOLD: "low",
    Section.INCONCLUSIVE: "unsure",
    Section.FLAKY: "flaky",
    Section.IMPROVED: "better",
    Section.UNMEASURED: "empty",
    Section.EDITED: "edited",
    Section.QUARANTINED: "apart",
    Section.REST: "good",
}
"""By name in signs.svg; what each means always stands beside it."""


PASSED, FAILED = {"yes", "valid", "supported"}, {"no", "invalid", "unsupported", "contradictory"}


@dataclass(frozen=True)
class Embedded:
    """The data as it stands in the page: text that cannot end the element it is in."""

    text: str
    packed: bool


def embedded(report: Report, view: ReportView, words: Locale) -> Embedded:
    """What the page shows of the report."""
    text = json.dumps(page_data(report, view, words), ensure_ascii=False, separators=(",", ":"))
    if len(text) <= LARGEST_PLAIN:
        return Embedded(text.replace("<", "\\u003c"), packed=False)
    return Embedded(base64.b64encode(zlib.compress(text.encode(), 9)).decode(), packed=True)


def page_data(report: Report, view: ReportView, words: Locale) -> dict[str, Any]:
    """Everything the script needs, nothing in it that cannot be seen."""
    aside = {one.name for one in report.criteria if one.informational}
    data: dict[str, Any] = _seen(
        {
            "language": words.language,
            "phrases": {k: v for k, v in words.phrases.items() if k.startswith(WORDS)},
            "statuses": [
                {
                    "key": section.group,
                    "label": words(f"page.status.{section.group}"),
                    "sign": SIGNS[section.group],
                    "attention": section.group in ATTENTION,
                }
                for section in view.sections
            ],
            "cases": [
                _case(case, aside, words) for section in view.sections for case in section.cases
            ],
        }
    )
    return data


def _seen(value: Any) -> Any:
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict):
        return {key: _seen(inner) for key, inner in value.items()}
    return [_seen(inner) for inner in value] if isinstance(value, list) else value


def _case(case: CaseView, aside: Collection[str], words: Locale) -> dict[str, Any]:
    source = case.source
    drops = [
        one.delta
        for name, one in source.criteria.items()
        if one.delta is not None and name not in aside
    ]
    return {
        "id": case_address(source.key),
        "name": case.name,
        "suite": case.suite,
        "path": case.path,
        "line": case.line,
        "place": case.place,
        "status": case.group,
        "sign": SIGNS[case.group],
        "label": case.label,
        "why": [_pieces(said) for said in case.why],
        "scores": [_score(score) for score in case.scores],
        **_given(
            drop=min(drops, default=None),
            blocking=case.blocking,
            url=case.url,
            remark=case.remark,
            runs=next((score.runs for score in case.scores if _tells(score)), ""),
            asked=source.asked,
            cause=one_line(source.cause.in_words(words)) if source.cause else "",
            turns=[_turn(turn, source.evidence, words) for turn in source.evidence.turns],
            errors=_errors(source.evidence),
            made=_runs(source.evidence, words),
        ),
    }


def _tells(score: ScoreView) -> bool:
    return score.moved and score.runs != locales.NOTHING


def _given(**values: Any) -> dict[str, Any]:
    """What there is: of ten thousand cases most have nothing to tell."""
    return {name: value for name, value in values.items() if value}


def _errors(evidence: Evidence) -> dict[str, Any]:
    return _given(base=evidence.base_error, head=evidence.head_error)


def _pieces(said: Sentence) -> list[Any]:
    return [{"code": piece.text} if piece.code else piece.text for piece in said.pieces]


def _score(score: ScoreView) -> dict[str, Any]:
    return {
        "name": score.name,
        "base": score.base,
        "head": score.head,
        "delta": score.delta,
        "needed": score.needed,
        "runs": score.runs,
        "p": score.p_value,
        "verdict": score.verdict,
        "sign": "bad" if score.attention else None,
        **_given(attention=score.attention, moved=score.moved),
    }


def _turn(turn: TurnEvidence, evidence: Evidence, words: Locale) -> dict[str, Any]:
    rows = call_rows(turn)
    return {
        "asked": turn.asked,
        "expected": _text(turn.expected),
        "base": _text(turn.base),
        "head": _text(turn.head),
        "calls": [_call(row, call_view(n, row)) for n, row in enumerate(rows, start=1)],
        "judged": [_judged(one, words) for one in turn.judged],
        **_given(differs=_differs(turn, rows), note=_note(turn, evidence, words)),
    }


def _note(turn: TurnEvidence, evidence: Evidence, words: Locale) -> str:
    """Why there is nothing of head's to show."""
    if turn.head is not None:
        return ""
    return words("turn.failed" if evidence.head_error else "turn.none")


def _text(said: SideAnswer | None) -> str | None:
    return said.text if said is not None else None


def _differs(turn: TurnEvidence, rows: Sequence[CallRow]) -> bool:
    """Whether there is anything to see that is not alike on both sides, or not as expected."""
    wanted = turn.base if turn.base is not None else turn.expected
    calls_differ = any(not row.is_quiet for row in rows)
    return bool(turn.judged) or calls_differ or _text(wanted) != _text(turn.head)


def _call(row: CallRow, view: CallView) -> dict[str, Any]:
    return _given(
        quiet=row.is_quiet,
        expected=_cell(view.expected, row.expected),
        base=_cell(view.base, row.base),
        head=_cell(view.head, row.head),
    )


def _cell(cell: CellView, place: Place | None) -> dict[str, Any]:
    """The call in full: the page has room, and folds what is long."""
    return _given(
        call=one_line(call(place.call)) if place else "",
        sign=cell.sign,
        mark=cell.mark,
        moved=cell.moved,
        changes=[[one.path, one.before, one.after] for one in cell.changes],
    )


def _judged(one: JudgedItem, words: Locale) -> dict[str, Any]:
    sides = [words.word("judged", side) for side in (one.base, one.head) if side is not None]
    return {
        "criterion": one.criterion,
        "subject": one.subject or words("turn.whole"),
        "verdicts": " → ".join(sides),
        "reason": one.reason or "",
        "sign": "bad" if one.head in FAILED else "good" if one.head in PASSED else "unsure",
    }


def _runs(evidence: Evidence, words: Locale) -> list[dict[str, Any]]:
    sides = (("base", evidence.base_runs), ("head", evidence.head_runs))
    return [
        {
            "side": side,
            "role": words.word("page.role", run.role),
            "status": run.status,
            "result": words.word("page.run", run.status),
            "scores": {name: locales.score(score) for name, score in run.scores.items()},
        }
        for side, runs in sides
        for run in runs
    ]
