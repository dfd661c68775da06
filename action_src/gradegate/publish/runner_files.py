"""What the runner reads from us: output and summary files, and commands in the log."""

import re
import secrets
from collections.abc import Iterable, Mapping
from pathlib import Path

SUMMARY_LIMIT = 1024 * 1024

_OUTPUT_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_LINE_ENDS = re.compile("\r\n|[\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029]")
_CONTROLS = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f]")

# The runner may compare as a language does, which overlooks invisible characters:
# only visible ASCII is sure to keep two signs apart.
_COMMAND = re.compile(r"^([^!-~\n]*:[^!-~\n]*):", re.MULTILINE)
_OLD_COMMAND = re.compile(r"(#[^!-~\n]*#[^!-~\n]*)\[")


def write_outputs(path: Path, outputs: Mapping[str, str]) -> None:
    """Append the step's outputs to the file that GITHUB_OUTPUT names."""
    entries = [
        output_entry(name, value, f"gradegate_{secrets.token_hex(16)}")
        for name, value in outputs.items()
    ]
    _append(path, "".join(entries))


def output_entry(name: str, value: str, delimiter: str) -> str:
    """One output as the runner reads it; nothing in the value can end it early."""
    if not _OUTPUT_NAME.fullmatch(name):
        raise ValueError(f"{name!r} is no name for an output")
    if delimiter in value:
        raise ValueError(f"the output {name!r} contains its own delimiter")
    return f"{name}<<{delimiter}\n{value}\n{delimiter}\n"


def append_summary(path: Path, markdown: str) -> None:
    """Append to the file that GITHUB_STEP_SUMMARY names; the caller keeps it below 1 MiB."""
    present = path.stat().st_size if path.exists() else 0
    size = present + len(markdown.encode(errors="backslashreplace"))
    if size >= SUMMARY_LIMIT:
        raise ValueError(f"a summary of {size} bytes: GitHub drops it from {SUMMARY_LIMIT} on")
    _append(path, markdown)


def mask(secret_values: Iterable[str]) -> list[str]:
    """The log lines that make the runner hide these values from here on."""
    return [f"::add-mask::{_escape(value)}" for value in secret_values if value.strip()]


def neutralise(text: str) -> str:
    """Untrusted text for the log: no line of it can be read as a workflow command."""
    one_kind_of_line = _CONTROLS.sub("\ufffd", _LINE_ENDS.sub("\n", text))
    printable = one_kind_of_line.encode(errors="backslashreplace").decode()
    return _OLD_COMMAND.sub(r"\1 [", _COMMAND.sub(r"\1 :", printable))


def _escape(value: str) -> str:
    return value.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _append(path: Path, text: str) -> None:
    with path.open("a", encoding="utf-8", errors="backslashreplace", newline="") as file:
        file.write(text)
