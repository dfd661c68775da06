"""Which values of an environment are secret: by the variable's name, or by what they look like.

Of a credential of many lines those count that tell something: a private key's, a password's. Its
ordinary lines, such as `"type": "service_account"`, stand in many a text that is no secret.
"""

import base64
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from gradegate.model.masking import SHORTEST, SecretMasker

_TELLING = re.compile(
    r"KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL|AUTHORIZATION|PRIVATE|[_-]PAT$",
    re.IGNORECASE,
)
_KNOWN = re.compile(
    r"gh[opsru]_\w{16}|github_pat_\w{16}|glpat-[\w-]{16}|AIza[\w-]{16}|ya29\.[\w-]{16}"
    r"|sk-[\w-]{16}|xox[a-z]-[\w-]{10}|AKIA[A-Z0-9]{16}|eyJ[\w-]{10,}\.[\w-]+\."
    r'|-----BEGIN [A-Z ]*PRIVATE KEY|"private_key"'
)
"""How the keys of widespread services begin."""
_PASSWORD_IN_URL = re.compile(r"\w+://[^/\s:@]*:([^/\s@]+)@")
_PEM = re.compile(r"-----BEGIN ([A-Z0-9 ]+)-----(.*?)(?:-----END \1-----|\Z)", re.DOTALL)
_ASSIGNMENT = re.compile(r"""[\s"'-]*(?:export\s+)?([A-Za-z_][\w.-]*)["']?\s*[:=]\s*(\S.*)""")
_CONFIGURATION = re.compile(r"""[\s"'{}\[\],]""")
_URL = re.compile(r"\w+://")
_HEXADECIMAL = re.compile(r"[0-9a-fA-F]{32,}")
_LONG = 16
_MIXED = 20
_LARGEST_FILE = 64 * 1024


def known_secrets(environ: Mapping[str, str]) -> SecretMasker:
    """The secrets in an environment, and in the files that it names as holding some."""
    return SecretMasker(
        part for name, value in environ.items() for part in _of_variable(name, value)
    )


def dotenv_secrets(folders: Iterable[Path]) -> Iterator[str]:
    """The secrets in the folders' `.env`, which agents read for themselves."""
    for folder in folders:
        for line in _read(folder / ".env").splitlines():
            if assigned := _ASSIGNMENT.fullmatch(line):
                yield from _of_variable(assigned[1], assigned[2].strip("\"' "), files=False)


def _of_variable(name: str, value: str, *, files: bool = True) -> Iterator[str]:
    for found in _PASSWORD_IN_URL.finditer(value):
        yield found[1]
        yield unquote(found[1])
    if value.startswith("/"):
        if files and _TELLING.search(name):
            yield from _parts(_read(Path(value)))
        return
    decoded = _decoded(value)
    if _TELLING.search(name) or _KNOWN.search(value) or _KNOWN.search(decoded):
        yield from (value, *_parts(value), *_parts(decoded))


def _read(file: Path) -> str:
    with suppress(OSError, ValueError):
        if file.is_file() and file.stat().st_size <= _LARGEST_FILE:
            return file.read_text(encoding="utf-8", errors="replace")
    return ""


def _decoded(value: str) -> str:
    """What is in a value that is base64 of a text, as files often are; else nothing."""
    with suppress(ValueError):
        return base64.b64decode("".join(value.split()), validate=True).decode()
    return ""


def _parts(value: str) -> Iterator[str]:
    """What is secret on its own in a value of many lines or fields."""
    if value.lstrip().startswith(("{", "[")):
        with suppress(ValueError, RecursionError):
            yield from _of_json("", json.loads(value))
            return
    lines = value.replace("\\n", "\n")  # as a key is often written on one line
    for block in _PEM.finditer(lines):
        yield from (line.strip() for line in block[2].splitlines())
    rest = _PEM.sub("", lines).splitlines()
    if len(rest) > 1:
        for line in rest:
            yield from _of_line(line)


def _of_json(name: str, value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, one in value.items():
            yield from _of_json(key, one)
    elif isinstance(value, list):
        for one in value:
            yield from _of_json(name, one)
    elif isinstance(value, str):
        yield from _named(name, value)


def _of_line(line: str) -> Iterator[str]:
    assigned = _ASSIGNMENT.fullmatch(line)
    if assigned and assigned[2].strip("="):  # else it is base64, filled up to its length
        yield from _named(assigned[1], assigned[2].strip("\"', "))
    elif len(line.strip()) >= _LONG and not _CONFIGURATION.search(line.strip()):
        yield line
    else:
        yield from filter(_looks_secret, line.split())


def _named(name: str, value: str) -> Iterator[str]:
    """A value that is secret by its name or its looks; a key's lines are secrets each."""
    if _PEM.search(value):
        yield value
        yield from _parts(value)
    elif _looks_secret(value) or (_TELLING.search(name) and _could_be_secret(value)):
        yield value


def _could_be_secret(value: str) -> bool:
    return len(value) >= SHORTEST and not _URL.match(value) and " " not in value


def _looks_secret(value: str) -> bool:
    """Long, and of capitals, small letters and digits, or like the keys that are known."""
    if not _could_be_secret(value):
        return False
    kinds = [any(map(test, value)) for test in (str.isupper, str.islower, str.isdigit)]
    return bool(
        (len(value) >= _MIXED and all(kinds))
        or _HEXADECIMAL.fullmatch(value)
        or _KNOWN.match(value)
    )
