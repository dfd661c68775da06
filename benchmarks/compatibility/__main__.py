"""Check, discover and run each layout with each google-adk, and see the planted regression found.

    python -m benchmarks.compatibility [--layout NAME] [--version VERSION] [--write]

Every google-adk has an environment of its own, below build/compatibility, and runs the agents of
all layouts. `--write` puts the table into docs/compatibility.md. Exits 1 where a cell is not right.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.compatibility.layouts import Layout, layouts
from benchmarks.compatibility.model import answer
from tests.standins.gemini import GeminiStandin

TOP = Path(__file__).parents[2]
GRADEGATE = Path(sys.executable).with_name("gradegate")
UV = Path(sys.executable).with_name("uv")
VERSIONS = ("0.5.0", "1.0.0", "1.18.0", "2.0.0", "2.7.1", "2.13.0")
UNDECLARED = {"0.5.0": ("deprecated",), "1.0.0": ("deprecated",)}
"""What a version imports and does not ask for."""
PAGE = TOP / "docs" / "compatibility.md"
BEGIN, END = "<!-- table -->", "<!-- end of the table -->"
RIGHT = "✓"


def environment(version: str) -> Path:
    """The interpreter that has this google-adk."""
    place = TOP / "build" / "compatibility" / version
    if not (place / ".ready").exists():
        call = [str(UV), "--quiet"]
        subprocess.run([*call, "venv", "--clear", "--python", sys.executable, place], check=True)
        needs = [f"google-adk=={version}", *UNDECLARED.get(version, ())]
        into = ["pip", "install", "--python", str(place / "bin" / "python")]
        subprocess.run([*call, *into, *needs], check=True)
        (place / ".ready").touch()
    return place / "bin" / "python"


def repository(place: Path, layout: Layout) -> Path:
    """The project with its base on `main`, and its pull request."""
    git = ["git", "-C", str(place), "-c", "user.name=a", "-c", "user.email=a@example.com"]

    def commit(files: Mapping[str, str], message: str) -> None:
        for name, text in files.items():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            (place / name).write_text(text, encoding="utf-8")
        subprocess.run([*git, "add", "-A"], check=True)
        subprocess.run([*git, "commit", "-qm", message], check=True)

    place.mkdir()
    subprocess.run([*git, "init", "-q", "-b", "main"], check=True)
    commit(layout.files, "base")
    subprocess.run([*git, "switch", "-qc", "change"], check=True)
    commit(layout.changed, "change")
    return place


def cell(layout: Layout, python: Path, environ: Mapping[str, str]) -> str:
    """`RIGHT`, or what is wrong."""
    with tempfile.TemporaryDirectory(prefix="gradegate-compatibility-") as folder:
        repo = repository(Path(folder) / "repo", layout)
        store = ["--store", str(Path(folder) / "store.sqlite")]
        chosen = ["--agent-python", str(python), *store]
        checked = gradegate(repo, environ, "check")
        if checked.returncode:
            return f"check: {checked.stdout}"
        planned = gradegate(repo, environ, "run", "--dry-run", "--json", *chosen)
        if planned.returncode:
            return f"dry run: {planned.stderr}"
        found = {suite["name"] for suite in json.loads(planned.stdout)["suites"]}
        if found != layout.suites:
            return f"found {sorted(found)}"
        out = Path(folder) / "out"
        done = gradegate(repo, environ, "run", "--out", str(out), *chosen)
        if done.returncode != 1:
            return f"exit code {done.returncode}: {done.stdout[-2000:]}{done.stderr[-2000:]}"
        return blamed(layout, json.loads((out / "report.json").read_text(encoding="utf-8")))


def blamed(layout: Layout, report: Mapping[str, Any]) -> str:
    """Whether the right suite and criterion are blamed, and no other suite."""
    reasons = [one for one in report["decision"]["reasons"] if one["kind"] == "regression"]
    named = {(case["suite"], case["eval_set"]) for case in report["cases"]}
    suites = {suite for suite, sets in named for one in reasons if one.get("eval_set") == sets}
    criteria = {one.get("criterion") for one in reasons}
    suite, criterion = layout.regressed
    if suites != {suite} or criterion not in criteria:
        return f"blamed {sorted(suites)} for {sorted(map(str, criteria))}"
    return RIGHT


def gradegate(
    repo: Path, environ: Mapping[str, str], *arguments: str
) -> "subprocess.CompletedProcess[str]":
    """The installed command, in the repository."""
    return subprocess.run(
        [str(GRADEGATE), *arguments],
        cwd=repo,
        env=dict(environ),
        capture_output=True,
        text=True,
        check=False,
    )


def table(cells: Mapping[tuple[str, str], str], names: Sequence[str]) -> Iterator[str]:
    """In Markdown."""
    versions = list(dict.fromkeys(version for _, version in cells))
    yield "| layout | " + " | ".join(versions) + " |"
    yield "| --- |" + " :-: |" * len(versions)
    for name in names:
        marks = (RIGHT if cells[name, version] == RIGHT else "✗" for version in versions)
        yield f"| {name} | " + " | ".join(marks) + " |"


def main() -> int:
    """Fill the table."""
    parser = argparse.ArgumentParser(prog="benchmarks.compatibility", description=__doc__)
    parser.add_argument("--layout", help="only layouts that begin like this")
    parser.add_argument("--version", choices=VERSIONS, help="only this google-adk")
    parser.add_argument("--write", action="store_true", help="put it into docs/compatibility.md")
    options = parser.parse_args()
    chosen = [one for one in layouts() if one.name.startswith(options.layout or "")]
    cells: dict[tuple[str, str], str] = {}
    with GeminiStandin(answer) as model:
        environ = {**os.environ, **model.environ}
        for version in [options.version] if options.version else VERSIONS:
            python = environment(version)
            for layout in chosen:
                outcome = cell(layout, python, environ)
                cells[layout.name, version] = outcome
                sys.stdout.write(f"{version} {layout.name}: {outcome}\n")
                sys.stdout.flush()
    made = "\n".join(table(cells, [one.name for one in chosen]))
    sys.stdout.write(f"\n{made}\n")
    if options.write:
        before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
        after = rest.partition(END)[2]
        PAGE.write_text(f"{before}{BEGIN}\n{made}\n{END}{after}", encoding="utf-8")
    return int(any(outcome != RIGHT for outcome in cells.values()))


if __name__ == "__main__":
    sys.exit(main())
