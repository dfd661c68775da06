from collections.abc import Callable

from gradegate.compare.case_results import PairedResult, paired_results
from gradegate.compare.pairing import Pair
from gradegate.compare.screening import Fresh, next_runs, suspects_of
from gradegate.model.evalset import Case, CaseKey
from gradegate.model.report import Verdict
from gradegate.model.runs import Role, ScoredRun
from gradegate.model.settings import Gate
from tests.runs import MATCH, TOOLS, a_case, both, runs_of, scored

CASE = a_case()
Sides = tuple[dict[CaseKey, list[ScoredRun]], dict[CaseKey, list[ScoredRun]]]
Letter = Callable[[str, Role], str]


def judged(base: str | None, head: str, case: Case = CASE) -> PairedResult:
    """A judgement of the first pass."""
    pair = both(case) if base is not None else Pair(None, case)
    before = None if base is None else runs_of([(case, base)])
    return paired_results(pair, before, runs_of([(case, head)]), {})[0]


def test_what_one_pass_does_not_settle() -> None:
    """Worse on head, or failing on both; new and failing; nothing that passes or is unknown."""
    sides = ["pf", "pe", "ff", "fp", "pp", "p?", "?f", "?p"]
    judgements = [judged(letters[0], letters[1], a_case(letters)) for letters in sides]
    judgements += [judged(None, head, a_case(f"new {head}")) for head in "pf?e"]
    doubts = suspects_of(judgements)
    assert [one.pair.key.eval_id for one in doubts.suspects] == ["pf", "pe", "ff"]
    assert [one.pair.key.eval_id for one in doubts.newcomers] == ["new f", "new e"]


def settle(
    judgements: list[PairedResult], answer: Letter, quarantined: frozenset[CaseKey] = frozenset()
) -> tuple[dict[str, Verdict], list[Fresh]]:
    """Make every run that is asked for until nothing is; verdicts by case, and what was asked."""
    sides: Sides = ({}, {})
    cases = {one.pair.key: one.pair.head for one in judgements}
    asked: list[Fresh] = []
    while True:
        found = next_runs(suspects_of(judgements), *sides, Gate(), quarantined)
        if not isinstance(found, tuple):
            return {key.eval_id: one.verdict for (key, _), one in found.items()}, asked
        asked += found
        for one in found:
            case = cases[one.key]
            assert case is not None
            for side, times, runs in zip(("base", "head"), one[2:], sides, strict=True):
                made = runs.setdefault(one.key, [])
                for _ in range(times):
                    made.append(scored(case, len(made) + 1, answer(side, one.role), role=one.role))


def test_an_agent_that_crashes_on_head_and_passes_on_base_is_confirmed() -> None:
    """Screened on head, then fresh runs of both sides."""
    verdicts, asked = settle([judged("p", "e")], lambda side, _: "p" if side == "base" else "e")
    assert verdicts == {"paris": Verdict.REGRESSED}
    assert {one.role for one in asked} == {Role.SCREEN, Role.CONFIRM}
    assert all(one.base == 0 for one in asked if one.role is Role.SCREEN)


def test_a_case_that_passes_when_run_again_is_flaky() -> None:
    """Base is not even asked."""
    verdicts, asked = settle([judged("p", "f")], lambda _side, _role: "p")
    assert verdicts == {"paris": Verdict.FLAKY}
    assert sum(one.base for one in asked) == 0


def test_a_case_that_fails_on_both_is_unchanged_where_base_fails_again() -> None:
    """One more run of base is all it costs."""
    verdicts, asked = settle([judged("f", "f")], lambda _side, _role: "f")
    assert verdicts == {"paris": Verdict.UNCHANGED}
    assert asked == [Fresh(CASE.key, Role.RECHECK, 1, 0)]


def test_a_new_case_that_keeps_failing_fails() -> None:
    """Three fresh failures; base has nothing to say."""
    verdicts, asked = settle([judged(None, "f")], lambda _side, _role: "f")
    assert verdicts == {"paris": Verdict.UNCHANGED}
    assert sum(one.head for one in asked) == 3
    assert sum(one.base for one in asked) == 0


def test_a_new_case_that_fails_now_and_then_is_flaky() -> None:
    """Two passes are enough."""
    verdicts, asked = settle([judged(None, "f")], lambda _side, _role: "p")
    assert verdicts == {"paris": Verdict.FLAKY}
    assert sum(one.head for one in asked) == 2


def test_fresh_runs_that_cannot_be_evaluated_come_to_an_end() -> None:
    """A dead judge makes a suspect uncertain, not the job endless."""
    for base in ("p", "f", None):
        verdicts, asked = settle([judged(base, "f")], lambda _side, _role: "?")
        assert verdicts == {"paris": Verdict.UNCERTAIN}
        assert sum(one.base + one.head for one in asked) < 20


def test_one_run_of_a_case_serves_all_of_its_criteria() -> None:
    """Two criteria that fail together cost no more than one."""
    letters = {MATCH: "f", TOOLS: "f"}
    runs = runs_of([(CASE, "f")], names=list(letters)), runs_of([(CASE, "p")], names=list(letters))
    judgements = paired_results(both(CASE), runs[1], runs[0], {})
    assert len(judgements) == 2
    found = next_runs(suspects_of(judgements), {}, {}, Gate(), frozenset())
    assert found == (Fresh(CASE.key, Role.SCREEN, 0, 2),)


def test_a_case_in_quarantine_is_tested_by_itself() -> None:
    """It takes nothing from the level of those that can block."""
    other = a_case("rome")
    judgements = [judged("p", "f"), judged("p", "f", other)]

    def broken(side: str, _role: Role) -> str:
        return "p" if side == "base" else "f"

    _, together = settle(judgements, broken)
    _, apart = settle(judgements, broken, frozenset({other.key}))
    assert sum(one.base for one in apart) < sum(one.base for one in together)
