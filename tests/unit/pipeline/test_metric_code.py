from pathlib import Path
from typing import Any

import pytest

from gradegate.compare.pairing import Pair
from gradegate.model.evalset import Case, EvalConfig
from gradegate.model.settings import Suite
from gradegate.pipeline.metric_code import MetricPlace, changed_metrics
from tests.runs import MATCH, SET, a_case

OWN = {
    "criteria": {"polite": 0.5},
    "custom_metrics": {"polite": {"code_config": {"name": "metrics.manners.polite"}}},
}
FILES = {
    "metrics/__init__.py": "",
    "metrics/manners.py": "from . import words\nfrom agent.tools import ask\nimport json, yaml\n",
    "metrics/words.py": "POLITE = ['please']\n",
    "agent/tools.py": "def ask(): ...\n",
    "agent/agent.py": "root_agent = None\n",
    "lib/src/far.py": "",
}


def written(root: Path, files: dict[str, str]) -> MetricPlace:
    """A side with these files."""
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    return MetricPlace(root, (Suite(name="desk", agent="lib/agents/desk"),))


def a_case_with(config: dict[str, Any]) -> Case:
    """A case of the desk's that is scored so."""
    return a_case().model_copy(update={"config": EvalConfig.model_validate(config)})


def told(
    tmp_path: Path, change: dict[str, str], base: dict[str, Any], head: dict[str, Any]
) -> list[str]:
    """What is said of a change."""
    sides = (written(tmp_path / "base", FILES), written(tmp_path / "head", FILES | change))
    pairs = [Pair(a_case_with(base), a_case_with(head))] * 2
    return [reason.text for reason in changed_metrics(pairs, *sides)]


SAID = [f"{SET}: polite: the code that computes the score is changed"]


@pytest.mark.parametrize(
    ("change", "counts"),
    [
        ({"metrics/manners.py": "def polite(*_): return 1\n"}, True),
        ({"metrics/words.py": "POLITE = ['']\n"}, True),
        ({"metrics/__init__.py": "import json\n"}, True),
        ({"agent/tools.py": "def ask(): return 1\n"}, True),
        ({"agent/__init__.py": "import sys\n"}, True),
        ({"yaml.py": "def safe_load(_): return 1\n"}, True),
        ({"lib/src/yaml/__init__.py": "def safe_load(_): return 1\n"}, True),
        ({"lib/agents/desk/json.py": "def loads(_): return 1\n"}, True),
        ({"metrics/manners/__init__.py": "def polite(*_): return 1\n"}, True),
        ({}, False),
        ({"agent/agent.py": "root_agent = 1\n"}, False),
        ({"metrics/others.py": "import os\n"}, False),
        ({"toml.py": "x = 1\n"}, False),
    ],
    ids=str,
)
def test_code_that_a_metric_imports_is_its_code(
    tmp_path: Path, change: dict[str, str], *, counts: bool
) -> None:
    """Also what stands in the way of a library that it imports; an agent beside it does not."""
    assert told(tmp_path, change, OWN, OWN) == (SAID if counts else [])


@pytest.mark.parametrize(
    ("base", "head"),
    [
        (
            OWN,
            OWN | {"custom_metrics": {"polite": {"code_config": {"name": "metrics.kind.polite"}}}},
        ),
        (
            OWN | {"custom_metrics": {"polite": {"custom_function": "def evaluate(_): return 0"}}},
            OWN | {"custom_metrics": {"polite": {"custom_function": "def evaluate(_): return 1"}}},
        ),
        (OWN, OWN | {"custom_metrics": {"polite": {"custom_function": "def evaluate(_): ..."}}}),
    ],
    ids=["another function", "another source", "a source instead"],
)
def test_another_function_is_changed_code(
    tmp_path: Path, base: dict[str, Any], head: dict[str, Any]
) -> None:
    """Named or written out."""
    assert told(tmp_path, {}, base, head) == SAID


def test_a_metric_in_the_place_of_a_criterion_is_changed_code(tmp_path: Path) -> None:
    """Its name is that of one of ours."""
    own = {"criteria": {MATCH: 0.8}}
    code = {"custom_metrics": {MATCH: {"code_config": {"name": "metrics.manners.polite"}}}}
    assert told(tmp_path, {}, own, own) == []
    assert told(tmp_path, {}, own, own | code) == [SAID[0].replace("polite", MATCH)]


def test_a_new_metric_is_nobodys_loss(tmp_path: Path) -> None:
    """There was no score before."""
    assert told(tmp_path, {}, {"criteria": {MATCH: 0.8}}, OWN) == []


def test_what_is_no_python_is_compared_as_it_is(tmp_path: Path) -> None:
    """And a link out of the repository leads nowhere."""
    broken = {"metrics/words.py": "(" * 5000}
    assert told(tmp_path / "1", broken, OWN, OWN) == SAID
    (tmp_path / "2" / "head" / "metrics").mkdir(parents=True)
    (tmp_path / "2" / "head" / "metrics" / "words").mkdir()
    (tmp_path / "2" / "head" / "metrics" / "words" / "__init__.py").symlink_to("/etc/passwd")
    assert told(tmp_path / "2", {}, OWN, OWN) == []
