"""`gradegate criteria` and `gradegate schema`: reference texts."""

import json
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from gradegate.criteria import registry
from gradegate.criteria.efficiency import METRICS
from gradegate.files.schema_errors import nearest
from gradegate.model.errors import InputError
from gradegate.model.report import Report
from gradegate.model.result import Results
from gradegate.model.runs import Traces
from gradegate.model.settings import Settings

CUSTOM = "custom_metrics"
NEEDS = {
    "reference": "a reference",
    "rubrics": "rubrics",
    "judge": "a judge",
    "vertex": "Vertex AI",
    "scenario": "a simulated user",
}
VERTEX_TOLD = """
Set GOOGLE_CLOUD_PROJECT and GOOGLE_CLOUD_LOCATION under the step's `env:` (or in the `.env` of the
agent's folder), with credentials for them such as google-github-actions/auth leaves behind.
"""
BUDGET_TOLD = """
It needs no config and takes no threshold. To have it block a merge, write in gradegate.toml one of

[gate.budget]
{name} = "+20%"      # of base
{name} = "+500"      # more than base
{name} = "<= 4000"   # whatever base has
"""
CUSTOM_TOLD = """
A function (eval_metric, actual_invocations, expected_invocations, conversation_scenario), sync or
async, that returns google-adk's EvaluationResult. In test_config.json, beside the eval set:

{
  "criteria": {"answer_length": 40},
  "custom_metrics": {
    "answer_length": {
      "code_config": {"name": "my_agent.metrics.answer_length"},
      "metric_info": {
        "metric_name": "answer_length",
        "metric_value_info": {"interval": {"min_value": 0, "max_value": 500}}
      },
      "lower_is_better": true
    }
  }
}

A suite without an ADK `agent` needs `python` (an interpreter that has google-adk) or `requirements`
in gradegate.toml.
"""

SCHEMAS: dict[str, type[BaseModel]] = {
    "results": Results,
    "report": Report,
    "traces": Traces,
    "settings": Settings,
}


def add_criteria_arguments(parser: ArgumentParser) -> None:
    """What `criteria` takes."""
    parser.add_argument(
        "name", nargs="?", metavar="NAME", help="explain this one, with a config to copy"
    )


def add_schema_arguments(parser: ArgumentParser) -> None:
    """What `schema` takes."""
    parser.add_argument("name", metavar="NAME", help="results, report, traces or settings")


def criteria(options: Namespace, environ: Mapping[str, str]) -> int:
    """List all criteria, or explain one with a config to copy."""
    del environ
    names = (*registry.known(), CUSTOM)
    if options.name is None:
        width = max(map(len, names))
        for name in names:
            sys.stdout.write(f"{name:<{width}}  {_line(name)}\n")
        return 0
    if options.name not in names:
        raise InputError(f"unknown criterion `{options.name}`: {nearest(options.name, names)}")
    sys.stdout.write(_explained(options.name))
    return 0


def _line(name: str) -> str:
    """What it measures, what it needs, and which scores are good."""
    if name == CUSTOM:
        return "functions of your own, called in the agent's environment"
    if name in METRICS:
        one = METRICS[name]
        return f"{one.summary}, on base and head · always reported · {one.unit}, lower is better"
    cls = registry.built()[name]
    needs = [NEEDS[need] for need, wanted in cls.needs._asdict().items() if wanted]
    low, high = cls.range
    needed = f"needs {', '.join(needs)} · " if needs else ""
    return f"{cls.summary} · {needed}{low:g} to {high:g}, higher is better"


def _explained(name: str) -> str:
    told = f"{name}\n  {_line(name)}\n"
    if name == CUSTOM:
        return f"{told}{CUSTOM_TOLD}"
    if name in METRICS:
        return f"{told}{BUDGET_TOLD.format(name=name)}"
    cls = registry.built()[name]
    fields = "".join(_field(*field) for field in cls.model_fields.items() if field[1].description)
    if cls.needs.vertex:
        told += VERTEX_TOLD
    if fields:
        told += f"\nBeside `threshold` it takes:\n\n{fields}"
    example = json.dumps({"criteria": {name: cls.example}}, indent=2, ensure_ascii=False)
    return f"{told}\nIn test_config.json, beside the eval set:\n\n{example}\n"


def _field(name: str, field: FieldInfo) -> str:
    return f"  {name}: {field.description}\n"


def schema(options: Namespace, environ: Mapping[str, str]) -> int:
    """Print a JSON Schema, made from the very models that read the files."""
    del environ
    if options.name not in SCHEMAS:
        raise InputError(f"no schema `{options.name}`: {nearest(options.name, SCHEMAS)}")
    made = SCHEMAS[options.name].model_json_schema(by_alias=True)
    text = json.dumps({"$schema": "https://json-schema.org/draft/2020-12/schema", **made}, indent=2)
    sys.stdout.write(f"{text}\n")
    return 0
