"""Cases as test suites, for whatever reads JUnit's XML.

A failure means that the gate says no because of it, and nothing else does: a dashboard must not
be red where the gate is green, nor the other way round.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, Protocol

from gradegate.report.case_sections import Section

Outcome = Literal["passed", "failure", "skipped"]
FINDINGS = "gradegate"
"""The suite of what blocks and is of no case, such as a criterion that fell."""

_NOT_EVALUATED = {Section.REMOVED, Section.INCONCLUSIVE, Section.UNMEASURED}


class Testcase(Protocol):
    """What of a case matters here."""

    @property
    def suite(self) -> str: ...  # noqa: D102 - says itself
    @property
    def path(self) -> str: ...  # noqa: D102 - says itself
    @property
    def outcome(self) -> Outcome: ...  # noqa: D102 - says itself
    @property
    def told(self) -> str: ...  # noqa: D102 - says itself


@dataclass(frozen=True)
class FindingCase:
    """A finding of no case, as a test."""

    name: str
    label: str
    told: str
    outcome: Outcome
    group: str
    suite: str = ""
    path: str = ""
    line: int = 0


@dataclass(frozen=True)
class Testsuite:
    """The cases of one eval set in one suite."""

    name: str
    cases: tuple[Testcase, ...]

    @property
    def failures(self) -> int:
        """How many failed."""
        return sum(case.outcome == "failure" for case in self.cases)

    @property
    def skipped(self) -> int:
        """How many have no outcome that counts."""
        return sum(case.outcome == "skipped" for case in self.cases)


@dataclass(frozen=True)
class Testsuites:
    """All of them."""

    suites: tuple[Testsuite, ...]

    @property
    def tests(self) -> int:
        """How many cases there are."""
        return sum(len(suite.cases) for suite in self.suites)

    @property
    def failures(self) -> int:
        """How many failed."""
        return sum(suite.failures for suite in self.suites)

    @property
    def skipped(self) -> int:
        """How many have no outcome that counts."""
        return sum(suite.skipped for suite in self.suites)


def outcome_of(group: Section, *, says_no: bool) -> Outcome:
    """A case's outcome as a test; `says_no`: the gate does, because of this case."""
    if says_no:
        return "failure"
    return "skipped" if group in _NOT_EVALUATED else "passed"


def suites_of(cases: Iterable[Testcase], findings: Iterable[FindingCase] = ()) -> Testsuites:
    """The cases by suite and eval set, in stable order; findings of no case before them."""
    by_place: dict[tuple[str, str], list[Testcase]] = {}
    for case in cases:
        by_place.setdefault((case.path, case.suite), []).append(case)
    own = tuple(findings)
    return Testsuites(
        (
            *([Testsuite(FINDINGS, own)] if own else []),
            *(
                Testsuite(f"{suite}: {path}" if suite else path, tuple(listed))
                for (path, suite), listed in sorted(by_place.items())
            ),
        )
    )
