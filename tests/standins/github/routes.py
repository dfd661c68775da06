"""What each operation does to the state, and answers."""

from collections.abc import Mapping
from typing import Any

from tests.standins.github import git_data, limits
from tests.standins.github.answer import Answer, forbidden, invalid, not_found
from tests.standins.github.model import CheckRun, Comment, Status, now
from tests.standins.github.request import REPO, Request, Routes, found


def answer(operation: str, request: Request) -> Answer:
    """Do what is asked, if the token may."""
    permission, level, handler = ROUTES[operation]
    if operation != "get /user":
        owner_and_name = f"{request.values['owner']}/{request.values['repo']}"
        if owner_and_name != request.state.repository:
            raise not_found()
    if permission is not None and not request.state.allows(permission, level):
        raise forbidden()
    return handler(request)


def _user(request: Request) -> Answer:
    if request.actor.app_slug is not None:
        raise forbidden()
    return Answer(200, request.views.user(request.actor.login))


def _list_comments(request: Request) -> Answer:
    number = request.pull().number
    comments = [c for c in request.state.comments.values() if c.pull_request == number]
    return request.pages(request.views.comment(comment) for comment in comments)


def _create_comment(request: Request) -> Answer:
    number = request.pull().number
    limits.check_comment(request.body["body"])
    comment = Comment(next(request.state.ids), number, request.actor.login, request.body["body"])
    request.state.comments[comment.id] = comment
    return Answer(201, request.views.comment(comment))


def _get_comment(request: Request) -> Answer:
    comment = found(request.state.comments, request.number("comment_id"))
    return Answer(200, request.views.comment(comment))


def _edit_comment(request: Request) -> Answer:
    comment = found(request.state.comments, request.number("comment_id"))
    limits.check_comment(request.body["body"])
    comment.body, comment.updated_at = request.body["body"], now()
    return Answer(200, request.views.comment(comment))


def _delete_comment(request: Request) -> Answer:
    comment = found(request.state.comments, request.number("comment_id"))
    del request.state.comments[comment.id]
    return Answer(204)


def _react(request: Request) -> Answer:
    comment = found(request.state.comments, request.number("comment_id"))
    content = request.body["content"]
    comment.reactions.append(content)
    shown = {"id": next(request.state.ids), "content": content, "created_at": now()}
    return Answer(201, shown | {"user": request.views.user(request.actor.login)})


def _list_events(request: Request) -> Answer:
    return request.pages(request.views.event(event) for event in request.pull().events)


def _list_labels(request: Request) -> Answer:
    return request.pages(request.views.label(name) for name in request.pull().labels)


def _create_check(request: Request) -> Answer:
    slug = _app(request)
    sha = request.commit(request.body["head_sha"])
    limits.check_output(request.body.get("output", {}))
    run = CheckRun(next(request.state.ids), request.body["name"], sha, slug)
    _change(run, request.body)
    request.state.check_runs[run.id] = run
    return Answer(201, request.shown(run))


def _update_check(request: Request) -> Answer:
    run = found(request.state.check_runs, request.number("check_run_id"))
    if _app(request) != run.app_slug:
        raise forbidden("check run can only be modified by the GitHub App that created it.")
    limits.check_output(request.body.get("output", {}))
    _change(run, _changeable(run, request))
    return Answer(200, request.shown(run))


def _changeable(run: CheckRun, request: Request) -> dict[str, Any]:
    """What a completed check takes of a change: it is never in progress again."""
    frozen = set()
    if run.status == "completed" and "conclusion" not in request.body:
        frozen = {"status", "started_at"}
    if run.status == "completed" and request.state.completed_for_good:
        frozen = {"status", "conclusion", "completed_at"}
    return {name: value for name, value in request.body.items() if name not in frozen}


def _app(request: Request) -> str:
    if request.actor.app_slug is None:
        raise forbidden("You must authenticate via a GitHub App.")
    return request.actor.app_slug


def _change(run: CheckRun, body: Mapping[str, Any]) -> None:
    """Take over what is said; a conclusion completes the check, annotations are added."""
    if body.get("status") == "completed" and "conclusion" not in body:
        raise invalid("a completed check needs a conclusion")
    for name, value in body.items():
        if name not in ("output", "head_sha", "actions"):
            setattr(run, name, value)
    for name, value in body.get("output", {}).items():
        if name in ("title", "summary", "text"):
            setattr(run, name, value)
    run.annotations += body.get("output", {}).get("annotations", [])
    if "conclusion" in body:
        run.status = "completed"
        run.completed_at = run.completed_at or now()


def _get_check(request: Request) -> Answer:
    run = found(request.state.check_runs, request.number("check_run_id"))
    return Answer(200, request.shown(run))


def _list_annotations(request: Request) -> Answer:
    run = found(request.state.check_runs, request.number("check_run_id"))
    return request.pages(run.annotations)


def _list_checks(request: Request) -> Answer:
    name, state = request.query.get("check_name"), request.query.get("status")
    runs = [
        run
        for run in request.state.check_runs.values()
        if run.head_sha == _sha(request)
        and name in (None, run.name)
        and state in (None, run.status)
    ]
    if request.query.get("filter", "latest") == "latest":
        runs = list({(run.name, run.app_slug): run for run in runs}.values())
    part = request.pages(request.shown(run) for run in runs)
    return Answer(200, {"total_count": len(runs), "check_runs": part.data}, part.headers)


def _list_statuses(request: Request) -> Answer:
    newest_first = reversed([s for s in request.state.statuses if s.sha == _sha(request)])
    return request.pages(request.views.status(status) for status in newest_first)


def _sha(request: Request) -> str:
    return request.commit(request.values["ref"])


def _create_status(request: Request) -> Answer:
    body = request.body
    limits.check_status(body.get("description"))
    status = Status(
        next(request.state.ids),
        request.commit(request.values["sha"]),
        body["state"],
        body.get("context", "default"),
        body.get("description"),
        body.get("target_url"),
        request.actor.login,
    )
    request.state.statuses.append(status)
    return Answer(201, request.views.status(status))


def _list_pulls(request: Request) -> Answer:
    state, head = request.query.get("state", "open"), request.query.get("head")
    pulls = [
        pull
        for pull in reversed(request.state.pulls.values())
        if state in (pull.state, "all") and head in (None, f"{pull.head_owner}:{pull.head_branch}")
    ]
    return request.pages(request.views.pull(pull) for pull in pulls)


def _get_pull(request: Request) -> Answer:
    return Answer(200, request.views.pull(request.pull("pull_number")))


def _permission(request: Request) -> Answer:
    login = request.values["username"]
    role = request.state.roles.get(login, "none")
    legacy = {"maintain": "write", "triage": "read"}.get(role, role)
    shown = {"permission": legacy, "role_name": role, "user": request.views.user(login)}
    return Answer(200, shown)


def _get_file(request: Request) -> Answer:
    path = request.values["path"]
    text = request.state.files.get((request.query.get("ref", "main"), path))
    if text is None:
        raise not_found()
    return Answer(200, request.views.file(path, text))


def _get_run(request: Request) -> Answer:
    number = request.number("run_id")
    return Answer(200, request.views.run(number, found(request.state.runs, number)))


def _rerun(request: Request) -> Answer:
    number = request.number("run_id")
    if found(request.state.runs, number) != "completed":
        raise forbidden("This workflow is already running")
    request.state.reruns.append(number)
    return Answer(201, {})


def _pulls_of_commit(request: Request) -> Answer:
    """Those that are open: one closed without a merge is not listed by its commits."""
    sha = request.commit(request.values["commit_sha"])
    pulls = [
        pull
        for pull in request.state.pulls.values()
        if pull.head_sha == sha and pull.state == "open"
    ]
    return request.pages(request.views.pull(pull) for pull in pulls)


ROUTES: Routes = {
    "get /user": (None, "none", _user),
    f"get {REPO}/issues/{{issue_number}}/comments": ("pull-requests", "read", _list_comments),
    f"post {REPO}/issues/{{issue_number}}/comments": ("pull-requests", "write", _create_comment),
    f"get {REPO}/issues/comments/{{comment_id}}": ("pull-requests", "read", _get_comment),
    f"patch {REPO}/issues/comments/{{comment_id}}": ("pull-requests", "write", _edit_comment),
    f"delete {REPO}/issues/comments/{{comment_id}}": ("pull-requests", "write", _delete_comment),
    f"post {REPO}/issues/comments/{{comment_id}}/reactions": ("pull-requests", "write", _react),
    f"get {REPO}/issues/{{issue_number}}/events": ("pull-requests", "read", _list_events),
    f"get {REPO}/issues/{{issue_number}}/labels": ("pull-requests", "read", _list_labels),
    f"post {REPO}/check-runs": ("checks", "write", _create_check),
    f"get {REPO}/check-runs/{{check_run_id}}": ("checks", "read", _get_check),
    f"patch {REPO}/check-runs/{{check_run_id}}": ("checks", "write", _update_check),
    f"get {REPO}/check-runs/{{check_run_id}}/annotations": ("checks", "read", _list_annotations),
    f"get {REPO}/commits/{{ref}}/check-runs": ("checks", "read", _list_checks),
    f"get {REPO}/commits/{{ref}}/statuses": ("statuses", "read", _list_statuses),
    f"post {REPO}/statuses/{{sha}}": ("statuses", "write", _create_status),
    f"get {REPO}/pulls": ("pull-requests", "read", _list_pulls),
    f"get {REPO}/pulls/{{pull_number}}": ("pull-requests", "read", _get_pull),
    f"get {REPO}/commits/{{commit_sha}}/pulls": ("pull-requests", "read", _pulls_of_commit),
    f"get {REPO}/collaborators/{{username}}/permission": (None, "none", _permission),
    f"get {REPO}/contents/{{path}}": ("contents", "read", _get_file),
    f"get {REPO}/actions/runs/{{run_id}}": ("actions", "read", _get_run),
    f"post {REPO}/actions/runs/{{run_id}}/rerun": ("actions", "write", _rerun),
    **git_data.ROUTES,
}
