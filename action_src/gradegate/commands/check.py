"""`gradegate check`: everything wrong with eval sets, configs and settings, at once."""

import os
import sys
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from gradegate import locales
from gradegate.evalsets.lint import check as lint
from gradegate.evalsets.lint import without_agents
from gradegate.files.settings_toml import SETTINGS_FILE
from gradegate.model.errors import InputError
from gradegate.report.escape import terminal
from gradegate.sides.git import Repo

NO_CONFIG = "no config: google-adk's defaults apply"


def add_arguments(parser: ArgumentParser) -> None:
    """What `check` takes."""
    parser.add_argument("paths", nargs="*", metavar="PATH", help="files or folders (default: all)")


def check(options: Namespace, environ: Mapping[str, str]) -> int:
    """Print a line a finding, its file as seen from here; 2 where any is an error."""
    root = _project(Path.cwd(), environ)
    checked = lint(root, [_within(root, path) for path in options.paths], environ)
    levels: Counter[str] = Counter(finding.level for finding in checked.findings)
    more = () if options.paths or levels["error"] else tuple(without_agents(root))
    levels.update(finding.level for finding in more)
    for finding in (*checked.findings, *more):
        here = os.path.relpath(root / finding.path)
        sys.stdout.write(terminal(f"{replace(finding, path=here)}\n"))
    for line in _configs(checked.configs):
        sys.stderr.write(terminal(f"{line}\n"))
    sys.stderr.write(f"{_counted(checked.files, levels)}\n")
    return 2 if levels["error"] else 0


def _project(here: Path, environ: Mapping[str, str]) -> Path:
    """The nearest folder with settings, up to the repository's top; the top where none has any."""
    try:
        top = Repo.open(here, environ).top
    except InputError:
        return here
    for folder in (here, *here.parents):
        if folder == top or (folder / SETTINGS_FILE).is_file():
            return folder
    return top


def _configs(configs: Mapping[str, str | None]) -> Iterator[str]:
    """Which config the eval sets go by."""
    for config, number in sorted(Counter(configs.values()).items(), key=lambda c: c[0] or ""):
        sets = locales.some(number, "eval set")
        yield f"{sets} with {config or NO_CONFIG}"


def _counted(files: int, levels: Mapping[str, int]) -> str:
    if not files:
        return (
            "nothing to check: no eval sets (*.evalset.json, *.test.json), test_config.json, "
            "traces or gradegate.toml"
        )
    found = [
        locales.some(levels[level], level) for level in ("error", "warning") if levels.get(level)
    ]
    told = " and ".join(found) or "nothing to complain about"
    return f"{locales.some(files, 'file')} checked: {told}"


def _within(root: Path, path: str) -> str:
    """The path as seen from `root`, as the linter names files."""
    place = Path(os.path.normpath(Path.cwd() / path))
    if not place.exists():
        raise InputError(f"{path} does not exist: name a file or a folder to check")
    try:
        return place.relative_to(root).as_posix()
    except ValueError:
        raise InputError(f"{path} is not below {root}: run the check from its repository") from None
