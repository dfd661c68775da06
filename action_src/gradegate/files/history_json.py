"""Base's earlier outcomes as a file that git keeps well: a line a job, a line a record.

A commit changes few lines of it, and what is written twice is written alike. It is read from a
branch that others may write to: data to be checked.
"""

import json
import math
from collections.abc import Mapping
from typing import Annotated, Final, Literal, NamedTuple

from pydantic import Field, ValidationError

from gradegate.model.base import Value
from gradegate.model.errors import FileError
from gradegate.model.history import BaseRuns, History, Record

FILE_SCHEMA: Final = "gradegate/history-file/v1"
LARGEST = 4_000_000
"""Bytes; beyond it the records that were measured longest ago are left out."""
_DIGITS = 4
"""Of a score: more would only take room."""


class _Job(NamedTuple):
    commit: str
    at: Annotated[int, Field(ge=0)]
    model: str


class _Line(NamedTuple):
    suite: str
    eval_set: str
    eval_id: str
    criterion: str
    judge: str
    runs: Annotated[str, Field(pattern=r"^\w+:[01]+(:[0-9.,e+-]+)?( \w+:[01]+(:[0-9.,e+-]+)?)*$")]
    """`job:outcomes:scores` of each job, the scores where they say more than the outcomes."""


class _File(Value):
    schema_: Literal["gradegate/history-file/v1"] = Field(alias="schema")
    jobs: dict[Annotated[str, Field(pattern=r"^\w+$")], _Job]
    records: dict[str, _Line]


def history_text(history: History, at_most: int = LARGEST) -> str:
    """The file; `at_most` so many bytes, for which the oldest records go."""
    told = {key: json.dumps(_line(one)) for key, one in history.records.items()}
    jobs = {key: {one.job for one in record.jobs} for key, record in history.records.items()}
    known = {one.job: one for record in history.records.values() for one in record.jobs}
    shown = {name: json.dumps([one.commit, one.at, one.model]) for name, one in known.items()}
    newest = sorted(told, key=lambda key: (-history.records[key].jobs[-1].at, key))
    kept: list[str] = []
    named: set[str] = set()
    size = len(_text({}, {}))
    for key in newest:
        new = jobs[key] - named
        size += _room(key, told[key]) + sum(_room(name, shown[name]) for name in new)
        if size > at_most:
            break
        kept.append(key)
        named |= new
    in_time = sorted(named, key=lambda name: (known[name].at, name))
    return _text({name: shown[name] for name in in_time}, {key: told[key] for key in sorted(kept)})


def read_history_text(text: str, label: str) -> History:
    """The records in the file.

    Raises:
        FileError: it is not one, or is damaged.
    """
    try:
        file = _File.model_validate_json(text)
        return History(
            records={key: _record(line, file.jobs) for key, line in file.records.items()}
        )
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise FileError(label, f"{place}: {first['msg']}" if place else first["msg"]) from error
    except (KeyError, ValueError) as error:
        raise FileError(label, f"a record does not fit its jobs: {error}") from error


def _text(jobs: Mapping[str, str], records: Mapping[str, str]) -> str:
    parts = (("jobs", jobs), ("records", records))
    told = ",\n".join(f'"{name}": {{\n{_lines(lines)}\n}}' for name, lines in parts)
    return f'{{"schema": "{FILE_SCHEMA}",\n{told}\n}}\n'


def _lines(told: Mapping[str, str]) -> str:
    return ",\n".join(f"{json.dumps(key)}: {value}" for key, value in told.items())


def _room(key: str, value: str) -> int:
    """All of it is ASCII."""
    return len(json.dumps(key)) + len(value) + len(": ,\n")


def _line(record: Record) -> _Line:
    runs = " ".join(
        ":".join((one.job, one.outcomes, ",".join(map(_short, one.scores)))).removesuffix(":")
        for one in record.jobs
    )
    return _Line(
        record.suite, record.eval_set, record.eval_id, record.criterion, record.judge, runs
    )


def _short(score: float) -> str:
    return f"{round(score, _DIGITS):g}"


def _record(line: _Line, jobs: Mapping[str, _Job]) -> Record:
    *names, runs = line
    about = dict(zip(_Line._fields, names, strict=False))
    return Record(**about, jobs=tuple(_runs(text, jobs) for text in runs.split(" ")))


def _runs(text: str, jobs: Mapping[str, _Job]) -> BaseRuns:
    name, outcomes, *told = text.split(":")
    scores = tuple(map(float, told[0].split(","))) if told else ()
    if scores and len(scores) != len(outcomes):
        raise ValueError(f"job {name} has {len(outcomes)} outcomes and {len(scores)} scores")
    if not all(map(math.isfinite, scores)):
        raise ValueError(f"a score of job {name} is no number")
    commit, at, model = jobs[name]
    return BaseRuns(name, outcomes, scores, commit=commit, at=at, model=model)
