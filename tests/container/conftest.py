"""The image, built once for all tests, and what they ask of the world around it."""

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.container.engine import CannotBeHadError, Engine, Figures
from tests.container.runner import Step
from tests.standins.gemini.server import KEY, GeminiStandin, prompt_of
from tests.standins.github import GitHubStandIn

IMAGE = "localhost/gradegate:test"
FIGURES = Figures()
WRONG = "I cannot say."


@pytest.fixture(scope="session")
def engine() -> Engine:
    """Something to run containers with, or a clear word why there is nothing."""
    try:
        return Engine.prepare(FIGURES)
    except CannotBeHadError as error:
        pytest.skip(f"no container was built or run: {error}")


@pytest.fixture(scope="session")
def image(engine: Engine) -> str:
    """The image, built from the Dockerfile as it is."""
    try:
        engine.build(IMAGE)
    except CannotBeHadError as error:
        pytest.skip(f"no container was built or run: {error}")
    return IMAGE


@pytest.fixture
def figures(engine: Engine) -> Figures:
    """Where what was measured is noted, for the end of the output."""
    return engine.figures


@pytest.fixture
def github() -> Iterator[GitHubStandIn]:
    """A GitHub of its own, which noticed nothing wrong by the end of the test."""
    with GitHubStandIn() as standin:
        yield standin
        assert standin.violations == []


@pytest.fixture
def gemini() -> Iterator[GeminiStandin]:
    """A judge who takes every answer but one for good."""

    def verdict(body: dict[str, Any]) -> str:
        said = "invalid" if WRONG in prompt_of(body) else "valid"
        return json.dumps({"reasoning": "as asked", "verdict": said})

    with GeminiStandin(verdict) as standin:
        yield standin


StepMaker = Callable[..., Step]


@pytest.fixture
def step(
    engine: Engine, image: str, github: GitHubStandIn, gemini: GeminiStandin, tmp_path: Path
) -> StepMaker:
    """Makes a step for a workspace."""

    def make(workspace: Path, environ: Mapping[str, str] | None = None, **more: Any) -> Step:
        keys = {"GOOGLE_API_KEY": KEY, "GOOGLE_GEMINI_BASE_URL": gemini.url, **(environ or {})}
        folder = tmp_path / "runner"
        return Step(engine, image, github, workspace, folder, environ=keys, **more)

    return make


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say what was measured; and where nothing was run, say that last of all."""
    write = terminalreporter.write_line
    if FIGURES.lines:
        terminalreporter.section("measured")
        for line in FIGURES.lines:
            write(line)
    skipped = terminalreporter.stats.get("skipped", [])
    if skipped:
        write(f"NOT TESTED: {len(skipped)} container tests were skipped; the reasons are above")
