"""The page's data: what it holds, and that nothing in it can get out of its element."""

import base64
import json
import zlib
from pathlib import Path
from typing import Any

from gradegate.locales import locale_of
from gradegate.model.report import CaseComparison, Decision, Report, State
from gradegate.report.page.data import LARGEST_PLAIN, embedded, page_data
from gradegate.report.view import build

GOLDEN = Path(__file__).parents[3] / "golden"
FAIL = Report.model_validate_json((GOLDEN / "fail" / "report.json").read_text(encoding="utf-8"))
ENGLISH = locale_of("en")


def data_of(report: Report) -> dict[str, Any]:
    """What the script would be handed."""
    return page_data(report, build(report, ENGLISH, include_unchanged=True), ENGLISH)


def report_of(*cases: CaseComparison) -> Report:
    """A report that holds these cases."""
    return Report(decision=Decision(state=State.PASS), cases=cases)


def hostile(text: str) -> Report:
    """A case whose every text is this one."""
    said = {"text": text, "tools": [{"name": text, "args": {text: text}}]}
    turn = {"asked": text, "expected": said, "base": said, "head": {**said, "text": f"{text}!"}}
    judged = {"criterion": text, "subject": text, "base": text, "head": "no", "reason": text}
    case = {
        "suite": text,
        "eval_set": text,
        "eval_id": text,
        "criteria": {text: {"base": 1, "head": 0, "verdict": "regressed"}},
        "evidence": {"turns": [{**turn, "judged": [judged]}], "base_error": text},
    }
    return report_of(CaseComparison.model_validate(case))


def strings(value: Any) -> list[str]:
    """All texts in it."""
    if isinstance(value, str):
        return [value]
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for one in inner for text in strings(one)]


def test_every_case_is_there_in_the_order_of_the_sections() -> None:
    """With its status among those that are listed."""
    data = data_of(FAIL)
    assert len(data["cases"]) == len(FAIL.cases)
    order = [status["key"] for status in data["statuses"]]
    places = [order.index(case["status"]) for case in data["cases"]]
    assert places == sorted(places)
    assert len({case["id"] for case in data["cases"]}) == len(FAIL.cases)


def test_no_text_can_end_the_element_it_is_in() -> None:
    """Whatever a case is called: the data stays data, and comes out as it went in."""
    text = "</script><script>alert(1)</script><!--<script>]]>"
    report = hostile(text)
    found = embedded(report, build(report, ENGLISH, include_unchanged=True), ENGLISH)
    assert not found.packed
    assert "<" not in found.text
    [case] = json.loads(found.text)["cases"]
    assert case["turns"][0]["asked"] == text
    assert case["errors"] == {"base": text}


def test_what_cannot_be_seen_is_made_visible() -> None:
    """Marks that turn the order of words around, and control characters."""
    told = strings(data_of(hostile("a\u202eb\x1b[0m\u2066\ud800")))
    assert any("⟨U+202E⟩" in text for text in told)
    assert not any(sign in text for text in told for sign in "\u202e\x1b\u2066\ud800")


def test_a_large_report_is_packed_and_comes_out_whole() -> None:
    """So that thousands of cases are no more than a few megabytes."""
    cases = [
        CaseComparison(eval_set="a.evalset.json", eval_id=f"case_{n}", suite="東京")
        for n in range(3_000)
    ]
    report = report_of(*cases)
    view = build(report, ENGLISH, include_unchanged=True)
    found = embedded(report, view, ENGLISH)
    whole = zlib.decompress(base64.b64decode(found.text)).decode()
    assert found.packed
    assert len(found.text) < LARGEST_PLAIN < len(whole)
    assert json.loads(whole) == json.loads(json.dumps(page_data(report, view, ENGLISH)))
