"""What agents are made of where nobody says so: projects with their local dependencies."""

from pathlib import Path

import pytest

from gradegate.model.runs import Side
from gradegate.model.settings import Suite
from gradegate.sides.scope import Scope, export_scope, scope_of
from tests.integration.adk import write

AGENT = {"agents/a/agent.py": "root_agent = None\n"}
WORKSPACE = """
[tool.uv.workspace]
members = ["agents/*", "libs/*"]
"""


def found(root: Path, files: dict[str, str], **suite: str) -> Scope | None:
    """The scope of the agent in `agents/a`, in a repository with these files too."""
    write(root, {**AGENT, **files})
    return scope_of(Suite.model_validate({"name": "a", "agent": "agents/a", **suite}), side(root))


def side(root: Path) -> Side:
    """All of the repository."""
    return Side("", root, root)


def test_without_a_project_it_is_the_whole_repository(tmp_path: Path) -> None:
    """Nobody can tell what belongs to the agent."""
    assert found(tmp_path, {"README.md": "hello\n"}) is None


def test_a_project_at_the_top_is_the_whole_repository(tmp_path: Path) -> None:
    """As in a repository of one agent."""
    assert found(tmp_path, {"pyproject.toml": "[project]\nname = 'a'\n"}) is None


@pytest.mark.parametrize("mark", ["requirements.txt", "pyproject.toml", "setup.py", "poetry.lock"])
def test_the_nearest_project_is_it(tmp_path: Path, mark: str) -> None:
    """Whichever way it is written down."""
    assert found(tmp_path, {f"agents/a/{mark}": "", "pyproject.toml": ""}) == ("agents/a",)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pyproject.toml", "[tool.uv.sources]\nshared = {path = '../../libs/shared'}\n"),
        ("pyproject.toml", "[tool.poetry.dependencies]\nshared = {path = '../../libs/shared'}\n"),
        ("pyproject.toml", "[project]\ndependencies = ['shared @ file:../../libs/shared']\n"),
        ("requirements.txt", "google-adk\n-e ../../libs/shared\n"),
        ("requirements.txt", "../../libs/shared\n"),
    ],
)
def test_local_dependencies_belong_to_it(tmp_path: Path, name: str, text: str) -> None:
    """And theirs, as far as they go; their neighbours do not."""
    files = {
        f"agents/a/{name}": text,
        "libs/shared/pyproject.toml": "[tool.uv.sources]\nmore = [{path = '../more'}]\n",
        "libs/more/pyproject.toml": "[project]\nname = 'more'\n",
        "libs/other/pyproject.toml": "[project]\nname = 'other'\n",
    }
    assert found(tmp_path, files) == ("agents/a", "libs/more", "libs/shared")


def test_a_workspace_brings_its_lock_and_the_members_that_are_needed(tmp_path: Path) -> None:
    """Of the others uv reads what they are called, and no more."""
    files = {
        "pyproject.toml": WORKSPACE,
        "uv.lock": "",
        "agents/a/pyproject.toml": "[tool.uv.sources]\nshared_lib = {workspace = true}\n",
        "agents/b/pyproject.toml": "[project]\nname = 'b'\n",
        "libs/shared/pyproject.toml": "[project]\nname = 'shared-lib'\n",
    }
    named = ("agents/a", "agents/b/pyproject.toml", "libs/shared", "pyproject.toml", "uv.lock")
    assert found(tmp_path, files) == named


def test_included_requirements_belong_to_it(tmp_path: Path) -> None:
    """Wherever they are."""
    files = {"agents/a/requirements.txt": "-r ../../common.txt\n", "common.txt": "google-adk\n"}
    assert found(tmp_path, files) == ("agents/a", "common.txt")


def test_a_scope_that_leads_through_a_link_is_the_whole_repository(tmp_path: Path) -> None:
    """What is there counts where it really is."""
    write(tmp_path, {"real/agent.py": "", "real/requirements.txt": ""})
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "a").symlink_to("../real")
    suite = Suite(name="a", agent="agents/a")
    assert scope_of(suite, side(tmp_path)) is None


def test_the_export_has_the_scope_and_names_what_it_lacks(tmp_path: Path) -> None:
    """Files by their names, modules as they are imported."""
    files = {"agents/a/requirements.txt": "", "common/words.py": "", "data/prices.csv": ""}
    scope = found(tmp_path / "whole", files)
    assert scope is not None
    made = export_scope(side(tmp_path / "whole"), scope, tmp_path / "part")
    there = [path.relative_to(made.top).as_posix() for path in made.top.rglob("*")]
    assert sorted(there) == ["agents", "agents/a", "agents/a/agent.py", "agents/a/requirements.txt"]
    assert made.left_out["common"] == "common"
    assert made.left_out["prices.csv"] == "data/prices.csv"
    assert "agent.py" not in made.left_out
