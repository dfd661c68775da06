"""Git LFS and other filters: no program of the machine is started for what a commit names."""

import hashlib
import subprocess
from pathlib import Path

import pytest

from gradegate.sides.git import Repo
from tests.project import Project

CONTENT = b"large and binary \x00\xff" * 100
OID = hashlib.sha256(CONTENT).hexdigest()
POINTER = f"version https://git-lfs.github.com/spec/v1\noid sha256:{OID}\nsize {len(CONTENT)}\n"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A repository with two pointers, whose machine has git-lfs and another filter."""
    made = Project.create(tmp_path / "repo")
    made.put(".gitattributes", "*.bin filter=lfs\n*.txt filter=secret.of=mine\n")
    made.put(".lfsconfig", "[lfs]\n\turl = http://127.0.0.1:9/of-the-pull-request\n")
    for name in ("a/model.bin", "b.bin"):
        made.put(name, POINTER)
    made.put("notes.txt", "encrypted\n")
    made.put("short.bin", "version https://git-lfs.github.com/spec/v1\n")
    made.commit()
    ran = f"sh -c 'env >> {tmp_path}/ran; cat' --"
    for driver in ("lfs", "secret.of=mine"):
        made.git("config", f"filter.{driver}.smudge", ran)
        made.git("config", f"filter.{driver}.process", ran)
        made.git("config", f"filter.{driver}.required", "true")
    return made


def export(project: Project, into: Path) -> list[str]:
    """Export the last commit; the warnings."""
    environ = {**project.environ, "HOME": str(project.root.parent)}
    return [one.text for one in Repo.open(project.root, environ).export("HEAD", into)]


def keep(project: Project, content: bytes) -> Path:
    """Have an object where git-lfs keeps what it fetched."""
    place = project.root / ".git" / "lfs" / "objects" / OID[:2] / OID[2:4] / OID
    place.parent.mkdir(parents=True)
    place.write_bytes(content)
    return place


@pytest.mark.trust
def test_a_pull_request_starts_no_filter_of_the_machine(project: Project, tmp_path: Path) -> None:
    """`.gitattributes` has git run git-lfs, or decrypt what its owner may read, on any file."""
    (warning,) = export(project, tmp_path / "out")
    assert not (tmp_path / "ran").exists()
    assert (tmp_path / "out" / "notes.txt").read_text() == "encrypted\n"
    assert (tmp_path / "out" / "b.bin").read_text() == POINTER
    assert "2 of the files that Git LFS keeps (a/model.bin) are not here" in warning
    assert "`lfs: true`" in warning


def test_without_our_settings_it_would(project: Project, tmp_path: Path) -> None:
    """The control: git itself runs them on a checkout of the same commit."""
    (project.root / "notes.txt").unlink()
    subprocess.run(["git", "checkout", "notes.txt"], cwd=project.root, check=False)
    assert (tmp_path / "ran").exists()


def test_what_was_fetched_is_put_in_place(project: Project, tmp_path: Path) -> None:
    """As actions/checkout with `lfs: true` leaves it; a file that only begins like one stays."""
    keep(project, CONTENT)
    assert export(project, tmp_path / "out") == []
    for name in ("a/model.bin", "b.bin"):
        assert (tmp_path / "out" / name).read_bytes() == CONTENT
    assert (tmp_path / "out" / "short.bin").stat().st_size == 43


@pytest.mark.trust
def test_an_object_is_believed_by_its_digest_alone(project: Project, tmp_path: Path) -> None:
    """Neither other bytes under its name nor a link to a file of the machine are handed out."""
    place = keep(project, b"something else")
    assert len(export(project, tmp_path / "one")) == 1
    (tmp_path / "secret").write_bytes(CONTENT)
    place.unlink()
    place.symlink_to(tmp_path / "secret")
    assert len(export(project, tmp_path / "two")) == 1
    for name in ("one", "two"):
        assert (tmp_path / name / "b.bin").read_text() == POINTER
