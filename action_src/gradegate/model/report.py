"""Two sides compared and decided upon: the `report.json` file.

This is the seam between computing and showing: views are made from it alone, and a fork's
untrusted half of the job ends with it.
"""

from enum import StrEnum
from typing import Any, Literal

from pydantic import Field, field_serializer

from gradegate.model.base import Value
from gradegate.model.evalset import CaseKey
from gradegate.model.result import Usage


class State(StrEnum):
    """What the gate says."""

    PASS = "pass"  # noqa: S105 - a verdict, not a password
    FAIL = "fail"
    INCONCLUSIVE = "inconclusive"


class ReasonKind(StrEnum):
    """Why the gate says no; the words that `fail_on` takes."""

    REGRESSION = "regression"
    NEW_FAILURE = "new_failure"
    THRESHOLD = "threshold"
    REMOVED = "removed"
    LOOSENED = "loosened"
    BUDGET = "budget"
    INCONCLUSIVE = "inconclusive"


class Verdict(StrEnum):
    """How a case or a criterion on head compares with base."""

    REGRESSED = "regressed"
    IMPROVED = "improved"
    UNCHANGED = "unchanged"
    FLAKY = "flaky"
    UNCERTAIN = "uncertain"
    NEW = "new"
    GONE = "gone"


class Change(StrEnum):
    """What the pull request did to a case's definition."""

    SAME = "same"
    EDITED = "edited"
    ADDED = "added"
    REMOVED = "removed"


class Reason(Value):
    """One thing the gate holds against the pull request, or would if `fail_on` said so."""

    kind: ReasonKind
    text: str
    suite: str | None = None
    eval_set: str | None = None
    eval_id: str | None = None
    criterion: str | None = None


class Decision(Value):
    """The gate's word, and why."""

    state: State
    reasons: tuple[Reason, ...] = ()
    """What the state rests on."""
    notes: tuple[Reason, ...] = ()
    """The same kinds of finding where `fail_on` or an acceptance leaves them aside."""
    accepted_by: str | None = None


class BaseSide(Value):
    """Where base's scores come from."""

    commit: str = ""
    source: Literal["store", "run", "none"] = "none"
    fingerprint: str = ""


class HeadSide(Value):
    """What was evaluated."""

    commit: str = ""
    fingerprint: str = ""


class CriterionComparison(Value):
    """One criterion over all cases of both sides."""

    name: str
    base: float | None = None
    head: float | None = None
    delta: float | None = None
    interval: tuple[float, float] | None = None
    p_value: float | None = None
    scored: tuple[int, int] = (0, 0)
    planned: tuple[int, int] = (0, 0)
    verdict: Verdict
    passes_to_settle: int | None = None
    """For `uncertain`: about so many more runs of every case would tell."""
    range: tuple[float, float] | None = None
    """The lowest and the highest score that there can be; None: no such bounds."""
    lower_is_better: bool = False
    informational: bool = False
    """Reported beside the scores: it passes and fails nowhere, and only a budget can block."""
    breakdown: dict[str, tuple[float | None, float | None]] = Field(default_factory=dict)
    """What an informational number is made of, on base and head."""
    allowed: float | None = None
    """The most that head may have, where `[gate.budget]` says so."""


class CaseCriterion(Value):
    """One criterion on one case: scores are means over the first-pass runs of a side."""

    base: float | None = None
    head: float | None = None
    delta: float | None = None
    threshold: float | None = None
    passed: tuple[int, int] = (0, 0)
    runs: tuple[int, int] = (0, 0)
    p_value: float | None = None
    verdict: Verdict
    confirmed: bool = False
    reason: str | None = None


class ToolUse(Value):
    """A tool call as evidence."""

    name: str
    args: dict[str, Any] | None = None


class SideAnswer(Value):
    """What one side answered in one turn, and what it called on the way."""

    text: str = ""
    tools: tuple[ToolUse, ...] = ()


class JudgedItem(Value):
    """One thing a judge was asked about a turn, and its answers for the two sides."""

    criterion: str
    subject: str
    """The rubric, or the sentence; empty where it is the answer as a whole."""
    base: str | None = None
    head: str | None = None
    reason: str | None = None


class TurnEvidence(Value):
    """One turn of a case that needs attention."""

    asked: str
    expected: SideAnswer | None = None
    base: SideAnswer | None = None
    head: SideAnswer | None = None
    judged: tuple[JudgedItem, ...] = ()


class Evidence(Value):
    """What a view shows of a case that needs attention."""

    turns: tuple[TurnEvidence, ...] = ()
    base_error: str | None = None
    head_error: str | None = None


class CaseComparison(Value):
    """One case on both sides."""

    suite: str = ""
    eval_set: str
    eval_id: str
    line: int = Field(default=1, ge=1, le=2**31 - 1)
    change: Change = Change.SAME
    moved_from: str | None = None
    quarantined: bool = False
    criteria: dict[str, CaseCriterion] = Field(default_factory=dict)
    evidence: Evidence = Evidence()

    @property
    def key(self) -> CaseKey:
        """Which case this is."""
        return CaseKey(self.suite, self.eval_set, self.eval_id)

    @field_serializer("evidence")
    def _leave_out_what_is_empty(self, evidence: Evidence) -> dict[str, Any]:
        return evidence.model_dump(mode="json", exclude_defaults=True)


class Report(Value):
    """The `report.json` file."""

    schema_: Literal["gradegate/report/v1"] = Field(default="gradegate/report/v1", alias="schema")
    decision: Decision
    base: BaseSide = BaseSide()
    head: HeadSide = HeadSide()
    criteria: tuple[CriterionComparison, ...] = ()
    cases: tuple[CaseComparison, ...] = ()
    usage: Usage = Usage()
    warnings: tuple[str, ...] = ()
