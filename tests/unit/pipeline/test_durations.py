from gradegate.model.evalset import CaseKey
from gradegate.model.runs import Trace
from gradegate.pipeline import durations
from gradegate.store.sqlite import SqliteStore

PARIS, ROME = (CaseKey("desk", "evals/a.evalset.json", name) for name in ("paris", "rome"))


def paris(seconds: float | None) -> Trace:
    """A run that took so long."""
    return Trace(**PARIS._asdict(), seconds=seconds)


def test_the_last_measured_duration_is_the_one_that_is_known() -> None:
    """Of cases that were never timed there is none."""
    store = SqliteStore.in_memory()
    for seconds in (3.25, None, 1.5):
        durations.keep(store, "job", paris(seconds))
    durations.keep(store, "job", Trace(**ROME._asdict()))
    assert durations.known(store, "next", [PARIS, ROME]) == {PARIS: 1.5}


def test_what_a_job_measures_itself_does_not_count_for_it() -> None:
    """Else the shards of one job would be cut in different ways, on one machine."""
    store = SqliteStore.in_memory()
    durations.keep(store, "job", paris(1))
    assert durations.known(store, "job", [PARIS]) == {}
    durations.keep(store, "next", paris(2))
    durations.keep(store, "next", paris(3))
    assert durations.known(store, "next", [PARIS]) == {PARIS: 1}
    assert durations.known(store, "last", [PARIS]) == {PARIS: 3}


def test_what_cannot_be_read_is_no_duration() -> None:
    """As another version may have left it."""
    store = SqliteStore.in_memory()
    durations.keep(store, "job", paris(2))
    ((key, _),) = store.news(durations.KIND).items()
    store.forget(durations.KIND, [key])
    store.put(durations.KIND, key, "soon")
    assert durations.known(store, "next", [PARIS]) == {}
    durations.keep(store, "job", paris(2))
    assert durations.known(store, "next", [PARIS]) == {PARIS: 2}
