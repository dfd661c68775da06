"""What a project declares that it needs, read without building it."""

from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement

from gradegate.agents.declared import declared_needs, pinned, wanted_python


def poetry(needs: dict[str, Any], **project: Any) -> dict[str, Any]:
    """A pyproject.toml with Poetry's table."""
    own = {"project": project} if project else {}
    return {"tool": {"poetry": {"dependencies": needs}}, **own}


def needs(said: Any) -> list[str] | None:
    """What is made of one dependency."""
    return declared_needs(poetry({"python": "^3.10", "x": said}), Path("/side/a"))


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("*", "x"),
        ("1.2", "x==1.2"),
        ("==1.2.*", "x==1.2.*"),
        ("1.*", "x==1.*"),
        ("^1.2.3", "x>=1.2.3,<2"),
        ("^0.5.0", "x>=0.5.0,<0.6"),
        ("^0.0.3", "x>=0.0.3,<0.0.4"),
        ("^0.0", "x>=0.0,<0.1"),
        ("^0", "x>=0,<1"),
        ("^1.0b2", "x>=1.0b2,<2"),
        ("~1.2.3", "x>=1.2.3,<1.3"),
        ("~1", "x>=1,<2"),
        ("~=1.4", "x~=1.4"),
        (">= 1.2, < 3", "x>=1.2,<3"),
        (">=1.2 <3,!=2.0", "x>=1.2,<3,!=2.0"),
        ({"version": "^2", "extras": ["a", "b"]}, "x[a,b]>=2,<3"),
        ({"version": "1", "markers": "os_name == 'nt'"}, "x==1 ; (os_name == 'nt')"),
        ({"version": "1", "platform": "linux"}, 'x==1 ; sys_platform == "linux"'),
        (
            {"version": "1", "python": ">=3.9,<3.12"},
            'x==1 ; python_full_version >= "3.9" and python_full_version < "3.12"',
        ),
        (
            {"git": "https://example.com/x.git", "tag": "v1", "subdirectory": "py"},
            "x @ git+https://example.com/x.git@v1#subdirectory=py",
        ),
        ({"url": "https://example.com/x.whl"}, "x @ https://example.com/x.whl"),
        ({"path": "../lib", "develop": True}, "x @ file:///side/lib"),
    ],
)
def test_poetrys_words_become_pips(said: Any, meant: str) -> None:
    """As Poetry's documentation explains them; each is a requirement that pip can read."""
    assert needs(said) == [meant]
    Requirement(meant)


def test_what_is_optional_is_left_out_and_a_list_is_several() -> None:
    """An extra of the project is nothing that its agent needs."""
    several = [{"version": "1", "python": "<3.11"}, {"version": "2", "python": ">=3.11"}]
    assert needs({"version": "1", "optional": True}) == []
    assert len(needs(several) or []) == 2


@pytest.mark.parametrize("said", ["^1 || ^2", "latest", 7, {"version": ["1"]}])
def test_what_pip_has_no_word_for_is_left_to_a_build(said: Any) -> None:
    """Rather than guessed at."""
    assert needs(said) is None


def test_uv_reads_what_the_standard_table_lists() -> None:
    """Poetry's own table only adds to it; without a list in the standard one, it counts."""
    assert declared_needs(poetry({"x": "1"}, dependencies=["y"]), Path("/")) is None
    assert declared_needs(poetry({"x": "1"}, name="z"), Path("/")) == ["x==1"]
    assert declared_needs({"project": {"dependencies": ["y"]}}, Path("/")) is None


@pytest.mark.parametrize("file", ["needs.txt", ["needs.txt"]])
def test_files_that_setuptools_would_read_are_read(file: Any) -> None:
    """Other needs that code tells take a build."""
    project = {"project": {"dynamic": ["dependencies"]}}
    assert declared_needs(project, Path("/side")) is None
    tool = {"setuptools": {"dynamic": {"dependencies": {"file": file}}}}
    assert declared_needs({**project, "tool": tool}, Path("/side")) == ["-r /side/needs.txt"]


def test_the_python_that_is_asked_for_is_found_in_either_table() -> None:
    """The standard one first."""
    assert wanted_python(poetry({"python": "^3.10"})) == ">=3.10,<4"
    assert wanted_python(poetry({"python": "^3.10"}, **{"requires-python": ">=3.11"})) == ">=3.11"
    assert wanted_python(poetry({"python": "3.9 || 3.12"})) is None


def test_a_lock_settles_versions() -> None:
    """Of what comes from an index, and is locked once."""
    git = {"type": "git", "url": "https://example.com/y.git"}
    private = {"type": "legacy", "url": "https://example.com/simple", "reference": "ours"}
    packages = [
        {"name": "x", "version": "1.0"},
        {"name": "own", "version": "2.0", "source": private},
        {"name": "y", "version": "1.0", "source": git},
        {"name": "twice", "version": "1.0"},
        {"name": "twice", "version": "2.0"},
        {"name": "nameless"},
    ]
    assert pinned({"package": packages}) == ["x==1.0", "own==2.0"]
    assert pinned({}) == pinned({"package": "?"}) == []
