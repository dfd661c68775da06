"""Who accepted a commit as it is: begun by a label or a comment, remembered in the commit's check.

A label stays on a pull request through every push, so the label alone says nothing: only the event
that sets it does, for the commit that was head at that moment. A comment speaks of the report that
was the newest when it was written. Both are kept where no pull request's code can write, in the
first lines of our own check, and hold for that commit as long as that very label is on the pull
request, or that comment stands, and whoever set or wrote it may write to the repository.
"""

import json
from collections.abc import Iterable
from typing import Literal, NamedTuple

from pydantic import ValidationError

from gradegate.github_action.comment_command import ALL, Accept, command_in
from gradegate.github_action.plan import ACCEPT_LABEL, Evaluate
from gradegate.model.base import Value
from gradegate.model.marker import HIDDEN
from gradegate.model.notice import Notice, notice
from gradegate.model.posting import LabelSet, Skipped
from gradegate.model.report import Accepted
from gradegate.ports import Forge
from gradegate.sides.git import Repo

_START, _END = f"{HIDDEN}acceptance ", " -->"


class Acceptance(Value):
    """One person's word on one commit."""

    sha: str
    who: str
    case: str = ALL
    """An eval id; or all of them, and what speaks of none."""
    reason: str = f"label {ACCEPT_LABEL}"
    pull_request: int
    by: Literal["label", "comment"] = "label"
    event: int
    """GitHub's number for the setting of the label, or for the comment."""

    def line(self) -> str:
        """As it is written down: hidden from readers, whatever the reason says."""
        text = self.model_dump_json().replace("<", r"\u003c").replace(">", r"\u003e")
        return f"{_START}{text}{_END}"

    @classmethod
    def read(cls, line: str) -> "Acceptance | None":
        """What was written down, if it is one."""
        if not (line.startswith(_START) and line.endswith(_END)):
            return None
        try:
            return cls.model_validate(json.loads(line[len(_START) : -len(_END)]))
        except (ValueError, ValidationError):
            return None


class Answer(NamedTuple):
    """The acceptances that count, if any do, and what a reader should know."""

    acceptances: tuple[Acceptance, ...] = ()
    warnings: tuple[Notice, ...] = ()

    @property
    def accepted(self) -> Accepted | None:
        """By whom and what, if somebody accepted anything."""
        if not self.acceptances:
            return None
        cases = tuple(dict.fromkeys(one.case for one in self.acceptances))
        who = ", ".join(dict.fromkeys(one.who for one in self.acceptances))
        return Accepted(who, None if ALL in cases else cases)


def acceptance_of(plan: Evaluate, forge: Forge, repo: Repo) -> Answer:
    """The acceptance of the commit that is evaluated: of this event, or remembered."""
    if not plan.may_write:
        return _without(notice("label.fork", label=ACCEPT_LABEL)) if plan.labelled else Answer()
    if plan.queued is not None:
        return _queued(plan.queued, plan, forge, repo)
    if plan.pull_request is None or plan.check_sha is None:
        return Answer()
    if plan.accepting is not None:
        return _begun(plan.pull_request, plan.check_sha, plan.accepting, forge)
    answer = _remembered(plan.pull_request, plan.check_sha, forge)
    if plan.labelled and answer == Answer():
        return _without(notice("label.too_old", label=ACCEPT_LABEL))
    return answer


def _begun(number: int, sha: str, sender: str, forge: Forge) -> Answer:
    """Somebody set the label just now."""
    found = forge.label_set(number, ACCEPT_LABEL)
    if isinstance(found, Skipped):
        return _unknown(found)
    if found is None or found.who != sender:  # taken off, or set by somebody else since
        return Answer()
    acceptance = Acceptance(sha=sha, who=sender, pull_request=number, event=found.event)
    return _by_writers([acceptance], forge)


def _remembered(number: int, sha: str, forge: Forge) -> Answer:
    """The label was set, or a comment written, for this very commit, and is there still."""
    lines = forge.remembered(sha)
    if isinstance(lines, Skipped):
        return _unknown(lines)
    read = [Acceptance.read(line) for line in lines]
    known = [one for one in read if one and (one.sha, one.pull_request) == (sha, number)]
    standing = []
    for one in known:
        stands = _label_stands(one, forge) if one.by == "label" else _comment_stands(one, forge)
        if isinstance(stands, Skipped):
            return _unknown(stands)
        if stands:
            standing.append(one)
    return _by_writers(standing, forge)


def _label_stands(one: Acceptance, forge: Forge) -> bool | Skipped:
    found = forge.label_set(one.pull_request, ACCEPT_LABEL)
    return found if isinstance(found, Skipped) else found == LabelSet(one.who, one.event)


def _comment_stands(one: Acceptance, forge: Forge) -> bool | Skipped:
    found = forge.read_comment(one.pull_request, one.event)
    if found is None or isinstance(found, Skipped):
        return found or False
    command = command_in(found.body)
    return found.author == one.who and isinstance(command, Accept) and command.case == one.case


def _queued(number: int, plan: Evaluate, forge: Forge, repo: Repo) -> Answer:
    """A merge queue asks about a commit of its own, made of one pull request or of several."""
    pull = forge.pull_request(number)
    if isinstance(pull, Skipped):
        return _unknown(pull)
    answer = _remembered(number, pull.head_sha, forge)
    onto, *merged = repo.parents(plan.revisions.head)
    if answer.acceptances and (onto != plan.revisions.base or merged not in ([], [pull.head_sha])):
        return _without(notice("label.queue", label=ACCEPT_LABEL, number=number))
    return answer


def _by_writers(acceptances: Iterable[Acceptance], forge: Forge) -> Answer:
    """Those of people who may write now."""
    counting, warnings = [], []
    for one in acceptances:
        may_write = forge.may_write(one.who)
        if isinstance(may_write, Skipped):
            return _unknown(may_write)
        if may_write:
            counting.append(one)
        else:
            warnings.append(_no_access(one))
    return Answer(tuple(counting), tuple(warnings))


def _no_access(one: Acceptance) -> Notice:
    if one.by == "comment":
        return notice("comment.no_access", who=one.who)
    return notice("label.no_access", label=ACCEPT_LABEL, who=one.who)


def _unknown(why: Skipped) -> Answer:
    return _without(notice("label.unknown", label=ACCEPT_LABEL, reason=why.reason))


def _without(told: Notice) -> Answer:
    return Answer(warnings=(told,))
