#!/usr/bin/env python3
"""What a release must agree on, and the one line that differs on its commit.

- `python .ci/release.py check release-1.2.3`: version, changelog and action.yml fit this tag
- `python .ci/release.py notes 1.2.3`: what the changelog says of a version
- `python .ci/release.py base`: the image that the Dockerfile builds on
- `python .ci/release.py pin IMAGE@sha256:… IMAGE@sha256:… BASE@sha256:…`: action.yml runs the first
  image instead of building one, slim/action.yml the second, and the Dockerfile builds on the third
"""

import re
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
TAG = re.compile(r"release-([0-9]+\.[0-9]+\.[0-9]+)")
BUILT = "  image: Dockerfile"
UNRELEASED = "Nothing is released yet"
"""How the line of README.md begins that goes with the first release."""
_VERSION = re.compile(r'^__version__ = "([^"]+)"$', re.MULTILINE)
_DOCKERFILE_VERSION = re.compile(r"^ARG VERSION=(\S+)$", re.MULTILINE)
_BASE = re.compile(r"^ARG BASE=(\S+)$", re.MULTILINE)
_IMAGE = re.compile(r"[a-z0-9./_:-]+@sha256:[0-9a-f]{64}")


def version(root: Path = ROOT) -> str:
    """The version that the package says it has."""
    return _one(_VERSION, root / "action_src/gradegate/__init__.py")


def base(root: Path = ROOT) -> str:
    """The image that the Dockerfile builds on, by its tag."""
    return _one(_BASE, root / "Dockerfile")


def troubles(tag: str, root: Path = ROOT) -> list[str]:
    """What does not fit this tag; nothing where all is well."""
    match = TAG.fullmatch(tag)
    if match is None:
        return [f"the tag is {tag!r}: a release begins with one like release-1.2.3"]
    wanted = match[1]
    found = []
    if version(root) != wanted:
        found.append(f"action_src/gradegate/__init__.py says {version(root)}, the tag {wanted}")
    labelled = _one(_DOCKERFILE_VERSION, root / "Dockerfile")
    if labelled != wanted:
        found.append(f"Dockerfile's ARG VERSION says {labelled}, the tag {wanted}")
    if not notes(wanted, root):
        found.append(f"CHANGELOG.md has no dated section for {wanted} with something in it")
    if UNRELEASED in (root / "README.md").read_text(encoding="utf-8"):
        found.append("README.md still says that nothing is released: delete that line")
    if BUILT not in (root / "action.yml").read_text(encoding="utf-8").splitlines():
        found.append("action.yml does not build the Dockerfile: the commit to release is main's")
    return found


def notes(wanted: str, root: Path = ROOT) -> str:
    """The changelog's section for a version, without its heading; empty where there is none."""
    text = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    heading = rf"^## \[{re.escape(wanted)}\] - \d{{4}}-\d\d-\d\d\n"
    match = re.search(rf"{heading}(.*?)(?=^## |^\[|\Z)", text, re.MULTILINE | re.DOTALL)
    return match[1].strip() if match else ""


def pinned(action: str, image: str) -> str:
    """action.yml with the image it is to run."""
    _refuse_movable(image)
    lines = action.splitlines(keepends=True)
    if lines.count(f"{BUILT}\n") != 1:
        raise SystemExit(f"action.yml has not the one line {BUILT!r}")
    return "".join(lines).replace(f"{BUILT}\n", f"  image: docker://{image}\n")


def _refuse_movable(image: str) -> None:
    if not _IMAGE.fullmatch(image):
        raise SystemExit(f"{image!r} is no image with a digest: write NAME@sha256:…")


def pin(full: str, slim: str, built_on: str, root: Path = ROOT) -> None:
    """Have two actions that differ in nothing but their image, `.` and `slim`, and their base."""
    tag = base(root)
    _refuse_movable(built_on)
    if built_on.partition("@")[0] != tag:
        raise SystemExit(f"{built_on!r} is no digest of {tag}, which the Dockerfile builds on")
    action = (root / "action.yml").read_text(encoding="utf-8")
    both = pinned(action, full), pinned(action, slim)
    dockerfile = root / "Dockerfile"
    text = dockerfile.read_text(encoding="utf-8").replace(f"BASE={tag}\n", f"BASE={built_on}\n")
    dockerfile.write_text(text, encoding="utf-8")
    (root / "slim").mkdir()
    for file, text in zip((root / "action.yml", root / "slim" / "action.yml"), both, strict=True):
        file.write_text(text, encoding="utf-8")


def _one(pattern: re.Pattern[str], file: Path) -> str:
    (found,) = pattern.findall(file.read_text(encoding="utf-8"))
    return str(found)


def main(arguments: Sequence[str]) -> int:
    """Run one of the commands."""
    match arguments:
        case ["check", tag]:
            found = troubles(tag)
            sys.stderr.writelines(f"{line}\n" for line in found)
            return 1 if found else 0
        case ["notes", wanted]:
            sys.stdout.write(f"{notes(wanted)}\n")
            return 0
        case ["base"]:
            sys.stdout.write(f"{base()}\n")
            return 0
        case ["pin", full, slim, built_on]:
            pin(full, slim, built_on)
            return 0
    sys.stderr.write(str(__doc__))
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
