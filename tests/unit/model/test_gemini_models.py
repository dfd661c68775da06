"""Models that are shut down, and what is suggested in their place."""

import re
from pathlib import Path

import pytest

from gradegate.criteria import registry
from gradegate.model.gemini_models import DEFAULT_JUDGE, STRONGER, other_than, shutdown_of
from gradegate.model.settings import JudgeSettings

ROOT = Path(__file__).parents[3]
SHOWN = ("README.md", "docs/**/*.md", "templates/**/*", "examples/**/*", "action_src/**/demo/**/*")
MODEL = re.compile(r"gemini-\d[\w.-]*\w")


@pytest.mark.parametrize(
    ("model", "instead"),
    [
        ("gemini-2.5-flash", "gemini-3.5-flash-lite"),
        ("gemini-2.5-pro", "gemini-3.8-flash"),
        ("models/gemini-2.0-flash-001", "gemini-3.5-flash-lite"),
        ("publishers/google/models/gemini-1.5-pro", "gemini-3.8-flash"),
        ("gemini-2.5-pro-preview-06-05", "gemini-3.8-flash"),
    ],
)
def test_a_model_that_is_shut_down_has_a_replacement(model: str, instead: str) -> None:
    """However it is named."""
    shutdown = shutdown_of(model)
    assert shutdown is not None
    assert shutdown.instead == other_than(model) == instead


@pytest.mark.parametrize(
    "model", ["gemini-2.5-flash-lite", "gemini-flash-latest", "gemini-9-pro", "claude-x", ""]
)
def test_models_that_stay_and_unknown_ones_have_none(model: str) -> None:
    """And the default is what is suggested for them."""
    assert shutdown_of(model) is None
    assert other_than(model) == DEFAULT_JUDGE


@pytest.mark.parametrize("model", [DEFAULT_JUDGE, f"models/{DEFAULT_JUDGE}", STRONGER])
def test_what_was_refused_is_not_suggested(model: str) -> None:
    """Neither of the two that are suggested is itself shut down."""
    assert shutdown_of(model) is None
    assert other_than(model) != model.rpartition("/")[2]


def test_one_default_is_named_everywhere() -> None:
    """Settings, examples of criteria, docs, templates, the demo and the example agents."""
    assert JudgeSettings().model == DEFAULT_JUDGE
    for name in registry.known():
        example = getattr(registry.criterion_class(name), "example", None)
        assert set(MODEL.findall(str(example))) <= {DEFAULT_JUDGE}
    files = [file for glob in SHOWN for file in ROOT.glob(glob) if file.is_file()]
    named = {
        (file.name, model)
        for file in files
        if file.suffix in {".md", ".toml", ".json", ".py", ".yml"}
        for model in MODEL.findall(file.read_text(encoding="utf-8"))
    }
    assert {model for file, model in named if file != "agents.md"} == {DEFAULT_JUDGE}
