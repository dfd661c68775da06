"""The page's script: its modules as one, so that the page is a single file.

The sources are ordinary ES modules, which node and editors read as they are. Joined, each stands
after those it imports from; the imports and the word `export` go, so no two may declare one name.
"""

import re
from functools import cache
from pathlib import Path

from gradegate.locales import templates_dir

MAIN = "main.js"
_IMPORT = re.compile(r'^import \{[^}]*\} from "\./([\w-]+\.js)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=async function|function|const|class)", re.MULTILINE)
_LEFT = re.compile(r"^(?:import|export)\b.*", re.MULTILINE)


@cache
def script() -> str:
    """All modules that `main.js` leads to."""
    folder = templates_dir() / "page"
    return "".join(_without_joints(folder / name) for name in _in_order(folder, MAIN, []))


def _in_order(folder: Path, name: str, found: list[str]) -> list[str]:
    """The module and what it needs, the needed first; one on the way already comes once."""
    for needed in _IMPORT.findall((folder / name).read_text(encoding="utf-8")):
        if needed not in found:
            _in_order(folder, needed, found)
    if name not in found:
        found.append(name)
    return found


def _without_joints(path: Path) -> str:
    text = _EXPORT.sub("", _IMPORT.sub("", path.read_text(encoding="utf-8")))
    left = _LEFT.search(text)
    if left is not None:
        message = f"{path.name}: write `import {{ … }} from` or `export` before a name: {left[0]}"
        raise AssertionError(message)
    return text
