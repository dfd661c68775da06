"""What a pull request may cost: reported always, blocking where `[gate.budget]` says so."""

from pathlib import Path
from typing import Any

import pytest

from tests.project import SETTINGS, Project, case, scripted, turn

CASES = [case(f"c{number}", turn("hello", "Hello there.")) for number in range(1, 5)]


def answering(tokens: int, calls: int = 1) -> dict[str, Any]:
    """An answer that takes so many model calls with so many prompt tokens each."""
    usage = {"prompt_token_count": tokens, "candidates_token_count": 20}
    events = [{"author": "desk", "usage_metadata": usage} for _ in range(calls)]
    return {"text": "Hello there.", "steps": {"invocation_events": events}}


def project_with(root: Path, budget: str) -> Project:
    """A repository whose base spends 100 tokens a turn, or so: no two cases are alike."""
    project = scripted(root, CASES, SETTINGS + budget)
    project.answers({one["eval_id"]: [answering(70 + 10 * n)] for n, one in enumerate(CASES)})
    project.commit("what base spends")
    return project


def doubled(project: Project) -> None:
    """Head spends twice as much for the same answers."""
    project.answers(
        {one["eval_id"]: [answering(2 * (70 + 10 * n) + 20)] for n, one in enumerate(CASES)}
    )


def row(outcome: Any, name: str) -> Any:
    """One of the report's criteria."""
    return next(one for one in outcome.report["criteria"] if one["name"] == name)


@pytest.mark.parametrize("budget", ['"+20%"', '"+50"', '"<= 150"'])
def test_a_pull_request_that_doubles_the_tokens_is_blocked(tmp_path: Path, budget: str) -> None:
    """By each kind of budget; nothing else is wrong with it."""
    project = project_with(tmp_path / "repo", f"[gate.budget]\ntoken_usage_v1 = {budget}\n")
    doubled(project)
    outcome = project.evaluate("--base", "main")
    assert (outcome.code, outcome.state, outcome.kinds) == (1, "fail", ["budget"])
    (reason,) = outcome.report["decision"]["reasons"]
    assert reason["criterion"] == "token_usage_v1"
    assert reason["text"].startswith("token_usage_v1 goes from 105 to 210, and its budget allows ")
    comment = (outcome.folder / "comment.md").read_text(encoding="utf-8")
    assert "<details open><summary>Efficiency" in comment
    assert "token_usage_v1 goes from 105 to 210, and its budget allows" in comment


def test_without_a_budget_it_is_only_reported(tmp_path: Path) -> None:
    """On both sides, with what it is made of, apart from the scores."""
    project = project_with(tmp_path / "repo", "")
    doubled(project)
    outcome = project.evaluate("--base", "main")
    assert (outcome.code, outcome.state, outcome.report["decision"]["notes"]) == (0, "pass", [])
    spent = row(outcome, "token_usage_v1")
    assert (spent["base"], spent["head"], spent["delta"]) == (105.0, 210.0, 105.0)
    assert spent["breakdown"]["input_tokens"] == [85.0, 190.0]
    assert spent["breakdown"]["output_tokens"] == [20.0, 20.0]
    assert spent["informational"]
    assert row(outcome, "inference_call_count_v1")["head"] == 1.0
    comment = (outcome.folder / "comment.md").read_text(encoding="utf-8")
    assert "<details><summary>Efficiency" in comment
    assert "105 | 210" in comment
    assert "2 criteria did not move" in comment


def test_within_its_budget_nothing_is_said(tmp_path: Path) -> None:
    """A fifth more is what +20% allows."""
    project = project_with(tmp_path / "repo", '[gate.budget]\ntoken_usage_v1 = "+20%"\n')
    project.answers({one["eval_id"]: [answering(85 + 20)] for one in CASES})
    outcome = project.evaluate("--base", "main")
    assert outcome.code == 0
    assert "budget" not in outcome.warnings
    assert row(outcome, "token_usage_v1")["allowed"] == 126.0


def test_a_budget_that_nothing_can_be_held_to_is_a_warning(tmp_path: Path) -> None:
    """Never a block, and never inconclusive; but nobody should think that it guards."""
    project = scripted(
        tmp_path / "repo", CASES, SETTINGS + '[gate.budget]\ntoken_usage_v1 = "+20%"\n'
    )
    project.answers({one["eval_id"]: [{"text": "Hello there!"}] for one in CASES})
    outcome = project.evaluate("--base", "main")
    assert outcome.code == 0
    assert "the budget for token_usage_v1 (+20%): no run tells its token_usage_v1" in (
        outcome.warnings
    )


def test_a_looser_budget_waits_until_it_is_merged(tmp_path: Path) -> None:
    """Base's word counts, and the loosening is told."""
    project = project_with(tmp_path / "repo", '[gate.budget]\ntoken_usage_v1 = "+20%"\n')
    doubled(project)
    project.put("gradegate.toml", SETTINGS + '[gate.budget]\ntoken_usage_v1 = "+200%"\n')
    outcome = project.evaluate("--base", "main")
    assert sorted(outcome.kinds) == ["budget", "loosened"]
