"""Pull requests that would rather look good than be good."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.project import (
    SETTINGS,
    WEATHER,
    Outcome,
    Project,
    case,
    eval_set,
    expected,
    scripted,
    turn,
)

SET = "evals/basic.evalset.json"
CASES = [
    case("paris", turn("Weather in Paris?", "It is sunny in Paris today.", WEATHER)),
    case("rome", turn("And in Rome?", "It rains in Rome today.")),
]
BROKEN = [{"text": "No idea whatsoever."}]
RECORDED = """
[[suite]]
name = "{name}"
traces = "perfect.json"
evals = ["evals/*.evalset.json"]
"""


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A branch that breaks the agent on one of two cases."""
    project = scripted(tmp_path / "repo", CASES)
    project.git("switch", "-qc", "change")
    broken(project)
    return project


def broken(project: Project) -> None:
    """Have the agent fail on one case."""
    project.answers({one["eval_id"]: expected(one) for one in CASES} | {"paris": BROKEN})


def perfect_recording(project: Project) -> None:
    """Runs that never were, each as good as can be."""
    runs: list[Mapping[str, Any]] = [
        {"eval_set": SET, "eval_id": one["eval_id"], "run": 1, "invocations": one["conversation"]}
        for one in CASES
    ]
    project.put("perfect.json", json.dumps({"schema": "gradegate/traces/v1", "cases": runs}))


def said(done: Outcome) -> str:
    """All reasons, a line each."""
    return "\n".join(reason["text"] for reason in done.report["decision"]["reasons"])


def test_a_suite_under_a_new_name_is_compared_with_what_it_was(project: Project) -> None:
    """Otherwise its thresholds alone would decide, and a slow leak would go unseen."""
    project.put("gradegate.toml", SETTINGS.replace('"desk"', '"counter"'))
    done = project.evaluate()
    assert (done.code, set(done.kinds)) == (1, {"regression"})
    assert "suite counter is compared with base's suite desk" in done.warnings


def test_a_new_name_alone_is_no_change(tmp_path: Path) -> None:
    """Of nothing that could be measured."""
    project = scripted(tmp_path / "repo", CASES)
    project.git("switch", "-qc", "change")
    project.put("gradegate.toml", SETTINGS.replace('"desk"', '"counter"'))
    done = project.evaluate()
    assert (done.code, done.state) == (0, "pass")
    assert "nothing was run" in done.stdout


@pytest.mark.parametrize("name", ["desk", "counter"])
def test_a_recording_does_not_answer_for_the_agent(project: Project, name: str) -> None:
    """Whatever the suite is called now: base's agent runs, and so does head's."""
    perfect_recording(project)
    project.put("gradegate.toml", RECORDED.format(name=name))
    done = project.evaluate()
    assert (done.code, set(done.kinds)) == (1, {"regression", "loosened"})
    assert "base's word counts" in done.warnings
    assert "a recording answers cases" in said(done)


def test_cases_cannot_move_to_a_recorded_suite_behind_a_decoy(project: Project) -> None:
    """The old name stays, with a case that nobody fails."""
    perfect_recording(project)
    project.put("decoy/easy.evalset.json", eval_set(CASES[1], name="easy"))
    decoy = SETTINGS.replace("evals/*", "decoy/*")
    project.put("gradegate.toml", decoy + RECORDED.format(name="counter"))
    done = project.evaluate()
    assert (done.code, set(done.kinds)) == (1, {"loosened"})
    assert "a recording answers cases that base's suite desk has an agent answer" in said(done)


def test_cases_cannot_move_to_where_there_is_nothing_to_compare_with(project: Project) -> None:
    """A second suite with the same agent, and a decoy under the old name."""
    project.put("decoy/easy.evalset.json", eval_set(CASES[1], name="easy"))
    decoy = SETTINGS.replace("evals/*", "decoy/*")
    project.put("gradegate.toml", decoy + SETTINGS.replace('"desk"', '"counter"'))
    done = project.evaluate()
    assert done.code == 1
    assert "base has nothing to compare them with" in said(done)


@pytest.mark.parametrize("name", ["gradegate.toml", SET, "evals/test_config.json"])
def test_a_link_out_of_the_repository_is_refused_and_not_quoted(
    project: Project, tmp_path: Path, name: str
) -> None:
    """Our complaints about a file would tell what is in it."""
    secret = tmp_path / "secret"
    secret.write_text('[gate]\nfail_on = ["hunter2"]\n')
    (project.root / name).unlink(missing_ok=True)
    (project.root / name).symlink_to(secret)
    done = project.evaluate()
    assert done.code == 2
    assert f"{name}: leads outside the repository" in done.stderr
    assert "hunter2" not in done.stderr


def test_a_link_out_of_the_repository_is_no_recording(tmp_path: Path) -> None:
    """Nor may a recording be read from elsewhere."""
    project = scripted(tmp_path / "repo", CASES, settings=RECORDED.format(name="desk"))
    perfect_recording(project)
    project.commit()
    project.git("switch", "-qc", "change")
    recording = (project.root / "perfect.json").read_text()
    (tmp_path / "elsewhere.json").write_text(f"{recording}\n")
    (project.root / "perfect.json").unlink()
    (project.root / "perfect.json").symlink_to(tmp_path / "elsewhere.json")
    done = project.evaluate()
    assert (done.code, "perfect.json: leads outside" in done.stderr) == (2, True)


def test_a_prompt_beside_the_workflows_is_a_part_of_the_agent(tmp_path: Path) -> None:
    """GitHub has people keep prompts there; a workflow is none."""
    project = scripted(tmp_path / "repo", CASES)
    project.git("switch", "-qc", "change")
    project.put(".github/workflows/ci.yml", "name: ci\n")
    assert "nothing was run" in project.evaluate().stdout
    project.put(".github/prompts/desk.prompt.md", "Be rude.\n")
    assert "nothing was run" not in project.evaluate().stdout


def test_counts_that_cannot_be_are_none(project: Project) -> None:
    """An agent reports its tokens itself; endless or negative ones are not believed."""
    usage = [{"prompt_token_count": count} for count in (-(10**9), 1e308, 1e308, 12)]
    steps = {"invocation_events": [{"author": "desk", "usage_metadata": one} for one in usage]}
    project.answers({"rome": [{"text": "It rains in Rome today.", "steps": steps}]})
    done = project.evaluate()
    assert done.code == 1
    tokens = {one["name"]: one for one in done.report["criteria"]}["token_usage_v1"]
    assert tokens["head"] == 12


def test_a_first_settings_file_does_not_relax_the_gate_unseen(tmp_path: Path) -> None:
    """There is no other word to go by; the report says what it gives away."""
    project = scripted(tmp_path / "repo", CASES)
    project.git("rm", "-q", "gradegate.toml")
    project.git("commit", "-qm", "no settings")
    project.git("switch", "-qc", "change")
    project.put("gradegate.toml", f"{SETTINGS}\n[gate]\nfail_on = []\n")
    broken(project)
    assert "looser than the usual: `fail_on` no longer lists" in project.evaluate().warnings
