"""Two sides compared and decided upon: the `report.json` file.

This is the seam between computing and showing: views are made from it alone, and a fork's
untrusted half of the job ends with it.
"""

from enum import StrEnum
from functools import cached_property
from operator import not_
from typing import Any, Final, Literal, NamedTuple, Self

from pydantic import Field, field_serializer

from gradegate.model.base import Value
from gradegate.model.evalset import CaseKey
from gradegate.model.notice import Notice, as_notice, as_notices, is_none, text_beside
from gradegate.model.result import Status, Usage

REPORT_SCHEMA: Final = "gradegate/report/v1"


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


class Reason(Notice):
    """One thing the gate holds against the pull request, or would if `fail_on` said so."""

    kind: ReasonKind
    suite: str | None = None
    eval_set: str | None = None
    eval_id: str | None = None
    criterion: str | None = None

    @classmethod
    def of(cls, kind: ReasonKind, told: Notice, case: CaseKey | None = None, **where: str) -> Self:
        """A finding, of a case or of another place."""
        if case is not None:
            where |= case._asdict()
        return cls(kind=kind, text=told.text, code=told.code, values=told.values, **where)


class Accepted(NamedTuple):
    """What somebody accepted as it is."""

    who: str
    """Empty where nobody tells."""
    cases: tuple[str, ...] | None = None
    """By their eval ids; None: all of them, and what speaks of no case."""

    def covers(self, reason: Reason) -> bool:
        """Whether it is about this finding."""
        return self.cases is None or reason.eval_id in self.cases


class Decision(Value):
    """The gate's word, and why."""

    state: State
    reasons: tuple[Reason, ...] = ()
    """What the state rests on."""
    notes: tuple[Reason, ...] = ()
    """The same kinds of finding where `fail_on` or an acceptance leaves them aside."""
    accepted_by: str | None = None
    accepted_cases: tuple[str, ...] | None = Field(default=None, exclude_if=is_none)
    """What of it was accepted, by eval ids; None: all of it, if anything was."""


class BaseSide(Value):
    """Where base's scores come from."""

    commit: str = ""
    source: Literal["store", "run", "history", "none"] = "none"
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
    """For `uncertain`: about so many more runs of every case are needed to decide."""
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
    earlier: tuple[int, int] | None = Field(default=None, exclude_if=is_none)
    """How many of base's earlier runs passed, and how many there were, where they counted."""
    bayes_factor: float | None = Field(default=None, exclude_if=is_none)
    """How much likelier head's runs are if the case broke than if nothing changed."""
    probably_worse: bool = Field(default=False, exclude_if=not_)
    """Whether it looks worse, and not clearly enough to block."""
    more_runs: int | None = Field(default=None, exclude_if=is_none)
    """For what is probably worse: about so many more runs would decide."""
    below_threshold: bool | None = None
    """Whether head's score misses its threshold; None in a report that does not say so."""
    notice: Notice | None = Field(default=None, exclude_if=is_none)
    reason: str | None = Field(default_factory=text_beside)
    """Why there is no score."""

    @property
    def why(self) -> Notice | None:
        """The reason, in whose words it is."""
        return as_notice(self.reason, self.notice)

    @property
    def falls_short(self) -> bool:
        """Whether head's score misses its threshold."""
        if self.below_threshold is not None:
            return self.below_threshold
        if self.threshold is None or self.head is None:
            return False
        return self.head < self.threshold


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
    rubric_id: str | None = None
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


class RunEvidence(Value):
    """One run of a case: what it was made for, and how it came out."""

    role: str
    status: Status
    scores: dict[str, float | None] = Field(default_factory=dict)
    """By criterion, of those that pass or fail; None: none could be had."""
    answer: int | None = Field(default=None, exclude_if=is_none)
    """Which of the side's different answers it gave: runs with the same number said and called the
    same to the letter. None: it gave none."""


class Evidence(Value):
    """What a view shows of a case that needs attention."""

    turns: tuple[TurnEvidence, ...] = ()
    base_error: str | None = None
    head_error: str | None = None
    base_runs: tuple[RunEvidence, ...] = ()
    """All of them, in the order made; the turns are those of one."""
    head_runs: tuple[RunEvidence, ...] = ()


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
    asked: str = Field(default="", exclude_if=not_)
    """The first question."""
    cause: Notice | None = Field(default=None, exclude_if=is_none)
    """What got worse, in words that cases with the same cause share; None: nothing did."""
    evidence: Evidence = Evidence()
    unmeasured: Notice | None = Field(default=None, exclude_if=is_none)
    """Why no criterion says anything of head's case; None where one should."""

    @property
    def key(self) -> CaseKey:
        """Which case this is."""
        return CaseKey(self.suite, self.eval_set, self.eval_id)

    @field_serializer("evidence")
    def _leave_out_what_is_empty(self, evidence: Evidence) -> dict[str, Any]:
        return evidence.model_dump(mode="json", exclude_defaults=True)


class Touched(Value):
    """A part of the agent that the pull request changes, and how many cases came by it."""

    suite: str = ""
    kind: Literal["tool", "agent", "instruction"]
    name: str
    path: str = ""
    """Where it is defined, from the top of the repository; empty: not known."""
    line: int = Field(default=1, ge=1, le=2**31 - 1)
    cases: int = 0
    """In how many cases head called it, or had it speak."""
    total: int = 0
    """Of how many cases that were run."""


class WouldFind(Value):
    """What a run would have found nine times in ten, if it had been there."""

    case_passes: float | None = Field(default=None, ge=0, le=1)
    """A single case that always passed on base, and now passes so often or less."""
    drops: dict[str, float | None] = Field(default_factory=dict)
    """By criterion, a drop of its mean by so much. None: no drop that there can be."""


class Report(Value):
    """The `report.json` file."""

    schema_: Literal["gradegate/report/v1"] = Field(default=REPORT_SCHEMA, alias="schema")
    decision: Decision
    base: BaseSide = BaseSide()
    head: HeadSide = HeadSide()
    criteria: tuple[CriterionComparison, ...] = ()
    cases: tuple[CaseComparison, ...] = ()
    touched: tuple[Touched, ...] = Field(default=(), exclude_if=not_)
    """What of the agent's definition the pull request changes, where that could be told."""
    would_find: WouldFind | None = Field(default=None, exclude_if=is_none)
    """What the run could not have missed, where that can be told."""
    usage: Usage = Usage()
    warnings: tuple[str, ...] = ()
    notices: tuple[Notice, ...] = Field(default=(), exclude_if=not_)
    """The warnings, one by one, as they can be told in another language."""

    isolation: tuple[Notice, ...] = Field(default=(), exclude_if=not_)
    """How the agents were kept apart from the job and from each other, and how not."""

    @property
    def told(self) -> tuple[Notice, ...]:
        """The warnings, as notices where the report has them."""
        return as_notices(self.warnings, self.notices)

    def case_of(self, reason: Reason) -> CaseKey | None:
        """Which of the cases a reason speaks of, if of one.

        One that names no suite, and could be of several, is of none.
        """
        if reason.eval_id is None:
            return None
        suites = self._suites.get((reason.eval_set or "", reason.eval_id), ())
        suite = suites[0] if reason.suite is None and len(suites) == 1 else reason.suite
        if suite is None or suite not in suites:
            return None
        return CaseKey(suite, reason.eval_set or "", reason.eval_id)

    @cached_property
    def _suites(self) -> dict[tuple[str, str], list[str]]:
        found: dict[tuple[str, str], list[str]] = {}
        for case in self.cases:
            found.setdefault((case.eval_set, case.eval_id), []).append(case.suite)
        return found
