"""How long the agents take over each case, as it was measured last: shards are balanced by it.

What a job measures itself does not count for it: its shards are cut alike, whichever of them have
run before in the same store.
"""

from collections.abc import Iterable

from pydantic import ValidationError

from gradegate.model.base import Value
from gradegate.model.evalset import CaseKey
from gradegate.model.question import content_digest
from gradegate.model.runs import Trace
from gradegate.ports import Store

KIND = "seconds"


class Duration(Value):
    """Of one run of a case, with the job that measured it and what was known before."""

    job: str
    seconds: float
    before: float | None = None


def keep(store: Store, job: str, trace: Trace) -> None:
    """Note how long a run took, over what the same job noted of its case."""
    if trace.seconds is None:
        return
    key = content_digest(trace.key)
    last = _last(store, key)
    before = last and (last.before if last.job == job else last.seconds)
    store.forget(KIND, [key])
    noted = Duration(job=job, seconds=trace.seconds, before=before)
    store.put(KIND, key, noted.model_dump_json())


def known(store: Store, job: str, cases: Iterable[CaseKey]) -> dict[CaseKey, float]:
    """The seconds that a run takes, of the cases that other jobs have timed."""
    found = {case: _last(store, content_digest(case)) for case in cases}
    seconds = {
        case: one.before if one.job == job else one.seconds
        for case, one in found.items()
        if one is not None
    }
    return {case: one for case, one in seconds.items() if one is not None}


def _last(store: Store, key: str) -> Duration | None:
    text = store.get(KIND, key)
    try:
        return None if text is None else Duration.model_validate_json(text)
    except ValidationError:  # written by a version that kept something else
        return None
