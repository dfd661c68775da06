"""Records: put together in any order, never twice, never longer than they are kept."""

from random import Random

from gradegate.model.history import LONGEST, BaseRuns, History, PassCount, Record


def record(*outcomes: str, begin: int = 0, name: str = "job") -> Record:
    """A job for each word."""
    jobs = tuple(BaseRuns(f"{name} {at}", word, at=begin + at) for at, word in enumerate(outcomes))
    return Record(eval_set="evals/a.evalset.json", eval_id="paris", criterion="match", jobs=jobs)


def test_what_is_kept_can_be_read_back() -> None:
    """As JSON, and what is worked out from it."""
    one = record("11", "10", begin=1_790_000_000)
    told = History(records={"k": one})
    assert History.model_validate_json(told.model_dump_json()) == told
    assert one.tally == PassCount(3, 4)
    assert one.outcomes == (True, True, True, False)
    assert one.scores == (1.0, 1.0, 1.0, 0.0)


def test_the_order_of_putting_together_does_not_matter() -> None:
    """Two copies that grew apart."""
    ours, theirs = record("11", "01", name="a"), record("00", begin=1, name="b")
    assert ours.plus(theirs) == theirs.plus(ours)
    assert ours.plus(theirs).tally == PassCount(3, 6)


def test_a_job_counts_once_and_with_all_of_its_runs() -> None:
    """Added twice, or once before it was whole."""
    part, whole = record("1"), record("10")
    assert part.plus(whole) == whole.plus(part) == whole.plus(whole) == whole


def test_the_oldest_go_first() -> None:
    """Eighty outcomes, of which sixty are kept."""
    long = record(*["10"] * 40)
    kept = long.plus(long)
    assert kept.tally.runs == LONGEST
    assert kept.jobs == long.jobs[-LONGEST // 2 :]


def test_runs_of_other_commits_are_left_out() -> None:
    """A record of which nothing stays goes as a whole."""
    jobs = record("11", "01").jobs
    ours, theirs = jobs[0]._replace(commit="a"), jobs[1]._replace(commit="b")
    both = record().model_copy(update={"jobs": (ours, theirs)})
    history = History(records={"k": both, "other": both.model_copy(update={"jobs": (theirs,)})})
    assert history.commits == {"a", "b"}
    kept = history.of({"a"})
    assert [(key, one.jobs) for key, one in kept.records.items()] == [("k", (ours,))]


def test_a_change_for_good_begins_anew() -> None:
    """Whichever way it goes; what still varies as it did stays one record."""
    assert record(*["11"] * 10, *["00"] * 4).since_change().tally == PassCount(0, 8)
    assert record(*["00"] * 10, *["11"] * 4).since_change().tally == PassCount(8, 8)
    assert record(*["11"] * 10, "10").since_change().tally == PassCount(21, 22)
    assert record(*["11"] * 9, *["00"] * 9, *["11"] * 9).since_change().tally == PassCount(18, 18)


def test_an_unsteady_case_hardly_ever_begins_anew() -> None:
    """At any pass rate, four hundred records of sixty outcomes."""
    draw = Random(5)
    cut = 0
    for _ in range(400):
        rate = draw.random()
        words = ["".join("01"[draw.random() < rate] for _ in range(2)) for _ in range(30)]
        whole = record(*words)
        cut += whole.since_change() != whole
    assert cut <= 4
