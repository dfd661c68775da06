"""A shard's file, made by another job: data to be checked."""

from collections import defaultdict
from pathlib import Path

from pydantic import ValidationError

from gradegate.files.findings import refuse_errors
from gradegate.files.json_document import parse, read_text
from gradegate.files.schema_errors import schema_findings
from gradegate.model.errors import FileError
from gradegate.model.evalset import CaseKey
from gradegate.model.runs import SideName
from gradegate.model.shard import SHARD_SCHEMA, ShardFile


def read_shard_file(path: Path) -> ShardFile:
    """A shard's file, valid in every field, with runs of its own cases alone.

    Raises:
        FileError: it is not; the message says where.
    """
    text = read_text(path, str(path))
    try:
        file = ShardFile.model_validate_json(text)
    except ValidationError:
        file = _told(path, text)
    numbers: defaultdict[tuple[SideName, CaseKey], list[int]] = defaultdict(list)
    own = set(file.cases)
    for run in file.runs:
        if run.result.key not in own or (run.trace and run.trace.key != run.result.key):
            raise FileError(path, f"has a run of `{run.result.eval_id}`, which is no case of it")
        numbers[run.side, run.result.key].append(run.result.run)
    for (side, case), made in numbers.items():
        if not file.confirms and made != list(range(1, len(made) + 1)):
            raise FileError(path, f"has runs of `{case.eval_id}` on {side} out of order")
    return file


def _told(path: Path, text: str) -> ShardFile:
    """The same with the place of what is wrong, which takes longer to find."""
    document = parse(str(path), text)
    value = document.value
    if not isinstance(value, dict) or value.get("schema") != SHARD_SCHEMA:
        refuse_errors([document.finding(f'must be an object with "schema": "{SHARD_SCHEMA}"')])
    try:
        return ShardFile.model_validate(value)
    except ValidationError as error:
        refuse_errors(schema_findings(document, error))
        raise
