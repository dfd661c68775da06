"""Setting up and looking into the stand-in over HTTP, for tests in another process.

GET  /_standin/state        everything: pulls, comments, check_runs, statuses, requests, violations
POST /_standin/pulls        {"number": 1, "head_sha": "…", "branch": "…", "owner": "…"}
POST /_standin/commits      {"sha": "…"}
POST /_standin/comments     {"pull_request": 1, "author": "…", "body": "…"}
POST /_standin/labels       {"pull_request": 1, "name": "…", "by": "…"}
POST /_standin/permissions  {"checks": "read", "pull_requests": "none"}
POST /_standin/faults       {"kind": "server_error", "status": 502, "times": 2, "method": "POST"}
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from tests.standins.github import faults
from tests.standins.github.answer import Answer, message

if TYPE_CHECKING:
    from tests.standins.github.server import Received
    from tests.standins.github.standin import GitHubStandIn

KINDS: Mapping[str, Callable[..., faults.Fault]] = {
    kind.__name__: kind
    for kind in (
        faults.server_error,
        faults.broken_connection,
        faults.cut_short,
        faults.slow,
        faults.secondary_limit,
        faults.primary_limit,
    )
}
WHICH = ("times", "method", "path")


def answer(github: "GitHubStandIn", received: "Received") -> Answer:
    """Do what the test asks."""
    asked = f"{received.method} {received.path.removeprefix('/_standin/')}"
    if asked == "GET state":
        return Answer(200, _everything(github))
    settings: dict[str, Callable[..., object]] = {
        "POST pulls": github.add_pull_request,
        "POST commits": github.add_commit,
        "POST comments": github.add_comment,
        "POST labels": github.label,
        "POST permissions": github.allow,
        "POST faults": lambda **fields: _plan(github, fields),
    }
    setting = settings.get(asked)
    if setting is None:
        return message(404, "the stand-in has no such control")
    try:
        setting(**(received.body or {}))
    except (TypeError, KeyError) as error:
        return message(422, str(error))
    return Answer(204)


def _plan(github: "GitHubStandIn", fields: dict[str, Any]) -> None:
    which = {name: fields.pop(name) for name in WHICH if name in fields}
    fault = KINDS[fields.pop("kind")](**fields)
    github.fail_next(fault, **which)


def _everything(github: "GitHubStandIn") -> dict[str, Any]:
    state = github.state
    with state.lock:
        return {
            "url": github.url,
            "pulls": [asdict(pull) for pull in state.pulls.values()],
            "comments": [asdict(comment) for comment in state.comments.values()],
            "check_runs": [asdict(run) for run in state.check_runs.values()],
            "statuses": [asdict(status) for status in state.statuses],
            "violations": list(github.violations),
            "requests": [
                {"method": r.method, "path": r.path, "query": r.query, "body": r.body}
                for r in github.requests
            ],
        }
