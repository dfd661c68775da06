"""What an agent's process may see of our environment."""

import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from gradegate.model.errors import InputError

_ALWAYS = ("PATH", "LANG", "LC_ALL")
_NEVER = ("GITHUB_", "ACTIONS_", "RUNNER_", "INPUT_")
_USUAL_PATH = "/usr/local/bin:/usr/bin:/bin"


def agent_environment(
    environ: Mapping[str, str],
    names: Sequence[str],
    home: Path,
    command: Sequence[str] = (),
) -> dict[str, str]:
    """PATH, the language, the variables a suite names, and a home of the agent's own.

    Args:
        environ: our own environment.
        names: the suite's `env`; those that are not set are left out.
        home: an existing folder that the agent may write to.
        command: what will be started; a plain `python` is found even where PATH has none.

    Raises:
        InputError: a name would hand the agent GitHub's tokens or files.
    """
    for name in names:
        if name.upper().startswith(_NEVER):
            raise InputError(
                f"`env` must not name {name}: the agent runs the pull request's code, and names "
                f"that begin with {', '.join(_NEVER)} lead to the job's tokens and files; "
                "give the agent a variable under another name"
            )
    seen = {name: environ[name] for name in (*_ALWAYS, *names) if name in environ}
    path = seen.get("PATH") or _USUAL_PATH
    return {**seen, "PATH": _with_python(path, command), "HOME": str(home), "TMPDIR": str(home)}


def _with_python(path: str, command: Sequence[str]) -> str:
    wanted = command[0] if command else ""
    if wanted not in ("python", "python3") or shutil.which(wanted, path=path):
        return path
    return f"{path}:{Path(sys.executable).parent}"
