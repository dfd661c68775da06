"""Cases as test suites, for whatever reads JUnit's XML."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, Protocol

from gradegate.report.case_sections import Section

Outcome = Literal["passed", "failure", "skipped"]

_FAILED = {Section.REGRESSED, Section.NEW_FAILURE, Section.THRESHOLD}
_SKIPPED = {Section.REMOVED, Section.INCONCLUSIVE, Section.UNMEASURED, Section.QUARANTINED}


class Testcase(Protocol):
    """What of a case matters here."""

    @property
    def suite(self) -> str: ...  # noqa: D102 - says itself
    @property
    def path(self) -> str: ...  # noqa: D102 - says itself
    @property
    def outcome(self) -> Outcome: ...  # noqa: D102 - says itself


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


def outcome_of(group: Section, *, blocking: bool, short: bool) -> Outcome:
    """A case's outcome as a test: short of a threshold fails, quarantine only skips."""
    if group in _SKIPPED and not blocking:
        return "skipped"
    return "failure" if blocking or short or group in _FAILED else "passed"


def suites_of(cases: Iterable[Testcase]) -> Testsuites:
    """The cases by suite and eval set, in stable order."""
    by_place: dict[tuple[str, str], list[Testcase]] = {}
    for case in cases:
        by_place.setdefault((case.path, case.suite), []).append(case)
    return Testsuites(
        tuple(
            Testsuite(f"{suite}: {path}" if suite else path, tuple(own))
            for (path, suite), own in sorted(by_place.items())
        )
    )
