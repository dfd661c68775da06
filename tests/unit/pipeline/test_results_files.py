from random import Random

from gradegate.model.report import Change, ReasonKind, State, Verdict
from gradegate.model.result import Results, Usage
from gradegate.pipeline.results_files import compare_results
from tests.runs import MATCH, a_case, runs_of


def results(cases: dict[str, str], **more: object) -> Results:
    """A results file: cases with a letter a run."""
    runs = runs_of([(a_case(name), letters) for name, letters in cases.items()])
    listed = tuple(run.result for made in runs.values() for run in made)
    return Results.model_validate({"cases": listed, **more})


def test_the_same_results_twice_pass() -> None:
    """Nothing is worse than itself."""
    one = results({"a": "p", "b": "f"})
    report = compare_results(one, one)
    assert report.decision.state is State.PASS
    assert {case.change for case in report.cases} == {Change.SAME}


def test_with_one_run_a_side_a_flip_blocks_unconfirmed() -> None:
    """There is nothing to test it by, and the report does not say otherwise."""
    report = compare_results(results({"a": "p", "b": "p"}), results({"a": "f", "b": "p"}))
    assert report.decision.state is State.FAIL
    found = report.cases[0].criteria[MATCH]
    assert (found.verdict, found.confirmed) == (Verdict.REGRESSED, False)


def test_with_several_runs_a_test_decides() -> None:
    """All against none is confirmed; a little worse is flaky, and blocks nobody."""
    broken = compare_results(results({"a": "pppppppp"}), results({"a": "ffffffff"}))
    assert broken.decision.state is State.FAIL
    assert broken.cases[0].criteria[MATCH].confirmed
    flaky = compare_results(results({"a": "ppppppfp"}), results({"a": "ppffpfpf"}))
    assert flaky.cases[0].criteria[MATCH].verdict is Verdict.FLAKY
    assert flaky.decision.state is State.PASS


def test_of_several_planned_runs_one_left_is_no_single_run() -> None:
    """Where the judge was away, or runs are lost from the file, a flip proves nothing."""
    report = compare_results(results({"a": "p??"}), results({"a": "?f?"}))
    assert report.cases[0].criteria[MATCH].verdict is Verdict.UNCERTAIN
    assert report.decision.state is State.INCONCLUSIVE
    base, head = results({"a": "p"}), results({"a": "ppf"})
    lost = head.model_copy(update={"cases": head.cases[2:]})
    assert compare_results(base, lost).decision.state is not State.FAIL


def test_unchanged_files_with_lost_runs_are_not_blocked() -> None:
    """Three runs a side of which two in three are lost, of cases that pass now and then."""
    rng = Random(4)

    def side() -> Results:
        return results(
            {str(n): "".join(rng.choice("???????pppf") for _ in range(3)) or "?" for n in range(10)}
        )

    said = [compare_results(side(), side()).decision.state for _ in range(60)]
    assert said.count(State.FAIL) <= 1


def test_added_failing_and_removed_cases_are_held_against_head() -> None:
    """As in a run."""
    report = compare_results(results({"old": "p"}), results({"new": "f"}))
    assert {reason.kind for reason in report.decision.reasons} == {
        ReasonKind.NEW_FAILURE,
        ReasonKind.REMOVED,
    }


def test_what_was_not_evaluated_is_inconclusive() -> None:
    """And where base has no score but head passes, it is not."""
    assert compare_results(results({"a": "p"}), results({"a": "?"})).decision.state is (
        State.INCONCLUSIVE
    )
    assert compare_results(results({"a": "?"}), results({"a": "p"})).decision.state is State.PASS


def test_commits_costs_and_warnings_come_along() -> None:
    """Base's warnings are marked as such."""
    base = results({"a": "p"}, commit="a" * 40, fingerprint="f", warnings=("slow",))
    head = results({"a": "p"}, commit="b" * 40, usage=Usage(judge_calls=3), warnings=("odd",))
    report = compare_results(base, head)
    assert (report.base.commit, report.base.fingerprint) == ("a" * 40, "f")
    assert (report.head.commit, report.usage.judge_calls) == ("b" * 40, 3)
    assert report.warnings == ("base: slow", "odd")


def test_two_empty_files_are_no_pass() -> None:
    """Nobody looked at anything."""
    decision = compare_results(Results(), Results()).decision
    assert decision.state is State.INCONCLUSIVE
    assert [reason.code for reason in decision.reasons] == ["undecided.no_cases"]
