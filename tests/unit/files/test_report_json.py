"""A report that a stranger's job made: what it must not say."""

import json
from pathlib import Path
from typing import Any

import pytest

from gradegate.files.report_json import read_report
from gradegate.model.errors import FileError

WORSE = {
    "eval_set": "a.evalset.json",
    "eval_id": "paris",
    "criteria": {"response_match_score": {"verdict": "regressed", "base": 1.0, "head": 0.0}},
}
GONE = {"eval_set": "a.evalset.json", "eval_id": "paris", "change": "removed"}
FELL = {"name": "response_match_score", "verdict": "regressed", "delta": -0.5}


def reason(kind: str, **where: str) -> dict[str, str]:
    """One thing held against a pull request."""
    return {"kind": kind, "text": "so it is", **where}


def of_paris(kind: str) -> dict[str, str]:
    """One thing held against a case."""
    return reason(kind, eval_set="a.evalset.json", eval_id="paris")


def written(folder: Path, decision: dict[str, Any], **more: Any) -> Path:
    """A report's file."""
    path = folder / "report.json"
    content = {"schema": "gradegate/report/v1", "decision": decision, **more}
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("decision", "more", "why"),
    [
        ({"state": "pass"}, {"cases": [WORSE]}, "regression: a.evalset.json, paris"),
        ({"state": "pass"}, {"cases": [GONE]}, "removed: a.evalset.json, paris"),
        ({"state": "pass"}, {"criteria": [FELL]}, "regression: response_match_score"),
        (
            {"state": "fail", "reasons": [of_paris("threshold")]},
            {"cases": [WORSE]},
            "regression: a.evalset.json, paris",
        ),
        ({"state": "pass", "reasons": [of_paris("loosened")]}, {}, "it passes, and gives reasons"),
        ({"state": "fail"}, {}, "it fails for no reason"),
        ({"state": "inconclusive"}, {}, "inconclusive for other reasons"),
        (
            {"state": "inconclusive", "reasons": [of_paris("regression")]},
            {"cases": [WORSE]},
            "inconclusive for other reasons",
        ),
    ],
)
def test_a_decision_that_the_findings_do_not_allow_is_refused(
    tmp_path: Path, decision: dict[str, Any], more: dict[str, Any], why: str
) -> None:
    """Nobody gets a green check beside a case that got worse without a word about it."""
    with pytest.raises(FileError, match="contradicts itself") as refused:
        read_report(written(tmp_path, decision, **more))
    assert why in str(refused.value)


@pytest.mark.parametrize(
    ("decision", "more"),
    [
        ({"state": "fail", "reasons": [of_paris("regression")]}, {"cases": [WORSE]}),
        ({"state": "pass", "notes": [of_paris("regression")]}, {"cases": [WORSE]}),
        ({"state": "pass", "notes": [of_paris("removed")]}, {"cases": [GONE]}),
        ({"state": "pass"}, {"criteria": [{**FELL, "informational": True}]}),
        ({"state": "inconclusive", "reasons": [of_paris("inconclusive")]}, {}),
        (
            {"state": "fail", "reasons": [reason("regression", criterion=str(FELL["name"]))]},
            {"criteria": [FELL]},
        ),
    ],
)
def test_a_decision_that_mentions_every_finding_is_read(
    tmp_path: Path, decision: dict[str, Any], more: dict[str, Any]
) -> None:
    """Also one that an acceptance or a quarantine leaves aside."""
    assert read_report(written(tmp_path, decision, **more)).decision.state == decision["state"]


def in_suite(name: str, **case: Any) -> dict[str, Any]:
    """A case of a suite."""
    return {**case, "suite": name}


@pytest.mark.parametrize(("told", "left"), [({"suite": "desk"}, "shop"), ({}, "desk")])
def test_one_suites_reason_does_not_speak_for_anothers_case(
    tmp_path: Path, told: dict[str, str], left: str
) -> None:
    """Two suites on one eval set: what is said of one hides nothing of the other."""
    both = [in_suite("desk", **WORSE), in_suite("shop", **WORSE)]
    decision = {"state": "fail", "reasons": [{**of_paris("regression"), **told}]}
    with pytest.raises(FileError, match=rf"\(regression: {left}, a\.evalset\.json, paris\)"):
        read_report(written(tmp_path, decision, cases=both))


@pytest.mark.parametrize("line", [0, -5, 10**30])
def test_a_line_that_no_file_has_is_refused(tmp_path: Path, line: int) -> None:
    """GitHub would refuse the whole check for such a remark."""
    path = written(tmp_path, {"state": "pass"}, cases=[{**GONE, "line": line}])
    with pytest.raises(FileError, match="line"):
        read_report(path)
