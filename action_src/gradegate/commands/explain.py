"""Commands that tell: check, criteria, schema."""

import json
import sys
from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path

from pydantic import BaseModel

from gradegate.criteria import registry
from gradegate.evalsets.explain import nearest
from gradegate.evalsets.lint import check as lint
from gradegate.model.errors import InputError
from gradegate.model.report import Report
from gradegate.model.result import Results
from gradegate.model.settings import Settings
from gradegate.model.trace import Traces

SCHEMAS: dict[str, type[BaseModel]] = {
    "results": Results,
    "report": Report,
    "traces": Traces,
    "settings": Settings,
}


def check(options: Namespace, environ: Mapping[str, str]) -> int:
    """Print a line a finding; 2 where any is an error."""
    del environ
    root = Path.cwd()
    findings = lint(root, [_within(root, path) for path in options.paths])
    for finding in findings:
        sys.stdout.write(f"{finding}\n")
    if not findings:
        sys.stderr.write("nothing to complain about\n")
    return 2 if any(finding.level == "error" for finding in findings) else 0


def _within(root: Path, path: str) -> str:
    place = Path(path)
    if not place.is_absolute():
        return path
    try:
        return place.relative_to(root).as_posix()
    except ValueError:
        raise InputError(f"{path} is not below {root}: run the check from its repository") from None


def criteria(options: Namespace, environ: Mapping[str, str]) -> int:
    """List all criteria, or explain one with a config to copy."""
    del environ
    if options.name is None:
        width = max(len(name) for name in registry.known())
        for name in registry.known():
            sys.stdout.write(f"{name:<{width}}  {_line(name)}\n")
        return 0
    if options.name not in registry.known():
        hint = nearest(options.name, registry.known())
        raise InputError(f"unknown criterion `{options.name}`: {hint}")
    sys.stdout.write(_explained(options.name))
    return 0


def _line(name: str) -> str:
    cls = registry.criterion_class(name)
    if cls is None:
        return "reported beside the scores, never gated by a threshold"
    needs = [need for need, wanted in cls.needs._asdict().items() if wanted]
    return f"{cls.summary} · needs {', '.join(needs)}" if needs else cls.summary


def _explained(name: str) -> str:
    cls = registry.criterion_class(name)
    if cls is None:
        return f"{name}\n  {_line(name)}\n"
    low, high = cls.range
    entry = getattr(cls, "example", None) or {"threshold": 0.8}
    example = json.dumps({"criteria": {name: entry}}, indent=2, ensure_ascii=False)
    return (
        f"{name}\n  {_line(name)}\n  from {low:g} to {high:g}, higher is better\n\n"
        f"In test_config.json, beside the eval set:\n\n{example}\n"
    )


def schema(options: Namespace, environ: Mapping[str, str]) -> int:
    """Print a JSON Schema, made from the very models that read the files."""
    del environ
    if options.name not in SCHEMAS:
        raise InputError(f"no schema `{options.name}`: {nearest(options.name, SCHEMAS)}")
    made = SCHEMAS[options.name].model_json_schema(by_alias=True)
    text = json.dumps({"$schema": "https://json-schema.org/draft/2020-12/schema", **made}, indent=2)
    sys.stdout.write(f"{text}\n")
    return 0
