"""What the stand-in remembers, as GitHub's answers show it.

URLs are built from the server's own address: PyGithub follows no others.
"""

from base64 import b64encode
from typing import Any, NamedTuple

from tests.standins.github.model import EMPTY_TREE, CheckRun, Comment, Event, PullRequest, Status


class Views:
    """The answers' shapes, for one API address and one repository."""

    def __init__(self, api: str, site: str, repository: str) -> None:
        self._repo = f"{api}/repos/{repository}"
        self._users = f"{api}/users"
        self._site = f"{site}/{repository}"

    def user(self, login: str) -> dict[str, Any]:
        return {
            "login": login,
            "id": 1 + sum(login.encode()),
            "type": "Bot" if login.endswith("[bot]") else "User",
            "url": f"{self._users}/{login}",
        }

    def _maybe_user(self, login: str | None) -> dict[str, Any] | None:
        return None if login is None else self.user(login)

    def comment(self, comment: Comment) -> dict[str, Any]:
        page = f"{self._site}/pull/{comment.pull_request}"
        return {
            "id": comment.id,
            "url": f"{self._repo}/issues/comments/{comment.id}",
            "html_url": f"{page}#issuecomment-{comment.id}",
            "issue_url": f"{self._repo}/issues/{comment.pull_request}",
            "user": self._maybe_user(comment.author),
            "body": comment.body,
            "created_at": comment.created_at,
            "updated_at": comment.updated_at,
        }

    def label(self, name: str) -> dict[str, Any]:
        url = f"{self._repo}/labels/{name}"
        return {"id": 1 + sum(name.encode()), "name": name, "color": "ededed", "url": url}

    def event(self, event: Event) -> dict[str, Any]:
        label = {} if event.label is None else {"label": {"name": event.label, "color": "ededed"}}
        return {
            **label,
            "id": event.id,
            "url": f"{self._repo}/issues/events/{event.id}",
            "event": event.kind,
            "actor": self._maybe_user(event.actor),
        }

    def pull(self, pull: PullRequest) -> dict[str, Any]:
        return {
            "number": pull.number,
            "state": pull.state,
            "url": f"{self._repo}/pulls/{pull.number}",
            "html_url": f"{self._site}/pull/{pull.number}",
            "labels": [self.label(name) for name in pull.labels],
            "base": {
                "label": f"octo:{pull.base_branch}",
                "ref": pull.base_branch,
                "sha": pull.base_sha,
                "user": self.user("octo"),
            },
            "head": {
                "label": f"{pull.head_owner}:{pull.head_branch}",
                "ref": pull.head_branch,
                "sha": pull.head_sha,
                "user": self.user(pull.head_owner),
            },
        }

    def check_run(self, run: CheckRun, *, names_app: bool = True) -> dict[str, Any]:
        url = f"{self._repo}/check-runs/{run.id}"
        return {
            "id": run.id,
            "name": run.name,
            "head_sha": run.head_sha,
            "url": url,
            "html_url": f"{self._site}/runs/{run.id}",
            "details_url": run.details_url,
            "external_id": run.external_id,
            "status": run.status,
            "conclusion": run.conclusion,
            "started_at": run.started_at,
            "completed_at": run.completed_at,
            "app": {
                "id": 1 + sum(run.app_slug.encode()),
                "slug": run.app_slug,
                "name": run.app_slug,
            }
            if names_app
            else None,
            "output": {
                "title": run.title,
                "summary": run.summary,
                "text": run.text,
                "annotations_count": len(run.annotations),
                "annotations_url": f"{url}/annotations",
            },
        }

    def git(self, kind: str, sha: str) -> str:
        return f"{self._repo}/git/{kind}/{sha}"

    def branch(self, name: str, sha: str) -> dict[str, Any]:
        return {
            "ref": f"refs/heads/{name}",
            "url": f"{self._repo}/git/refs/heads/{name}",
            "object": {"type": "commit", "sha": sha, "url": self.git("commits", sha)},
        }

    def commit(self, sha: str, parents: tuple[str, ...], tree: str = EMPTY_TREE) -> dict[str, Any]:
        url = f"{self._repo}/git/commits"
        return {
            "sha": sha,
            "url": f"{url}/{sha}",
            "html_url": f"{self._site}/commit/{sha}",
            "tree": {"sha": tree, "url": self.git("trees", tree)},
            "parents": [{"sha": parent, "url": f"{url}/{parent}"} for parent in parents],
        }

    def file(self, path: str, text: str) -> dict[str, Any]:
        return {
            "type": "file",
            "encoding": "base64",
            "name": path.rsplit("/", 1)[-1],
            "path": path,
            "size": len(text.encode()),
            "content": b64encode(text.encode()).decode(),
            "url": f"{self._repo}/contents/{path}",
        }

    def run(self, number: int, status: str) -> dict[str, Any]:
        url = f"{self._repo}/actions/runs/{number}"
        return {
            "id": number,
            "status": status,
            "url": url,
            "html_url": f"{self._site}/actions/runs/{number}",
            "rerun_url": f"{url}/rerun",
        }

    def status(self, status: Status) -> dict[str, Any]:
        return {
            "id": status.id,
            "url": f"{self._repo}/statuses/{status.sha}",
            "state": status.state,
            "context": status.context,
            "description": status.description,
            "target_url": status.target_url,
            "creator": self.user(status.creator),
        }


class Page(NamedTuple):
    """A part of a list, with the header that leads to the others."""

    items: list[Any]
    link: str | None


def page(items: list[Any], url: str, query: dict[str, str]) -> Page:
    """The page that is asked for: 30 items unless told, 100 at most."""
    size = max(1, min(int(query.get("per_page", "30")), 100))
    number = max(1, int(query.get("page", "1")))
    last = max(1, -(-len(items) // size))
    others = {"prev": number - 1, "next": number + 1, "last": last, "first": 1}
    backwards, forwards = number > 1, number < last
    shown = {"prev": backwards, "first": backwards, "next": forwards, "last": forwards}
    links = [
        f'<{url}?{_query(query, other)}>; rel="{name}"'
        for name, other in others.items()
        if shown[name]
    ]
    return Page(items[(number - 1) * size : number * size], ", ".join(links) or None)


def _query(query: dict[str, str], number: int) -> str:
    from urllib.parse import urlencode

    return urlencode({**query, "page": str(number)})
