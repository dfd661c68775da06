"""Starting is quick, because what is heavy is imported where it is used."""

import subprocess
import sys

HEAVY = (
    "google.cloud",
    "google.genai",
    "github",
    "rouge_score",
    "scipy",
    "agentplatform",
    "pandas",
)
SCRIPT = f"""
import sys
before = set(sys.modules)  # an installed SDK may register its empty namespace by a .pth file
import gradegate.cli
new = set(sys.modules) - before
print(sorted(name for name in new if name.startswith({HEAVY!r})))
"""


def test_the_command_line_imports_nothing_heavy() -> None:
    """Neither SDKs nor science, until a command needs them."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
