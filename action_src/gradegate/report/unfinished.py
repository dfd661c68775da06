"""What is shown of a job that came to no report."""

from typing import Literal, NamedTuple

from gradegate.locales import commit as short
from gradegate.locales import locale_of
from gradegate.model.marker import marker
from gradegate.model.posting import CheckOutput
from gradegate.report.escape import clip, fenced
from gradegate.report.render import ViewOptions

Why = Literal["cancelled", "input", "internal", "left_behind", "no_report"]
MOST_DETAIL = 20_000


class Unfinished(NamedTuple):
    """The same for everybody who was waiting for a report."""

    check: CheckOutput
    comment: str
    summary: str


def unfinished(why: Why, commit: str, options: ViewOptions, detail: str = "") -> Unfinished:
    """The check, the comment and the job's summary; `detail` is quoted as it is."""
    words = locale_of(options.language)
    title = words(f"unfinished.{why}.title")
    said = words(f"unfinished.{why}", commit=short(commit))
    text = f"{said}\n\n{fenced(clip(detail, MOST_DETAIL))}" if detail else said
    summary = f"## ⚠️ {title}\n\n{text}\n"
    return Unfinished(
        check=CheckOutput("failure" if detail or why == "no_report" else "cancelled", title, text),
        comment=f"{marker(options.check_name)}\n\n{summary}",
        summary=summary,
    )
