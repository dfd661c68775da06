"""Suspects weighed against base's history, through the very function that says what to run."""

from random import Random

import pytest

from gradegate.compare.base_history import NO_HISTORY, BaseHistory
from gradegate.compare.comparison import Comparison, compare
from gradegate.compare.gate import decide, soaked
from gradegate.compare.memory import Rule, is_suspicious, weigh
from gradegate.compare.next_runs import wanted_runs
from gradegate.compare.screening import Suspect
from gradegate.compare.stats.bayes import ORDINARY
from gradegate.compare.stats.exact import Count
from gradegate.model.evalset import Case, CaseKey
from gradegate.model.history import BaseRuns, Record
from gradegate.model.report import State, Verdict
from gradegate.model.runs import Role, Runs, SideName
from gradegate.model.settings import Gate
from tests.runs import MATCH, a_case, both, scored, terms_of

CASES = [a_case(f"c{number}") for number in range(20)]
MEMORY = Gate(rule="memory")
RULE = Rule(alpha=0.02, most=16)


def record(outcomes: str, case: Case = CASES[0]) -> Record:
    """Of one run a job."""
    jobs = tuple(BaseRuns(f"job {at}", one, at=at) for at, one in enumerate(outcomes))
    return Record(eval_set=case.eval_set, eval_id=case.eval_id, criterion=MATCH, jobs=jobs)


def history_of(outcomes: str, cases: list[Case] = CASES) -> BaseHistory:
    """All cases did the same."""
    return BaseHistory({(case.key, MATCH): record(outcomes, case) for case in cases})


class PullRequest:
    """Runs that come out as said: by side and case, a letter a run or a chance to pass."""

    def __init__(self, history: BaseHistory, **says: str | float) -> None:
        self.history = history
        self.says = says
        self.terms = terms_of([both(case) for case in CASES], MEMORY)
        self.runs = Runs()
        self.draw = Random(3)

    def done(self) -> Comparison:
        """Makes what is wanted until nothing more is."""
        by_key = {case.key: case for case in CASES}
        while missing := self.runs.missing(wanted_runs(self.terms, self.runs, self.history)):
            for side, key, role, total in missing:
                while len(self.runs.of(side, key, role)) < total:
                    number = len(self.runs.of(side, key)) + 1
                    letter = self._letter(side, key, number)
                    self.runs.add(side, key, scored(by_key[key], number, letter, role=role))
        return compare(self.terms, self.runs, self.history)

    def _letter(self, side: SideName, key: CaseKey, number: int) -> str:
        says = self.says.get(f"{side}_{key.eval_id}", self.says.get(side, 1.0))
        if isinstance(says, str):
            return says[min(number, len(says)) - 1]
        return "p" if self.draw.random() < says else "f"

    def of_base(self, role: Role | None = None) -> int:
        """How many runs were made of base."""
        return sum(len(self.runs.of("base", case.key, role)) for case in CASES)


def test_base_is_not_run_where_its_history_is_known() -> None:
    """All pass, as ever: one pass of head is all it takes."""
    pull = PullRequest(history_of("1" * 20))
    found = pull.done()
    assert pull.of_base() == 0
    assert [one.verdict for one in found.criteria] == [Verdict.UNCHANGED]
    assert decide(found.reasons, found.undecided, pull.terms).state is State.PASS


@pytest.mark.parametrize("history", [NO_HISTORY, history_of("1111"), history_of("1" * 20)])
def test_a_broken_case_is_found(history: BaseHistory) -> None:
    """Without a history, with one too short to use, and with a long one."""
    pull = PullRequest(history, head_c3="f")
    found = pull.done()
    broken = found.cases[3].criteria[MATCH]
    assert (broken.verdict, broken.confirmed) == (Verdict.REGRESSED, True)
    assert decide(found.reasons, found.undecided, pull.terms).state is State.FAIL
    assert pull.of_base(Role.CONFIRM) >= 2
    assert (pull.of_base(Role.FIRST) == 0) == (history.tally((CASES[3].key, MATCH)).runs == 20)


def test_a_case_that_always_failed_now_and_then_is_no_suspect() -> None:
    """Base passed it every other time: one failure is what was to be expected."""
    pull = PullRequest(history_of("10" * 10, CASES[:1]), head_c0="f")
    found = pull.done()
    assert found.cases[0].criteria[MATCH].verdict is Verdict.FLAKY
    assert pull.of_base(Role.CONFIRM) == 0
    assert not pull.runs.of("head", CASES[0].key, Role.CONFIRM)


def test_a_suspect_that_passes_again_costs_little() -> None:
    """It failed once and never again."""
    pull = PullRequest(history_of("1" * 20), head_c5="fp")
    found = pull.done()
    assert found.cases[5].criteria[MATCH].verdict is Verdict.FLAKY
    assert len(pull.runs.of("head", CASES[5].key)) <= 4


def test_a_case_without_a_history_is_compared_with_base_as_ever() -> None:
    """The others' history stands in for base, not this one's."""
    pull = PullRequest(history_of("1" * 20, CASES[1:]), base_c0="f", head_c0="f")
    found = pull.done()
    assert [case.key for case in CASES if pull.runs.of("base", case.key)] == [CASES[0].key]
    assert found.cases[0].criteria[MATCH].verdict is Verdict.UNCHANGED


def test_a_bad_day_blocks_nobody() -> None:
    """The service is down for half of the questions, for base as for head."""
    said = []
    for seed in range(10):
        pull = PullRequest(history_of("1" * 40), base=0.5, head=0.5)
        pull.draw = Random(seed)
        found = pull.done()
        said.append(decide(found.reasons, found.undecided, pull.terms).state)
    assert State.FAIL not in said


def test_a_record_of_before_a_change_counts_for_nothing() -> None:
    """The case broke on base and stayed broken: head does no worse."""
    pull = PullRequest(history_of("1" * 40 + "0" * 20), base="f", head="f")
    found = pull.done()
    assert {one.criteria[MATCH].verdict for one in found.cases} == {Verdict.UNCHANGED}


def test_asking_again_with_the_same_runs_asks_for_the_same() -> None:
    """A function of what there is: nothing is left to ask once it is done."""
    pull = PullRequest(history_of("1" * 20), head_c3="f", head_c4="fpfp")
    pull.done()
    again = Runs(pull.runs.base, pull.runs.head)
    assert not again.missing(wanted_runs(pull.terms, again, pull.history))


def test_the_more_suspects_the_more_is_asked_of_each() -> None:
    """The same runs, alone and among twenty."""
    runs = {"base": (True, True), "head": (False,) * 3 + (True,) * 13}
    earlier = Count(27, 30)
    alone = [Suspect((CASES[0].key, MATCH), earlier=earlier, **runs)]  # type: ignore[arg-type] # base and head
    among = [Suspect((case.key, MATCH), earlier=earlier) for case in CASES[1:]]
    few = weigh(alone, RULE).confirmations[CASES[0].key, MATCH]
    many = weigh([*alone, *among], RULE).confirmations[CASES[0].key, MATCH]
    assert few.bayes_factor is not None
    assert many.bayes_factor is not None
    assert few.bayes_factor >= RULE.needed(earlier)
    assert few.confirmed
    assert not many.confirmed


def test_lost_runs_are_asked_for_again_and_then_given_up() -> None:
    """Five of head's came to nothing."""
    one = Suspect((CASES[0].key, MATCH), earlier=Count(20, 20), head=(None,), base=(True, True))
    (request,) = weigh([one], RULE).wanted
    assert request.side == "head"
    assert request.total > 1
    lost = Suspect((CASES[0].key, MATCH), earlier=Count(20, 20), head=(None,) * 5)
    found = weigh([lost], RULE)
    assert not found.wanted
    assert found.confirmations[lost.id].verdict is Verdict.UNCERTAIN


@pytest.mark.parametrize(
    ("earlier", "head", "suspicious"),
    [
        (Count(20, 20), Count(0, 1), True),
        (Count(20, 20), Count(1, 1), False),
        (Count(10, 20), Count(0, 1), False),
        (Count(10, 20), Count(0, 2), True),
        (Count(0, 20), Count(0, 2), False),
    ],
)
def test_what_is_worth_a_closer_look(earlier: Count, head: Count, *, suspicious: bool) -> None:
    """What is rare, given what base did."""
    assert is_suspicious(earlier, head, ORDINARY) == suspicious


def test_an_advisory_case_is_reported_and_never_blocks() -> None:
    """Nor does it make the others less remarkable."""
    pull = PullRequest(history_of("1" * 20), head_c3="f")
    gate = Gate(rule="memory", case=({"case": "c3", "level": "advisory"},))
    pull.terms = terms_of(pull.terms.pairs, gate)
    found = pull.done()
    decision = decide(found.reasons, found.undecided, pull.terms)
    assert decision.state is State.PASS
    assert [note.eval_id for note in decision.notes] == ["c3"]


@pytest.mark.parametrize("rule", ["exact", "memory"])
def test_a_critical_case_is_named_first_and_decided_apart(rule: str) -> None:
    """Of two that broke the later one is critical."""
    pull = PullRequest(history_of("1" * 20), head_c3="f", head_c9="f")
    gate = Gate(rule=rule, case=({"case": "c9", "level": "critical"},))
    pull.terms = terms_of(pull.terms.pairs, gate)
    found = pull.done()
    decision = decide(found.reasons, found.undecided, pull.terms)
    assert [reason.eval_id for reason in decision.reasons] == ["c9", "c3"]


def test_a_gate_that_soaks_blocks_nobody_and_says_what_it_would_have_done() -> None:
    """What it holds against the pull request stands among the notes."""
    pull = PullRequest(history_of("1" * 20), head_c3="f")
    found = pull.done()
    decision, told = soaked(decide(found.reasons, found.undecided, pull.terms))
    assert decision.state is State.PASS
    assert [note.eval_id for note in decision.notes] == ["c3"]
    assert [one.code for one in told] == ["soak.fail"]
    assert soaked(decision) == (decision, ())


def test_a_case_that_is_probably_worse_is_named() -> None:
    """Five of sixteen runs fail: too few to block by, and too many to keep quiet about."""
    pull = PullRequest(history_of("1" * 20), head_c3="ffppfppfppfpppppf")
    found = pull.done()
    told = found.cases[3].criteria[MATCH]
    assert (told.verdict, told.probably_worse) == (Verdict.FLAKY, True)
    assert told.bayes_factor is not None
    assert told.bayes_factor >= 5
    assert "probably_worse" in [one.code.partition(".")[0] for one in found.remarks]


@pytest.mark.parametrize(
    ("history", "verdict"),
    [("0" * 20, Verdict.IMPROVED), ("00010001000100010001", Verdict.UNCHANGED)],
)
def test_a_pass_is_a_repair_only_where_passes_were_rare(history: str, verdict: Verdict) -> None:
    """Base never passed it, or one time in four."""
    pull = PullRequest(history_of(history, CASES[:1]), head_c0="p")
    assert pull.done().cases[0].criteria[MATCH].verdict is verdict
