"""Version, tag, changelog, Dockerfile and action.yml: a release happens only where all agree."""

import re
import runpy
import shutil
from pathlib import Path
from typing import Any

import pytest

from gradegate import __version__

ROOT = Path(__file__).parents[2]
RELEASE: dict[str, Any] = runpy.run_path(str(ROOT / ".ci" / "release.py"))
FILES = (
    "action_src/gradegate/__init__.py",
    "Dockerfile",
    "CHANGELOG.md",
    "README.md",
    "action.yml",
)
FULL = f"ghcr.io/gradegate/gradegate@sha256:{'0f' * 32}"
SLIM = f"ghcr.io/gradegate/gradegate@sha256:{'1e' * 32}"
TAG = RELEASE["base"]()
BASE = f"{TAG}@sha256:{'2d' * 32}"
DATED = f"## [{__version__}] - 2026-01-31\n\n### Added\n\n- Everything.\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The files as they would be on the commit to release."""
    for name in FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    changelog = tmp_path / "CHANGELOG.md"
    text = re.sub(rf"(?s)## \[(Unreleased|{__version__})\].*", DATED, changelog.read_text())
    changelog.write_text(text)
    readme = tmp_path / "README.md"
    readme.write_text(re.sub(r"(?m)^Nothing is released yet.*\n", "", readme.read_text()))
    return tmp_path


def change(file: Path, before: str, after: str) -> None:
    """Spoil a file; what is spoilt must have been there."""
    text = file.read_text(encoding="utf-8")
    assert before in text
    file.write_text(text.replace(before, after), encoding="utf-8")


def test_a_commit_on_which_all_agree_can_be_released(root: Path) -> None:
    """This very version, once its changelog section is dated."""
    assert RELEASE["troubles"](f"release-{__version__}", root) == []
    assert RELEASE["notes"](__version__, root) == "### Added\n\n- Everything."


@pytest.mark.parametrize(
    ("file", "before", "after", "told"),
    [
        ("action_src/gradegate/__init__.py", __version__, "9.9.9", "__init__.py says 9.9.9"),
        ("Dockerfile", f"ARG VERSION={__version__}", "ARG VERSION=9.9.9", "Dockerfile's ARG"),
        ("CHANGELOG.md", " - 2026-01-31", "", "CHANGELOG.md has no dated section"),
        ("CHANGELOG.md", "### Added\n\n- Everything.\n", "", "CHANGELOG.md has no dated section"),
        ("README.md", "# gradegate\n", "Nothing is released yet: wait.\n", "delete that line"),
        ("action.yml", "image: Dockerfile", f"image: docker://{FULL}", "does not build"),
    ],
)
def test_one_that_disagrees_is_named(
    root: Path, file: str, before: str, after: str, told: str
) -> None:
    """And nothing is released."""
    change(root / file, before, after)
    (found,) = RELEASE["troubles"](f"release-{__version__}", root)
    assert told in found


@pytest.mark.parametrize("tag", ["v1.2.3", "release-1.2", "release-1.2.3-rc1", "release-1.2.3x"])
def test_other_tags_are_no_releases(root: Path, tag: str) -> None:
    """They start nothing, and would be refused if they did."""
    (found,) = RELEASE["troubles"](tag, root)
    assert "release-1.2.3" in found


def test_the_workflow_starts_on_the_tags_that_the_check_takes() -> None:
    """GitHub's pattern and ours are one."""
    text = (ROOT / ".github/workflows/release.yml").read_text(encoding="utf-8")
    (pattern,) = re.findall(r'tags: \["(.*)"\]', text)
    assert pattern == re.sub(r"[()\\]", "", RELEASE["TAG"].pattern)


def test_on_main_the_dockerfile_is_built_and_the_changelog_is_open_or_dated() -> None:
    """Nothing of a release is committed to main."""
    assert "  image: Dockerfile\n" in (ROOT / "action.yml").read_text(encoding="utf-8")
    assert not (ROOT / "slim").exists()
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    (newest, *_) = re.findall(r"(?m)^## \[(.*?)\]", changelog)
    assert newest in ("Unreleased", __version__)
    dockerfile = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    assert f"ARG VERSION={__version__}\n" in dockerfile


def test_the_release_commit_differs_in_its_image_alone(root: Path) -> None:
    """Two actions, one for each size, by digest."""
    before = (root / "action.yml").read_text(encoding="utf-8")
    dockerfile = (root / "Dockerfile").read_text(encoding="utf-8")
    RELEASE["pin"](FULL, SLIM, BASE, root)
    for file, image in (("action.yml", FULL), ("slim/action.yml", SLIM)):
        text = (root / file).read_text(encoding="utf-8")
        assert text == before.replace("image: Dockerfile", f"image: docker://{image}")
    released = (root / "Dockerfile").read_text(encoding="utf-8")
    assert released == dockerfile.replace(f"ARG BASE={TAG}\n", f"ARG BASE={BASE}\n")


@pytest.mark.parametrize("image", ["ghcr.io/a/b:1.2.3", "ghcr.io/a/b@sha256:12", "Dockerfile"])
def test_only_a_digest_is_pinned(root: Path, image: str) -> None:
    """A tag can be moved."""
    with pytest.raises(SystemExit, match="digest"):
        RELEASE["pin"](FULL, image, BASE, root)
    with pytest.raises(SystemExit, match="digest"):
        RELEASE["pin"](FULL, SLIM, image, root)
    assert "image: Dockerfile" in (root / "action.yml").read_text(encoding="utf-8")


def test_uv_is_installed_by_hash_wherever_it_comes_first() -> None:
    """It installs everything else, by hash as well."""
    for name in ("Dockerfile", "Makefile"):
        text = (ROOT / name).read_text(encoding="utf-8")
        assert not re.search(r"install.*\buv==", text), name
        assert re.search(r"pip install .*--require-hashes -r \S*(uv\.lock|UV_LOCK)", text), name
    (wanted,) = (ROOT / "requirements/uv.in").read_text(encoding="utf-8").split()
    lock = (ROOT / "requirements/uv.lock").read_text(encoding="utf-8")
    (pinned,) = re.findall(r"(?m)^(uv==\S+) \\$", lock)
    assert pinned == wanted
    assert "--hash=sha256:" in lock


def test_what_a_workflow_runs_is_there() -> None:
    """A test or a script that was moved would stop a release half-way."""
    for workflow in (ROOT / ".github/workflows").glob("*.yml"):
        text = workflow.read_text(encoding="utf-8")
        for named in re.findall(r"(?<![\w./-])((?:tests|\.ci|benchmarks)/[\w./-]+)", text):
            assert (ROOT / named).exists(), (workflow.name, named)


def test_the_readme_switches_by_one_line() -> None:
    """What it says of a release is true once that line is gone."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    lines = [line for line in readme.splitlines() if RELEASE["UNRELEASED"] in line]
    assert len(lines) <= 1
    assert all(line.startswith(RELEASE["UNRELEASED"]) for line in lines)
    assert "$ pip install gradegate\n" in readme


def test_the_tests_that_the_release_runs_in_the_image_are_there() -> None:
    """A path that was moved would end a release half way."""
    text = (ROOT / ".github/workflows/release.yml").read_text(encoding="utf-8")
    named = re.findall(r"tests/[\w/.*-]+", text)
    assert named
    assert [path for path in named if not list(ROOT.glob(path))] == []


def test_the_images_tags_are_those_that_the_docs_name() -> None:
    """`FROM ghcr.io/gradegate/gradegate:1` must be there."""
    docs = (ROOT / "docs/container.md").read_text(encoding="utf-8")
    assert set(re.findall(r"ghcr\.io/gradegate/gradegate:([\w.-]+)", docs)) == {"1"}
    text = (ROOT / ".github/workflows/release.yml").read_text(encoding="utf-8")
    assert "$name:${version%%.*}$suffix" in text
