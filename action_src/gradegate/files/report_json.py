"""A `report.json` made elsewhere: data to be checked, whoever made it."""

from collections.abc import Iterator
from pathlib import Path

from pydantic import ValidationError

from gradegate.files.findings import refuse_errors
from gradegate.files.json_document import parse, read_text
from gradegate.files.schema_errors import schema_findings
from gradegate.model.errors import FileError
from gradegate.model.report import REPORT_SCHEMA, Change, Reason, ReasonKind, Report, State, Verdict

LARGEST = 64 * 1024 * 1024
"""In bytes; a report of ten thousand cases has a tenth of that."""


def read_report(path: Path) -> Report:
    """A report, valid in every field, whose decision is one that its findings allow.

    Raises:
        FileError: it is not; the message says where.
    """
    if path.exists() and not path.is_file():
        raise FileError(path, "is no file: this is no report of ours")
    if path.is_file() and path.stat().st_size > LARGEST:
        raise FileError(path, f"is larger than {LARGEST >> 20} MiB: this is no report of ours")
    document = parse(str(path), read_text(path, str(path)))
    value = document.value
    if not isinstance(value, dict) or value.get("schema") != REPORT_SCHEMA:
        refuse_errors([document.finding(f'must be an object with "schema": "{REPORT_SCHEMA}"')])
    try:
        report = Report.model_validate(value)
    except ValidationError as error:
        refuse_errors(schema_findings(document, error))
        raise
    for contradiction in contradictions(report):
        raise FileError(path, f"contradicts itself: {contradiction}")
    return report


def contradictions(report: Report) -> Iterator[str]:
    """What in a report cannot be, had our gate decided.

    Every finding is a reason of the decision or a note beside it, also where an acceptance or
    a quarantine leaves it aside: a report cannot pass without a word about a case that got
    worse.
    """
    decision = report.decision
    kinds = {reason.kind for reason in decision.reasons}
    undecided = {ReasonKind.INCONCLUSIVE}
    match decision.state:
        case State.PASS if kinds:
            yield "it passes, and gives reasons not to"
        case State.INCONCLUSIVE if kinds != undecided:
            yield "it is inconclusive for other reasons than what could not be evaluated"
        case State.FAIL if not kinds - undecided:
            yield "it fails for no reason"
    told = {_place(report, reason) for reason in (*decision.reasons, *decision.notes)}
    for kind, *where in _findings(report):
        if (kind, *where) not in told:
            named = ", ".join(filter(None, where))
            yield f"there is no word in the decision about a finding ({kind}: {named})"


Place = tuple[ReasonKind, str, str, str, str]
"""A kind, and a case's suite, eval set and id, or a criterion over all cases."""


def _place(report: Report, reason: Reason) -> Place | None:
    if reason.eval_id is None:
        return reason.kind, "", "", "", reason.criterion or ""
    key = report.case_of(reason)
    return key and (reason.kind, *key, "")


def _findings(report: Report) -> Iterator[Place]:
    """What the decision must have a word about."""
    for case in report.cases:
        if case.change is Change.REMOVED:
            yield ReasonKind.REMOVED, *case.key, ""
        if any(one.verdict is Verdict.REGRESSED for one in case.criteria.values()):
            yield ReasonKind.REGRESSION, *case.key, ""
    for overall in report.criteria:
        if overall.verdict is Verdict.REGRESSED and not overall.informational:
            yield ReasonKind.REGRESSION, "", "", "", overall.name
