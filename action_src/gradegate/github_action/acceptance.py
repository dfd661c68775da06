"""Who accepted a commit as it is: begun by a label, remembered in the check of that commit.

A label stays on a pull request through every push, so the label alone says nothing: only the event
that sets it does, for the commit that was head at that moment. It is written down where no pull
request's code can write, in the first line of our own check, and holds for that commit as long as
that very label is on the pull request, set by somebody who may write to the repository.
"""

import json
from typing import Literal, NamedTuple

from pydantic import ValidationError

from gradegate.github_action.plan import ACCEPT_LABEL, Evaluate
from gradegate.model.base import Value
from gradegate.model.notice import Notice, notice
from gradegate.ports import Forge, LabelSet, Skipped
from gradegate.sides.git import Repo

_START, _END = "<!-- gradegate:acceptance ", " -->"


class Acceptance(Value):
    """One person's word on one commit."""

    sha: str
    who: str
    cases: Literal["all"] = "all"
    reason: str = f"label {ACCEPT_LABEL}"
    pull_request: int
    event: int
    """GitHub's number for the setting of the label."""

    def line(self) -> str:
        """As it is written down."""
        return f"{_START}{self.model_dump_json()}{_END}"

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
    """The acceptance that counts, if one does, and what a reader should know."""

    acceptance: Acceptance | None = None
    warnings: tuple[Notice, ...] = ()

    @property
    def who(self) -> str | None:
        """Who accepted it, if somebody did."""
        return self.acceptance.who if self.acceptance else None


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
    return _by_a_writer(acceptance, forge)


def _remembered(number: int, sha: str, forge: Forge) -> Answer:
    """The label was set before, for this very commit, and is there still."""
    lines = forge.remembered(sha)
    if isinstance(lines, Skipped):
        return _unknown(lines)
    read = [Acceptance.read(line) for line in lines]
    known = [one for one in read if one and (one.sha, one.pull_request) == (sha, number)]
    if not known:
        return Answer()
    found = forge.label_set(number, ACCEPT_LABEL)
    if isinstance(found, Skipped):
        return _unknown(found)
    for one in known:
        if LabelSet(one.who, one.event) == found:
            return _by_a_writer(one, forge)
    return Answer()


def _queued(number: int, plan: Evaluate, forge: Forge, repo: Repo) -> Answer:
    """A merge queue asks about a commit of its own, made of one pull request or of several."""
    pull = forge.pull_request(number)
    if isinstance(pull, Skipped):
        return _unknown(pull)
    answer = _remembered(number, pull.head_sha, forge)
    onto, *merged = repo.parents(plan.revisions.head)
    if answer.acceptance and (onto != plan.revisions.base or merged not in ([], [pull.head_sha])):
        return _without(notice("label.queue", label=ACCEPT_LABEL, number=number))
    return answer


def _by_a_writer(acceptance: Acceptance, forge: Forge) -> Answer:
    may_write = forge.may_write(acceptance.who)
    if isinstance(may_write, Skipped):
        return _unknown(may_write)
    if may_write:
        return Answer(acceptance)
    return _without(notice("label.no_access", label=ACCEPT_LABEL, who=acceptance.who))


def _unknown(why: Skipped) -> Answer:
    return _without(notice("label.unknown", label=ACCEPT_LABEL, reason=why.reason))


def _without(told: Notice) -> Answer:
    return Answer(warnings=(told,))
