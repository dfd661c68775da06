"""Does what a comment on a pull request asks for, and says so below it."""

from dataclasses import dataclass
from typing import NamedTuple

from gradegate.github_action.acceptance import Acceptance
from gradegate.github_action.comment_command import ALL, Accept, Misunderstood
from gradegate.github_action.plan import AnswerComment
from gradegate.locales import Locale
from gradegate.model.posting import Posted, Reaction, ReportedRun, Skipped
from gradegate.ports import Forge
from gradegate.report.escape import code_text, markdown

USAGE = """```
/gradegate rerun
/gradegate accept all: why the findings are fine
/gradegate accept CASE: why this one is
```"""


class Answered(NamedTuple):
    """What became of a command."""

    reaction: Reaction
    said: str
    """In Markdown."""


@dataclass(frozen=True)
class CommentJob:
    """One comment, answered in one language."""

    plan: AnswerComment
    forge: Forge
    words: Locale

    def carry_out(self) -> Answered:
        """Do what is asked, if whoever wrote the comment may; and what to answer."""
        plan, words = self.plan, self.words
        may_write = self.forge.may_write(plan.author)
        if isinstance(may_write, Skipped):
            return self._trouble(may_write)
        if not may_write:
            return Answered("-1", words("command.no_access"))
        if isinstance(plan.command, Misunderstood):
            said = words(f"command.misunderstood.{plan.command.why}")
            return Answered("confused", f"{said}\n\n{USAGE}")
        pull = self.forge.pull_request(plan.number)
        if isinstance(pull, Skipped):
            return self._trouble(pull)
        reported = self.forge.reported(pull.head_sha)
        if isinstance(reported, Skipped):
            return self._trouble(reported)
        if reported is None:
            return Answered("confused", words("command.no_report", sha=pull.head_sha[:7]))
        if isinstance(plan.command, Accept):
            return self._accept(plan.command, pull.head_sha, reported)
        return self._rerun(reported, words("command.rerun", sha=pull.head_sha[:7]))

    def _accept(self, command: Accept, sha: str, reported: ReportedRun) -> Answered:
        plan, words = self.plan, self.words
        comment = self.forge.read_comment(plan.number, plan.comment)
        if isinstance(comment, Skipped):
            return self._trouble(comment)
        if comment is None or comment.written_at < reported.completed_at:
            # Whoever wrote it had not seen this report.
            return Answered("confused", words("command.newer_report", sha=sha[:7]))
        acceptance = Acceptance(
            sha=sha,
            who=plan.author,
            case=command.case,
            reason=command.reason,
            pull_request=plan.number,
            by="comment",
            event=plan.comment,
        )
        kept = self.forge.remember(sha, acceptance.line())
        if isinstance(kept, Skipped):
            return self._trouble(kept)
        key = "command.accepted_all" if command.case == ALL else "command.accepted"
        said = words(key, case=f"<code>{code_text(command.case)}</code>", sha=sha[:7])
        return self._rerun(reported, said)

    def _rerun(self, reported: ReportedRun, said: str) -> Answered:
        again = self.forge.rerun(reported.run)
        if isinstance(again, Posted):
            return Answered("+1", f"{said} {self.words('command.runs_again', url=again.url)}")
        return Answered("confused", f"{said} {self._trouble(again).said}")

    def _trouble(self, why: Skipped) -> Answered:
        said = self.words("command.trouble", why=markdown(why.reason))
        needs = self.words("command.needs", permission=why.needs) if why.needs else ""
        return Answered("confused", f"{said} {needs}".strip())
