"""Base's earlier outcomes as a file on a branch: what it says comes back, and nothing else does."""

import json

import pytest

from gradegate.files.history_json import history_text, read_history_text
from gradegate.model.errors import FileError
from gradegate.model.history import BaseRuns, History, Record

CASES, CRITERIA, COMMITS = 200, 4, 1_000
MEGABYTE = 1_000_000


def job(number: int, outcomes: str = "11", scores: tuple[float, ...] = ()) -> BaseRuns:
    """What one job of base came to."""
    return BaseRuns(
        f"{number:016x}", outcomes, scores, commit=f"{number:040x}", at=number, model="gemini-2.0"
    )


def record(name: str, *jobs: BaseRuns, criterion: str = "response_match_score") -> Record:
    """One case's record."""
    return Record(
        suite="desk", eval_set="evals/a.evalset.json", eval_id=name, criterion=criterion, jobs=jobs
    )


SMALL = History(
    records={
        "k1": record("paris", job(1), job(2, "01", (0.25, 1.0))),
        "k2": record("\u6771\u4eac", job(2, "0")),
    }
)


def test_what_is_written_is_read_again() -> None:
    """Every field, in any script, and the same text for it."""
    text = history_text(SMALL)
    assert read_history_text(text, "main.json") == SMALL
    assert history_text(read_history_text(text, "main.json")) == text
    assert read_history_text(history_text(History()), "main.json") == History()


def test_a_commit_changes_few_lines() -> None:
    """A line a job and a line a record: git keeps the rest as it was."""
    before = set(history_text(SMALL).splitlines())
    added = SMALL.plus(History(records={"k2": record("\u6771\u4eac", job(3, "1"))}))
    after = set(history_text(added).splitlines())
    assert len(after - before) <= 3


@pytest.mark.parametrize(
    ("whole", "damaged"),
    [
        ('"schema"', '"scheme"'),
        ("history-file/v1", "history-file/v9"),
        (":01:", ":02:"),
        ("0.25,1", "0.25"),
        ("0.25,1", "1e999,1"),
        ("0.25,1", "-,+"),
        (f"{1:016x}:11", f"{7:016x}:11"),
        ("}\n}\n", "}\n"),
        (', 1, "gemini', ', -1, "gemini'),
        ('["desk", ', "["),
    ],
)
def test_a_damaged_file_is_refused_by_name(whole: str, damaged: str) -> None:
    """Whatever was done to it, one kind of error says so."""
    text = history_text(SMALL)
    assert whole in text
    with pytest.raises(FileError, match=r"main\.json"):
        read_history_text(text.replace(whole, damaged), "main.json")


@pytest.mark.parametrize("text", ["", "null", "[]", "<<<<<<< HEAD", "\ufffd" * 9, "[" * 10_000])
def test_what_is_no_history_is_refused(text: str) -> None:
    """Other things may lie on the branch."""
    with pytest.raises(FileError):
        read_history_text(text, "main.json")


def test_the_oldest_go_where_there_is_too_much() -> None:
    """By when a record was last measured; the file stays whole."""
    many = History(records={f"k{n}": record(f"case {n}", job(n)) for n in range(1, 101)})
    whole = len(history_text(many))
    text = history_text(many, at_most=whole // 2)
    kept = read_history_text(text, "main.json").records
    assert whole // 3 < len(text) <= whole // 2
    assert set(kept) == {f"k{n}" for n in range(101 - len(kept), 101)}


def test_a_thousand_commits_of_many_cases_stay_small() -> None:
    """200 cases under 4 criteria, each measured at every one of 1,000 commits."""
    history = History()
    names = [(f"case {case}", f"criterion_{n}") for case in range(CASES) for n in range(CRITERIA)]
    for start in range(0, COMMITS, 50):
        jobs = tuple(job(n, "11", (0.1234, 0.5678)) for n in range(start, start + 50))
        new = {f"{i:032x}": record(a, *jobs, criterion=b) for i, (a, b) in enumerate(names)}
        history = history.plus(History(records=new))
    text = history_text(history)
    assert len(text) < 5 * MEGABYTE
    known = read_history_text(text, "main.json")
    assert len(known.records) == CASES * CRITERIA
    assert known.commits == {f"{n:040x}" for n in range(COMMITS - 30, COMMITS)}
    assert json.loads(text)["schema"] == "gradegate/history-file/v1"
