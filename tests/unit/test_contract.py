"""What other people's workflows lean on: names that must say the same everywhere."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from ruamel.yaml import YAML

from gradegate.github_action.inputs import Inputs, input_name
from gradegate.github_action.step import outputs_of
from gradegate.model.report import Decision, Report, State
from tests.project import GRADEGATE, Project, case, expected, scripted, turn
from tests.starter import STARTER

ROOT = Path(__file__).parents[2]
ACTION = YAML(typ="safe").load((ROOT / "action.yml").read_text(encoding="utf-8"))
README = (ROOT / "README.md").read_text(encoding="utf-8")

COMMANDS = {
    "demo": [],
    "run": [
        "--repo",
        "--head",
        "--base",
        "--suite",
        "--case",
        "--out",
        "--store",
        "--agent-python",
        "--dry-run",
        "--accept",
    ],
    "action": [],
    "score": ["--evals", "--config", "--traces", "--out"],
    "record": ["--agent", "--evals", "--out", "--runs"],
    "compare": ["BASE", "HEAD", "--out"],
    "merge": ["SHARD", "--out"],
    "render": ["report.json", "--format", "--language", "--template"],
    "show": ["REPORT", "CASE", "--language"],
    "open": ["REPORT", "CASE", "--language", "--print"],
    "publish": ["report.json"],
    "check": ["PATH"],
    "baseline": ["--fresh", "--store"],
    "history": ["--store", "--worst", "--times", "--json"],
    "audit": ["--suite", "--judge", "--max-calls", "--strict", "--json", "--answers"],
    "convert": ["FILE", "--config", "--out", "--force"],
    "criteria": ["NAME"],
    "schema": ["NAME"],
    "init": ["--force", "--shards"],
    "plan": ["--shards", "--max-minutes", "--store"],
}
HEAVY = (
    "google.cloud",
    "google.genai",
    "github",
    "rouge_score",
    "scipy",
    "numpy",
    "jinja2",
    "rich",
)


def test_the_actions_inputs_are_those_that_are_read() -> None:
    """Hyphenated as in a workflow, and in the same order."""
    assert list(ACTION["inputs"]) == [input_name(field) for field in Inputs.model_fields]


def test_the_actions_defaults_are_those_of_the_inputs() -> None:
    """GitHub hands them over as if the workflow had given them."""
    given = {
        f"INPUT_{name.upper()}": str(told["default"])
        for name, told in ACTION["inputs"].items()
        if "default" in told and name != "github-token"
    }
    assert Inputs.from_environ(given) == Inputs()


def test_only_the_token_is_required_and_it_has_a_default() -> None:
    """A workflow need not give anything."""
    required = [name for name, told in ACTION["inputs"].items() if told["required"]]
    assert required == ["github-token"]
    assert ACTION["inputs"]["github-token"]["default"] == "${{ github.token }}"


def test_the_actions_outputs_are_those_that_are_written() -> None:
    """Addresses are added once they are known."""
    report = Report(decision=Decision(state=State.PASS))
    written = {
        *outputs_of(report, Path("out")),
        "shard",
        "confirm-matrix",
        "comment-url",
        "check-url",
    }
    assert set(ACTION["outputs"]) == written


def test_without_docker_the_action_is_the_same() -> None:
    """The same inputs with the same words, and each output handed on."""
    path = ROOT / "composite" / "action.yml"
    composite = YAML(typ="safe").load(path.read_text(encoding="utf-8"))
    assert composite["inputs"] == ACTION["inputs"]
    assert composite["outputs"] == {
        name: {**told, "value": f"${{{{ steps.gradegate.outputs.{name} }}}}"}
        for name, told in ACTION["outputs"].items()
    }


def test_the_readme_tells_of_every_input_and_output() -> None:
    """In the first column of its tables."""
    told = set(re.findall(r"(?m)^\| ?`([a-z-]+)`", README))
    assert {*ACTION["inputs"], *ACTION["outputs"]} <= told


def help_of(*command: str) -> str:
    """What `--help` prints."""
    done = subprocess.run(
        [str(GRADEGATE), *command, "--help"], capture_output=True, text=True, check=True
    )
    return done.stdout


def test_every_command_is_there_and_no_other() -> None:
    """By the names that scripts use."""
    listed = re.findall(r"(?m)^    ([a-z]+) ", help_of())
    assert sorted(listed) == sorted(COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_takes_what_scripts_give_it(command: str) -> None:
    """Its options and arguments."""
    text = help_of(command)
    for name in [*COMMANDS[command], "--debug"]:
        assert re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text), name


def test_the_exit_codes_are_told() -> None:
    """Where people look."""
    text = help_of()
    assert all(re.search(rf"(?m)^  {code}  ", text) for code in (0, 1, 2, 3))


def test_the_command_line_imports_nothing_heavy() -> None:
    """`--help` answers at once; what is heavy is imported where it is used."""
    code = "import sys; bare = set(sys.modules); import gradegate.cli; "
    code += "print(*(set(sys.modules) - bare))"  # an installed library may preload its own name
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = done.stdout.split()
    assert "gradegate.cli" in loaded
    assert [name for name in loaded if name.startswith(HEAVY)] == []


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A repository with a broken case, evaluated: real files to hold against the schemas."""
    cases = [case(name, turn("hello", f"hi from {name}")) for name in ("good", "bad")]
    project = scripted(tmp_path_factory.mktemp("contract") / "repo", cases)
    project.git("switch", "-qc", "change")
    project.answers({"good": expected(cases[0]), "bad": {"crash": "boom"}})
    done = project.gradegate("run", "--out", "out")
    assert done.returncode == 1, done.stderr
    return project


def schema_of(name: str) -> Any:
    """What `gradegate schema` prints."""
    done = STARTER.run(["schema", name], ROOT, {"PATH": os.environ["PATH"]})
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_settings_schema_explains_every_key() -> None:
    """For editors, which show it where the key is written."""
    schema = schema_of("settings")
    for table in (schema, *schema["$defs"].values()):
        for name, key in table.get("properties", {}).items():
            explained = key.get("description") or "$ref" in key
            assert explained, name


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("report", "out/report.json"),
        ("results", "out/head.results.json"),
        ("results", "out/base.results.json"),
    ],
)
def test_what_a_run_writes_is_valid_by_its_schema(made: Project, name: str, file: str) -> None:
    """And the schema refuses what the contract does not know."""
    schema = schema_of(name)
    jsonschema.Draft202012Validator.check_schema(schema)
    written = json.loads((made.root / file).read_text(encoding="utf-8"))
    assert written["schema"] == f"gradegate/{name}/v1"
    jsonschema.validate(written, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**written, "schema": "gradegate/other/v1"}, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**written, "surprise": 1}, schema)


def test_traces_as_the_contract_prints_them_are_valid_by_their_schema() -> None:
    """With a failure, and ADK's invocation in either spelling."""
    invocation = {"userContent": {"parts": [{"text": "hello"}]}, "finalResponse": None}
    traces = {
        "schema": "gradegate/traces/v1",
        "cases": [
            {
                "suite": "weather",
                "eval_set": "weather/basic.evalset.json",
                "eval_id": "paris",
                "run": 1,
                "invocations": [invocation],
                "error": None,
            }
        ],
    }
    jsonschema.validate(traces, schema_of("traces"))


def test_an_unknown_schema_is_refused_with_the_nearest_name() -> None:
    """No list to search through."""
    done = subprocess.run(
        [str(GRADEGATE), "schema", "result"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert "did you mean `results`?" in done.stderr


def test_a_report_has_the_fields_of_the_contract(made: Project) -> None:
    """By the names that scripts read."""
    report = json.loads((made.root / "out/report.json").read_text(encoding="utf-8"))
    assert report.keys() >= {
        "schema",
        "decision",
        "base",
        "head",
        "criteria",
        "cases",
        "usage",
        "warnings",
    }
    assert report["decision"]["state"] == "fail"
    assert {"kind", "text", "eval_set", "eval_id", "criterion"} <= report["decision"]["reasons"][
        0
    ].keys()
    bad = next(one for one in report["cases"] if one["eval_id"] == "bad")
    found = bad["criteria"]["response_match_score"]
    assert (found["verdict"], found["confirmed"], found["runs"]) == ("regressed", True, [6, 6])
    assert found["passed"] == [6, 0]
    assert bad["evidence"]["head_error"] == "boom"
    good = next(one for one in report["cases"] if one["eval_id"] == "good")
    assert good["evidence"] == {}
