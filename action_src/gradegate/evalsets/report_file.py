"""A `report.json` made elsewhere: data to be checked, whoever made it."""

from pathlib import Path

from pydantic import ValidationError

from gradegate.evalsets.explain import schema_findings
from gradegate.evalsets.finding import refuse_errors
from gradegate.evalsets.positions import parse, read_text
from gradegate.model.errors import FileError
from gradegate.model.report import Report

REPORT_SCHEMA = "gradegate/report/v1"
LARGEST = 64 * 1024 * 1024
"""In bytes; a report of ten thousand cases has a tenth of that."""


def read_report(path: Path) -> Report:
    """A report, valid in every field.

    Raises:
        FileError: it is not; the message says where.
    """
    if path.is_file() and path.stat().st_size > LARGEST:
        raise FileError(path, f"is larger than {LARGEST >> 20} MiB: this is no report of ours")
    document = parse(str(path), read_text(path, str(path)))
    value = document.value
    if not isinstance(value, dict) or value.get("schema") != REPORT_SCHEMA:
        refuse_errors([document.finding(f'must be an object with "schema": "{REPORT_SCHEMA}"')])
    try:
        return Report.model_validate(value)
    except ValidationError as error:
        refuse_errors(schema_findings(document, error))
        raise
