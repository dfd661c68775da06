"""What a dry run tells, in lines; tests/end_to_end/test_new_user.py has whole ones."""

import pytest

from gradegate.model.notice import notice
from gradegate.pipeline.dry_run_plan import (
    NO_CALLS,
    Bounds,
    DryRun,
    Estimate,
    PlannedSet,
    PlannedSuite,
)


@pytest.mark.parametrize(
    ("bounds", "said"),
    [(Bounds(3, 3), "3"), (Bounds(0, 0), "0"), (Bounds(1200, 9000), "1,200 to 9,000")],
)
def test_a_number_or_two(bounds: Bounds, said: str) -> None:
    """One where the least and the most are the same."""
    assert str(bounds) == said


def test_a_suite_says_what_it_lacks() -> None:
    """No agent, no config, no criteria; a threshold only where there is one."""
    bare = PlannedSet("a.evalset.json", 1, None, {})
    ruled = PlannedSet("b.evalset.json", 2, "test_config.json", {"safety_v1": 0.8, "tokens": None})
    suite = PlannedSuite("evals", None, None, (bare, ruled), Bounds(0, 0))
    assert list(suite.lines()) == [
        "suite evals: no agent answers",
        "  runs: 0",
        "  a.evalset.json: 1 case, no config: google-adk's defaults (no criteria)",
        "  b.evalset.json: 2 cases, test_config.json (safety_v1 ≥ 0.8, tokens)",
    ]


def test_the_whole_counts_cases_runs_and_calls() -> None:
    """With the agent's environment, and the calls by criterion."""
    needs = notice("environment.file_and_python", file="uv.lock", python=">=3.12")
    suite = PlannedSuite("desk", "app", needs, (PlannedSet("a", 4, None, {}),), Bounds(8, 40))
    calls = Estimate(Bounds(12, 20), {"safety_v1": Bounds(12, 20)})
    audit = notice("evals.no_cases")
    lines = list(DryRun((suite,), calls, audit).lines())
    assert lines[:4] == [
        "4 cases",
        "suite desk: app",
        "  environment: installed from uv.lock, Python >=3.12",
        "  runs: 8 to 40",
    ]
    assert lines[5:] == ["judge calls: 12 to 20", "  safety_v1: 12 to 20", audit.text]
    assert next(DryRun((), NO_CALLS, audit, nothing_changed=True).lines()).startswith(
        "nothing changed"
    )
