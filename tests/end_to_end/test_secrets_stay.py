"""Canaries: keys that an agent repeats in every disguise are found nowhere."""

import json
import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from tests.project import case, eval_set, scripted, turn
from tests.standins.agents.leaker import dressed
from tests.standins.gemini import GeminiStandin, prompt_of
from tests.standins.github import JOB_TOKEN, GitHubStandIn
from tests.unit.files.test_credentials import ACCOUNT, ORDINARY
from tests.workflow_step import Change, pull_request

pytestmark = pytest.mark.trust

ROOT = Path(__file__).parents[2]
PYTHON = "/usr/bin/python3"
TOKEN, KEY, DOTENV = (f"{name}-{secrets.token_urlsafe(24)}" for name in ("tok", "AIza", "env"))
SERVICE = json.dumps(ACCOUNT, indent=2)
HARMLESS = "nothing-that-anybody-would-hide"
GIVEN = {"DESK_TOKEN": TOKEN, "DESK_API_KEY": KEY, "DESK_ACCOUNT": SERVICE}
NAMES = [*GIVEN, "DOTENV_KEY"]
SETTINGS = f"""
[[suite]]
name = "desk"
command = ["{PYTHON}", "leaker.py"]
evals = ["evals/*.evalset.json"]
env = {json.dumps([*GIVEN, "DESK_NAME"])}
"""
CONFIG = {
    "criteria": {
        "final_response_match_v2": {
            "threshold": 1.0,
            "judge_model_options": {"judge_model": "gemini-2.5-flash", "num_samples": 1},
        },
        "response_match_score": 0.5,
        "tool_trajectory_avg_score": 1.0,
    },
    "user_simulator_config": {"max_allowed_invocations": 2, "model": "gemini-2.5-flash"},
}
PLAN = {"starting_prompt": "What is it?", "conversation_plan": "Ask what it is, and again."}
CASES = [
    case("asked", turn("What is it?", "It is a secret.")),
    {"eval_id": "talked", "conversation_scenario": PLAN},
]


def needles(value: str) -> list[bytes]:
    """What must not be found of a secret, as bytes in files may have it."""
    secret = [one for one in dressed(value) if len(one) >= 12 and telling(one)]
    return [form.encode() for one in secret for form in (one, json.dumps(one)[1:-1])]


def telling(form: str) -> bool:
    """Whether a line of a service account, disguised or not, is not an ordinary one."""
    ordinary = (line for line in SERVICE.splitlines() if "private_key" not in line)
    dull = {form for line in (*ordinary, *ORDINARY) for form in dressed(line)}
    return form not in dull


def judge(body: dict[str, Any]) -> str:
    """A judge that quotes all it is shown, and a user who talks on."""
    schema = body["generationConfig"].get("responseJsonSchema")
    if schema is None:
        return "And what is it really?"
    return json.dumps({"reasoning": prompt_of(body), "verdict": "invalid"})


class Place:
    """A runner with all that it writes in one folder, and what the services were sent."""

    def __init__(self, folder: Path, hub: GitHubStandIn, names: list[str]) -> None:
        self.folder = folder
        self.hub = hub
        self.logs: list[str] = []
        self.project = scripted(folder / "home" / "repo", CASES[:1], SETTINGS)
        self.project.put("evals/basic.evalset.json", eval_set(*CASES))
        self.project.put("evals/test_config.json", json.dumps(CONFIG))
        leaker = ROOT / "tests" / "standins" / "agents" / "leaker.py"
        self.project.put("leaker.py", leaker.read_text(encoding="utf-8"))
        self.project.put(".env", f"GOOGLE_CLOUD_PROJECT=desk\nDOTENV_KEY={DOTENV}\n")
        self.leak(names, "honest")
        self.project.commit("base")
        self.project.git("switch", "-qc", "change")
        self.leak(names, "answer")
        (folder / "home").chmod(0o755)
        temporary = folder / "tmp"
        temporary.mkdir()
        temporary.chmod(0o777)
        self.project.environ |= {
            **GIVEN,
            "DESK_NAME": HARMLESS,
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "TMPDIR": str(temporary),
        }
        self.own = {path for path in folder.rglob("*") if path.is_file()}

    def leak(self, names: list[str], how: str) -> None:
        """Have the agent repeat these, in this way."""
        self.project.put("leaks.json", json.dumps({"names": names, "how": how}))

    def run(self, judges: GeminiStandin, *words: str, **more: str) -> CompletedProcess[str]:
        """The action on a pull request, with everything that it printed kept."""
        change = Change(self.project, self.hub, self.folder / "runner")
        self.own |= {path for path in (self.project.root / ".git").rglob("*") if path.is_file()}
        self.project.environ |= judges.environ
        payload = pull_request(change.head, change.base)
        done = change.runner.run("pull_request", payload, more, words)
        self.own.add(self.folder / "runner" / "event.json")
        masks = [line for line in done.stdout.splitlines() if not line.startswith("::add-mask::")]
        self.logs += [done.stderr, *masks]
        return done

    def holding(self, judges: GeminiStandin, value: str) -> list[str]:
        """Where anything of a value is found."""
        found = needles(value)
        places = {str(path): path.read_bytes() for path in self.written()}
        places["log"] = "\n".join(self.logs).encode()
        sent = [str((one.path, one.query, one.body)) for one in self.hub.requests]
        places["requests to GitHub"] = json.dumps(sent).encode()
        asked = [one.body for one in judges.requests]
        places["requests to the judge"] = json.dumps(asked, ensure_ascii=False).encode()
        return [name for name, data in places.items() if any(one in data for one in found)]

    def written(self) -> Iterator[Path]:
        """Every file that was written, wherever it is."""
        for path in self.folder.rglob("*"):
            if path.is_file() and path not in self.own and ".git/" not in f"{path}/":
                yield path


@pytest.mark.parametrize("how", ["answer", "error", "garbage", "die"])
def test_keys_that_the_agent_repeats_are_found_nowhere(
    place: Path, github: GitHubStandIn, how: str
) -> None:
    """An agent repeats its token, key and service account, disguised, in all that it says."""
    here = Place(place, github, NAMES)
    here.leak(NAMES, how)
    with GeminiStandin(judge) as judges:
        done = here.run(judges)
        assert done.returncode == 1, done.stderr[-3000:]
        for value in (TOKEN, KEY, SERVICE, DOTENV, JOB_TOKEN):
            assert here.holding(judges, value) == []
        if os.geteuid() == 0:
            assert "same user" not in done.stderr
        assert judges.requests
        assert "***" in done.stderr


def test_what_is_no_key_is_found_everywhere(place: Path, github: GitHubStandIn) -> None:
    """The control: the same agent, the same search, and a name that nobody hides."""
    here = Place(place, github, ["DESK_NAME"])
    with GeminiStandin(judge) as judges:
        done = here.run(judges)
        assert done.returncode == 1, done.stderr[-3000:]
        found = " ".join(here.holding(judges, HARMLESS))
    for name in ("report.json", "head.results.json", "comment.md", "report.html", "junit.xml",
                 "check.md", "gradegate.sqlite", "runner/summary", "log", "requests to GitHub",
                 "requests to the judge"):  # fmt: skip
        assert name in found, (name, found)


@pytest.mark.parametrize("words", [(), ("--debug",)])
def test_an_error_that_quotes_a_key_does_not_tell_it(
    place: Path, github: GitHubStandIn, words: tuple[str, ...]
) -> None:
    """A key in a message, a traceback and the check of a run that could not be."""
    here = Place(place, github, NAMES)
    with GeminiStandin(judge) as judges:
        done = here.run(judges, *words, suite=f"of {TOKEN} and {KEY[::-1]}")
        assert done.returncode == 2
        assert "no suite" in done.stderr
        assert ("Traceback" in done.stderr) == bool(words)
        for value in (TOKEN, KEY, SERVICE):
            assert here.holding(judges, value) == []


def test_the_runner_is_told_to_hide_them_line_by_line(place: Path, github: GitHubStandIn) -> None:
    """Later steps' logs are masked too, without `"type": "service_account"` wherever it stands."""
    here = Place(place, github, NAMES)
    with GeminiStandin(judge) as judges:
        done = here.run(judges, suite="none")
    masked = {line for line in done.stdout.splitlines() if line.startswith("::add-mask::")}
    for value in (TOKEN, KEY, JOB_TOKEN, str(ACCOUNT["private_key"]).splitlines()[4]):
        assert f"::add-mask::{value}" in masked
    assert not [line for line in masked if "service_account" in line or line.endswith("{")]
