"""Pull requests from forks: their own reports, and the commits of theirs that somebody reviewed.

A fork's own job is its author's: what it reports is shown under a name of its own and never as
success, so that it can stand in for no required check. The real check comes of a job that a
maintainer starts by hand, for the very commit that was reviewed.
"""

from dataclasses import replace
from pathlib import Path

from gradegate.files.report_json import read_report
from gradegate.github_action.plan import ACCEPT_LABEL, Evaluate
from gradegate.locales import commit as short
from gradegate.model.errors import InputError
from gradegate.model.posting import Skipped
from gradegate.model.report import Report
from gradegate.ports import Forge
from gradegate.report.render import Views
from gradegate.sides.checkout import Revisions


def name_for_forks(check_name: str) -> str:
    """The check that a fork's own report is shown under."""
    return f"{check_name} (fork)"


def report_of_fork(file: Path, head_sha: str, forge: Forge) -> Report:
    """A fork's report of the commit that GitHub names, and of no other.

    Raises:
        InputError: it is of another commit, is no report of ours, or says who accepted it.
    """
    report = read_report(file)
    if report.decision.accepted_by is not None:
        raise InputError(
            f"the report says that {report.decision.accepted_by} accepted it: the label "
            f"`{ACCEPT_LABEL}` accepts nothing of what a fork's own job computed"
        )
    if not _is_of(report.head.commit, head_sha, forge):
        raise InputError(
            f"the report is of {short(report.head.commit) or 'no commit'}, which is neither "
            f"{short(head_sha)} nor a merge of it, and GitHub says that the job ran on that"
        )
    return report


def as_a_courtesy(views: Views) -> Views:
    """The same, where what would be success decides nothing."""
    if views.check.conclusion != "success":
        return views
    return replace(views, check=views.check._replace(conclusion="neutral"))


def reviewed_revisions(plan: Evaluate, forge: Forge) -> Revisions:
    """The two commits of a pull request that somebody reviewed: its head, and where it began.

    Raises:
        InputError: it has another head by now, or cannot be looked up.
    """
    number, sha = plan.pull_request or 0, plan.check_sha or ""
    pull = forge.pull_request(number)
    if isinstance(pull, Skipped):
        raise InputError(f"pull request {number} could not be looked up: {pull.reason}")
    if pull.head_sha != sha:
        raise InputError(
            f"the head of pull request {number} is {pull.head_sha}, and the input `head-sha` says "
            f"{sha}: review what is there now, and start the workflow with its full sha"
        )
    return plan.revisions.model_copy(update={"branched_from": pull.base_branch})


def _is_of(commit: str, head_sha: str, forge: Forge) -> bool:
    if commit == head_sha:
        return True
    parents = forge.parents(commit)
    return not isinstance(parents, Skipped) and head_sha in parents[1:]
