"""docs/criteria.md tells of every criterion, with configs that work."""

import json
import re
from pathlib import Path

import pytest

from gradegate.criteria import registry
from gradegate.criteria.custom import custom_metrics_of
from gradegate.evalsets.config import read_config
from gradegate.files.json_document import parse
from gradegate.files.settings_toml import parse_settings

PAGE = (Path(__file__).parents[2] / "docs" / "criteria.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    """The page's code in one language."""
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.parametrize("text", blocks("json"))
def test_a_config_on_the_page_can_be_copied(text: str) -> None:
    """Nothing is wrong with it, and nothing is unknown in it."""
    assert read_config(parse("test_config.json", text)).findings == ()


def test_every_criterion_is_on_the_page_with_a_config() -> None:
    """Those that only inform stand in its budgets."""
    configured = {name for text in blocks("json") for name in json.loads(text)["criteria"]}
    assert configured >= registry.built().keys()
    for name in registry.known():
        assert f"`{name}`" in PAGE


def test_the_budgets_on_the_page_can_be_copied() -> None:
    """As they stand there."""
    (text,) = blocks("toml")
    assert set(parse_settings("gradegate.toml", text).gate.budget) <= registry.INFORMATIONAL


def test_the_custom_metric_on_the_page_is_one() -> None:
    """Its function is the one that its config names."""
    config = read_config(parse("test_config.json", blocks("json")[-1])).config
    (metric,) = custom_metrics_of(config)
    assert metric.config.code_config
    assert f"def {metric.config.code_config.name.rpartition('.')[2]}(" in blocks("python")[0]
    assert metric.scale.lower_is_better
