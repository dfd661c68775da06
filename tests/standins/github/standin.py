"""The stand-in itself: what tests hold in their hands."""

import threading
import time
from collections.abc import Sequence
from typing import Any, Literal, Self

from tests.standins.github import control, routes
from tests.standins.github.answer import Answer, Refused, message, not_found
from tests.standins.github.description import match
from tests.standins.github.faults import Fault, Faults, RateLimits
from tests.standins.github.meeting import Meetings
from tests.standins.github.model import (
    Actor,
    CheckRun,
    Comment,
    Event,
    Level,
    PullRequest,
    State,
    Status,
)
from tests.standins.github.request import Request
from tests.standins.github.server import Received, Server
from tests.standins.github.views import Views

CONTROL = "/_standin/"


class GitHubStandIn:
    """One repository on a GitHub of its own; `prefix="/api/v3"` makes it an enterprise server."""

    def __init__(
        self,
        repository: str = "octo/agents",
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        prefix: str = "",
    ) -> None:
        self.state = State(repository)
        self.limits = RateLimits()
        self.faults = Faults()
        self.requests: list[Received] = []
        """Everything that was asked, in order of arrival."""
        self.violations: list[str] = []
        """What GitHub's description or its limits do not allow, or what is not described."""
        self._meetings = Meetings()
        self._prefix = prefix
        self._server = Server(host, port, self)
        site = f"http://{host}:{self._server.server_address[1]}"
        self.url = f"{site}{prefix}"
        self._views = Views(self.url, site, repository)
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
        )

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.hang_up()
        self._server.server_close()
        self._thread.join()

    # What a test sets up

    def add_token(self, token: str, login: str, *, app_slug: str | None = None) -> Actor:
        """Accept one more token."""
        actor = Actor(login, app_slug)
        self.state.actors[token] = actor
        return actor

    def allow(self, **levels: Level) -> None:
        """Change permissions, named as in a workflow but with `_` for `-`: `checks="read"`."""
        for name, level in levels.items():
            permission = name.replace("_", "-")
            if permission not in self.state.permissions:
                raise KeyError(f"no permission {permission}")
            self.state.permissions[permission] = level

    def add_commit(self, sha: str, *parents: str) -> str:
        """Have one more commit."""
        self.state.commits.add(sha)
        self.state.parents[sha] = parents
        return sha

    def add_check(
        self, sha: str, name: str = "gradegate", *, app: str = "github-actions", **fields: Any
    ) -> CheckRun:
        """Have one more check run, made by somebody before the test begins."""
        with self.state.lock:
            run = CheckRun(next(self.state.ids), name, sha, app, **fields)
            self.state.check_runs[run.id] = run
        return run

    def let(self, login: str, role: str) -> None:
        """Give somebody a role in the repository: admin, maintain, write, triage, read."""
        self.state.roles[login] = role

    def add_file(self, path: str, text: str, *, ref: str = "main") -> None:
        """Have a file on a branch."""
        self.state.files[ref, path] = text

    def add_branch(self, name: str, sha: str, *parents: str) -> None:
        """Have a branch that ends in this commit."""
        self.state.git.branches[name] = self.add_commit(sha, *parents)

    def put_data(self, branch: str, path: str, content: bytes) -> None:
        """Have a file on a branch that exists, whoever put it there."""
        git = self.state.git
        tree = git.tree_of[git.branches[branch]]
        blob = f"{len(git.blobs):040x}"
        git.blobs[blob] = content
        git.trees[tree] = {**git.trees[tree], path: blob}

    def add_pull_request(
        self,
        number: int = 1,
        *,
        head_sha: str = "a" * 40,
        branch: str = "change",
        owner: str = "octo",
        state: Literal["open", "closed"] = "open",
    ) -> PullRequest:
        """Have one more pull request, and its head commit."""
        self.add_commit(head_sha)
        pull = PullRequest(number, head_sha, branch, owner, state)
        self.state.pulls[number] = pull
        return pull

    def add_comment(self, pull_request: int, author: str | None, body: str) -> Comment:
        """Have one more comment, written by somebody before the test begins."""
        with self.state.lock:
            comment = Comment(next(self.state.ids), pull_request, author, body)
            self.state.comments[comment.id] = comment
        return comment

    def label(self, pull_request: int, name: str, *, by: str | None) -> None:
        """Let somebody set a label."""
        self.state.pulls[pull_request].labels.append(name)
        self.add_event(pull_request, "labeled", by=by, label=name)

    def unlabel(self, pull_request: int, name: str, *, by: str | None) -> None:
        """Let somebody take a label away."""
        self.state.pulls[pull_request].labels.remove(name)
        self.add_event(pull_request, "unlabeled", by=by, label=name)

    def add_event(
        self, pull_request: int, kind: str, *, by: str | None, label: str | None = None
    ) -> None:
        """Let something have happened, such as `closed`."""
        event = Event(next(self.state.ids), kind, by, label)
        self.state.pulls[pull_request].events.append(event)

    def fail_next(
        self, fault: Fault, *, times: int = 1, method: str | None = None, path: str = ""
    ) -> None:
        """Let the next requests (with this method, this pattern in their path) go wrong."""
        self.faults.plan(fault, times=times, method=method, path=path)

    def gather(self, method: str, path: str, parties: int) -> None:
        """Hold requests like this back until so many have come: a race that always happens."""
        self._meetings.arrange(method, path, parties)

    # What a test looks at

    def comments(self, pull_request: int) -> list[Comment]:
        """The comments of a pull request, oldest first."""
        with self.state.lock:
            return [c for c in self.state.comments.values() if c.pull_request == pull_request]

    def check_runs(self, sha: str) -> list[CheckRun]:
        """The check runs of a commit, oldest first."""
        with self.state.lock:
            return [run for run in self.state.check_runs.values() if run.head_sha == sha]

    def statuses(self, sha: str) -> list[Status]:
        """The statuses of a commit, oldest first."""
        with self.state.lock:
            return [status for status in self.state.statuses if status.sha == sha]

    def data(self, branch: str, path: str) -> str | None:
        """A file's text at the end of a branch."""
        git = self.state.git
        with self.state.lock:
            sha = git.branches.get(branch)
            blob = git.trees[git.tree_of[sha]].get(path) if sha else None
            return git.blobs[blob].decode() if blob else None

    def asked(self, method: str, ending: str = "") -> Sequence[Received]:
        """The requests with this method whose path ends so."""
        return [r for r in self.requests if r.method == method and r.path.endswith(ending)]

    # What happens to a request

    def answer(self, received: Received) -> Answer | None:
        """The answer to one request, or None to break the connection."""
        if received.path.startswith(CONTROL):
            return control.answer(self, received)
        self.requests.append(received)
        self._meetings.attend(received.method, received.path)
        fault = self.faults.take(received.method, received.path) or Fault()
        time.sleep(fault.delay)
        spoiled = fault.reset or fault.answer is not None
        proper = self._proper_answer(received) if fault.too_late or not spoiled else None
        if fault.reset:
            return None
        given = fault.answer or proper
        if given is None:
            raise AssertionError("neither a fault nor a proper answer")
        return Answer(given.status, given.data, {**self.limits.headers(), **given.headers})

    def _proper_answer(self, received: Received) -> Answer:
        with self.state.lock:
            try:
                return self._answer_in_order(received)
            except Refused as refused:
                if refused.violation is not None:
                    asked = f"{received.method} {received.path}"
                    self.violations.append(f"{asked}: {refused.violation}")
                return refused.answer

    def _answer_in_order(self, received: Received) -> Answer:
        actor = self._authenticated(received)
        refusal = self.limits.count(received.method)
        if refusal is not None:
            raise Refused(refusal)
        inside = received.path.startswith(f"{self._prefix}/")
        found = match(received.method, received.path.removeprefix(self._prefix)) if inside else None
        if found is None:
            raise Refused(not_found().answer, "not among the operations described")
        if problems := found.operation.problems(received.query, received.body):
            text = "; ".join(problems)
            raise Refused(message(422, f"Invalid request.\n\n{text}"), text)
        request = Request(
            self.state,
            self._views,
            actor,
            f"{self.url}{received.path.removeprefix(self._prefix)}",
            found.values,
            received.query,
            received.body or {},
        )
        return routes.answer(found.operation.name, request)

    def _authenticated(self, received: Received) -> Actor:
        if not received.headers.get("user-agent"):
            raise Refused(message(403, "Request forbidden by administrative rules."), "no agent")
        scheme, _, token = received.headers.get("authorization", "").partition(" ")
        if not token:
            raise Refused(message(401, "Requires authentication"))
        if scheme.lower() not in ("token", "bearer") or token not in self.state.actors:
            raise Refused(message(401, "Bad credentials"))
        return self.state.actors[token]
