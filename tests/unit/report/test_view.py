"""What users' own templates lean on: names may be added, none taken away."""

import re
from pathlib import Path

import pytest

from gradegate.report import junit
from gradegate.report.answers import Line
from gradegate.report.scores import ScoreView
from gradegate.report.sections import CaseView, SectionView
from gradegate.report.tables import EfficiencyView
from gradegate.report.turns import Difference, JudgedView, TurnView
from gradegate.report.view import ReportView

TEMPLATES = Path(__file__).parents[3] / "templates"
NAMES = {
    ReportView: "criteria criteria_attention efficiency efficiency_attention findings icon junit "
    "lead left_out notes quiet sections sides state title usage warnings",
    CaseView: "blocking folded group icon label line name outcome path place remark scores suite "
    "turns why",
    ScoreView: "attention base delta head icon interval name needed p_value runs scored settles "
    "verdict",
    SectionView: "cases group icon open title",
    TurnView: "asked differences expected judged remark title",
    JudgedView: "criterion reason subject verdicts",
    EfficiencyView: "allowed attention base change delta head is_part name",
    Difference: "after before lines text what",
    Line: "sign style text",
    junit.Testsuites: "failures skipped suites tests",
    junit.Testsuite: "cases failures name skipped",
}
BLOCKS = {
    "cases criteria efficiency findings footer headline lead left_out notes warnings": "{% block",
    "case_block criteria_table efficiency_table remarks score_table section_block sentence "
    "turn_block": "{% macro",
}


@pytest.mark.parametrize("cls", NAMES, ids=lambda cls: cls.__name__)
def test_a_template_finds_the_names_it_was_written_for(cls: type) -> None:
    """In the report and in everything below it."""
    names = {*cls.__annotations__, *vars(cls)}
    assert set(NAMES[cls].split()) <= names


@pytest.mark.parametrize("names", BLOCKS)
def test_a_template_finds_the_blocks_and_macros_it_extends(names: str) -> None:
    """In one of our templates each."""
    text = "".join(path.read_text(encoding="utf-8") for path in TEMPLATES.glob("*.j2"))
    found = set(re.findall(rf"{BLOCKS[names]} (\w+)", text))
    assert set(names.split()) <= found
