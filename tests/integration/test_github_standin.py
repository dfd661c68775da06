"""The stand-in refuses what GitHub refuses, so that other tests can rely on it."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

from tests.standins.github import JOB_TOKEN, PERSONAL_TOKEN, GitHubStandIn
from tests.standins.github.description import CUT
from tests.standins.github.model import Level
from tests.standins.github.routes import ROUTES

ROOT = Path(__file__).parents[2]
SHA = "a" * 40
REPO = "/repos/octo/agents"
CHECK = {"name": "gradegate", "head_sha": SHA}


@pytest.fixture
def github() -> Iterator[GitHubStandIn]:
    """One that is asked for what it must refuse."""
    with GitHubStandIn() as standin:
        standin.add_pull_request(head_sha=SHA)
        yield standin


def ask(
    github: GitHubStandIn, method: str, path: str, body: Any = None, *, token: str = JOB_TOKEN
) -> requests.Response:
    """One request, without anything of PyGithub's around it."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    return requests.request(method, github.url + path, json=body, headers=headers, timeout=600)


def annotation(**fields: Any) -> dict[str, Any]:
    """An annotation that is in order but for these fields."""
    return {
        "path": "a.json",
        "start_line": 1,
        "end_line": 1,
        "annotation_level": "notice",
        "message": "m",
        **fields,
    }


def check(**output: Any) -> dict[str, Any]:
    """A check run that is in order but for these parts of its output."""
    return {**CHECK, "output": {"title": "t", "summary": "s", **output}}


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/issues/1/comments", {"body": "x" * 65_537}),
        ("/issues/1/comments", {"body": " "}),
        ("/issues/1/comments", {"body": 1}),
        ("/issues/1/comments", {}),
        ("/issues/1/comments", None),
        ("/issues/1/comments", {"body": "x", "colour": "red"}),
        ("/check-runs", check(annotations=[annotation()] * 51)),
        ("/check-runs", check(annotations=[annotation(annotation_level="error")])),
        ("/check-runs", check(annotations=[annotation(start_line=0)])),
        ("/check-runs", check(annotations=[annotation(start_line=2)])),
        ("/check-runs", check(annotations=[annotation(title="t" * 256)])),
        ("/check-runs", check(annotations=[annotation(message="m" * 65_537)])),
        ("/check-runs", check(annotations=[annotation(path="/a.json")])),
        ("/check-runs", check(summary="s" * 65_536)),
        ("/check-runs", check(text="é" * 32_768)),
        ("/check-runs", {**CHECK, "output": {"summary": "no title"}}),
        ("/check-runs", {**CHECK, "conclusion": "fine"}),
        ("/check-runs", {**CHECK, "status": "completed"}),
        ("/check-runs", {**CHECK, "started_at": "yesterday"}),
        ("/check-runs", {**CHECK, "head_sha": "b" * 40}),
        (f"/statuses/{SHA}", {"state": "neutral"}),
        (f"/statuses/{SHA}", {"state": "success", "description": "d" * 141}),
        (f"/statuses/{'b' * 40}", {"state": "success"}),
    ],
)
def test_what_github_does_not_take(github: GitHubStandIn, path: str, body: Any) -> None:
    """It is refused, kept in the list of violations, and changes nothing."""
    answer = ask(github, "POST", REPO + path, body)
    assert answer.status_code == 422
    assert len(github.violations) == 1
    assert (github.comments(1), github.check_runs(SHA), github.statuses(SHA)) == ([], [], [])


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/issues/1/comments", {"body": "😀" * 65_536}),
        ("/check-runs", check(annotations=[annotation(title="t" * 255)] * 50, text="é" * 32_767)),
        ("/check-runs", {**CHECK, "started_at": "2025-01-31T12:00:00Z", "conclusion": "success"}),
        (f"/statuses/{SHA}", {"state": "error", "description": "d" * 140, "target_url": None}),
    ],
)
def test_what_github_just_takes(github: GitHubStandIn, path: str, body: Any) -> None:
    """At the limit all is well."""
    assert ask(github, "POST", REPO + path, body).status_code == 201
    assert github.violations == []


@pytest.mark.parametrize(
    ("token", "said"), [("", "Requires authentication"), ("ghs_other", "Bad credentials")]
)
def test_a_token_is_needed(github: GitHubStandIn, token: str, said: str) -> None:
    """None and a wrong one are told apart."""
    answer = ask(github, "GET", f"{REPO}/pulls", token=token)
    assert (answer.status_code, answer.json()["message"]) == (401, said)


@pytest.mark.parametrize(
    ("permission", "method", "path", "body"),
    [
        ("checks", "POST", "/check-runs", CHECK),
        ("statuses", "POST", f"/statuses/{SHA}", {"state": "success"}),
        ("pull_requests", "POST", "/issues/1/comments", {"body": "x"}),
    ],
)
def test_a_permission_is_needed(
    github: GitHubStandIn, permission: str, method: str, path: str, body: Any
) -> None:
    """Without it GitHub speaks of an integration, and nothing is a violation."""
    levels: dict[str, Level] = {permission: "read"}
    github.allow(**levels)
    answer = ask(github, method, REPO + path, body)
    assert answer.status_code == 403
    assert answer.json()["message"] == "Resource not accessible by integration"
    assert github.violations == []


def test_who_am_i(github: GitHubStandIn) -> None:
    """People may ask; the job's token, which is an App's, may not."""
    assert ask(github, "GET", "/user").status_code == 403
    assert ask(github, "GET", "/user", token=PERSONAL_TOKEN).json()["login"] == "octo-tester"


def test_checks_are_for_apps(github: GitHubStandIn) -> None:
    """Nobody else may write one, and no App another's."""
    assert ask(github, "POST", f"{REPO}/check-runs", CHECK, token=PERSONAL_TOKEN).status_code == 403
    url = f"{REPO}/check-runs/{ask(github, 'POST', f'{REPO}/check-runs', CHECK).json()['id']}"
    github.add_token("ghs_reviewer", "reviewer[bot]", app_slug="reviewer")
    assert ask(github, "PATCH", url, {"name": "x"}, token="ghs_reviewer").status_code == 403  # noqa: S106
    assert ask(github, "PATCH", url, {"name": "x"}).status_code == 200


def test_what_is_not_described_is_a_violation(github: GitHubStandIn) -> None:
    """A path or a parameter that the cut does not have must not pass unnoticed."""
    assert ask(github, "GET", f"{REPO}/branches").status_code == 404
    assert ask(github, "GET", f"{REPO}/pulls?status=open").status_code == 422
    assert ask(github, "GET", f"{REPO}/pulls?state=merged").status_code == 422
    assert len(github.violations) == 3


def test_what_is_not_there_is_not_found(github: GitHubStandIn) -> None:
    """Nor is another repository."""
    for path in ("issues/2/comments", "issues/x/comments", "pulls/2", "check-runs/1"):
        assert ask(github, "GET", f"{REPO}/{path}").status_code == 404
    assert ask(github, "GET", "/repos/octo/other/pulls").status_code == 404
    assert github.violations == []


@pytest.mark.parametrize(
    ("query", "count", "links"),
    [
        ("", 30, {"next": "2", "last": "9"}),
        ("?per_page=100", 100, {"next": "2", "last": "3"}),
        ("?per_page=500&page=2", 100, {"prev": "1", "next": "3", "last": "3", "first": "1"}),
        ("?per_page=100&page=3", 50, {"prev": "2", "first": "1"}),
        ("?per_page=100&page=4", 0, {"prev": "3", "first": "1"}),
    ],
)
def test_pages(github: GitHubStandIn, query: str, count: int, links: dict[str, str]) -> None:
    """Thirty unless told, a hundred at most, with links to the others."""
    for number in range(250):
        github.add_comment(1, "octocat", str(number))
    answer = ask(github, "GET", f"{REPO}/issues/1/comments{query}")
    assert len(answer.json()) == count
    found = {name: re.search(r"[?&]page=(\d+)", link["url"]) for name, link in answer.links.items()}
    assert {name: page and page[1] for name, page in found.items()} == links
    assert all(link["url"].startswith(github.url) for link in answer.links.values())


def test_annotations_add_up(github: GitHubStandIn) -> None:
    """An update adds to those that are there, and they can be read back."""
    run = ask(github, "POST", f"{REPO}/check-runs", check(annotations=[annotation()] * 50)).json()
    for _ in range(2):
        more = {"output": {"summary": "s", "annotations": [annotation()] * 50}}
        ask(github, "PATCH", f"{REPO}/check-runs/{run['id']}", more)
    url = f"{REPO}/check-runs/{run['id']}/annotations?per_page=100&page=2"
    assert len(ask(github, "GET", url).json()) == 50
    (listed,) = ask(github, "GET", f"{REPO}/commits/{SHA}/check-runs").json()["check_runs"]
    assert listed["output"]["annotations_count"] == 150


def test_limits_are_counted(github: GitHubStandIn) -> None:
    """Every answer tells what is left; too many writes a minute are refused, then all."""
    assert ask(github, "GET", f"{REPO}/pulls").headers["x-ratelimit-remaining"] == "999"
    github.limits.writes_per_minute = 1
    comments = f"{REPO}/issues/1/comments"
    assert ask(github, "POST", comments, {"body": "x"}).status_code == 201
    refused = ask(github, "POST", comments, {"body": "x"})
    assert refused.status_code == 403
    assert 58 <= int(refused.headers["retry-after"]) <= 60
    assert ask(github, "GET", comments).status_code == 200
    github.limits.requests_per_hour = 4
    refused = ask(github, "GET", comments)
    assert (refused.status_code, refused.headers["x-ratelimit-remaining"]) == (403, "0")


def test_every_operation_described_is_played(github: GitHubStandIn) -> None:
    """The cut and the stand-in know the same operations."""
    paths = json.loads(CUT.read_text())["paths"]
    assert set(ROUTES) == {f"{method} {path}" for path in paths for method in paths[path]}
    assert github.violations == []


def test_as_a_program() -> None:
    """Another process sets it up and reads it over HTTP, and ends it with a signal."""
    with subprocess.Popen(
        [sys.executable, "-m", "tests.standins.github", "--repository", "my/repo"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        text=True,
    ) as program:
        assert program.stdout is not None
        url = program.stdout.readline().strip()
        settings: dict[str, Any] = {
            "pulls": {"number": 4, "head_sha": SHA},
            "comments": {"pull_request": 4, "author": "octocat", "body": "hello"},
            "labels": {"pull_request": 4, "name": "bug", "by": "octocat"},
            "permissions": {"checks": "read"},
            "faults": {"kind": "server_error", "status": 503, "method": "GET"},
        }
        for name, setting in settings.items():
            answer = requests.post(f"{url}/_standin/{name}", json=setting, timeout=600)
            assert answer.status_code == 204, answer.text
        assert requests.post(f"{url}/_standin/pulls", json={"x": 1}, timeout=600).status_code == 422
        assert requests.get(f"{url}/_standin/other", timeout=600).status_code == 404
        headers = {"Authorization": f"token {JOB_TOKEN}"}
        comments = f"{url}/repos/my/repo/issues/4/comments"
        statuses = [requests.get(comments, headers=headers, timeout=600).status_code for _ in "12"]
        checks = requests.post(
            f"{url}/repos/my/repo/check-runs", json=CHECK, headers=headers, timeout=600
        )
        state = requests.get(f"{url}/_standin/state", timeout=600).json()
        program.send_signal(signal.SIGTERM)
        assert program.wait(60) == 0
    assert (statuses, checks.status_code) == ([503, 200], 403)
    assert [comment["body"] for comment in state["comments"]] == ["hello"]
    assert state["pulls"][0]["labels"] == ["bug"]
    assert [request["method"] for request in state["requests"]] == ["GET", "GET", "POST"]
    assert state["violations"] == []
