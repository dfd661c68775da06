"""Samples vote in the order asked, until no later one could change the outcome."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradegate.judge import votes
from gradegate.model.question import PlainText, no_ballot
from gradegate.ports import Reply
from tests.standins.judging import Opinion, Opinions, question, questions_on, says

YES, NO = Opinion(reasoning="r", verdict="yes"), Opinion(reasoning="r", verdict="no")
OUTCOMES: dict[str, Opinion | str] = {"y": YES, "n": NO, "x": "unreadable"}


def outcomes(letters: str) -> list[Opinion | str]:
    """Outcomes from their letters: y(es), n(o), x (unusable)."""
    return [OUTCOMES[letter] for letter in letters]


@pytest.mark.parametrize(
    ("letters", "samples", "more"),
    [
        ("", 1, 1),
        ("", 2, 1),  # a no and a tie both mean no
        ("", 3, 2),
        ("", 4, 2),
        ("", 5, 3),
        ("", 7, 4),
        ("n", 2, 0),
        ("y", 2, 1),
        ("yyy", 5, 0),
        ("nnn", 5, 0),
        ("yyn", 5, 1),
        ("ynyn", 5, 1),
        ("nn", 4, 0),
        ("yy", 4, 1),
        ("yyx", 5, 1),
        ("yyxx", 5, 1),  # two usable of five are too few
        ("xxx", 5, 0),  # the quorum is out of reach
        ("xx", 5, 1),
        ("xxx", 6, 1),
        ("x", 1, 0),
    ],
)
def test_only_samples_that_are_certain_to_be_needed_are_asked(
    letters: str, samples: int, more: int
) -> None:
    """So many more samples are asked side by side, whatever they will say."""
    assert votes.needed(question(), outcomes(letters), samples) == more


@pytest.mark.parametrize(
    ("letters", "samples", "yes"),
    [
        ("yyy", 5, True),
        ("nynyy", 5, True),
        ("ynyn", 4, False),
        ("yx", 2, True),
        ("yynx", 4, True),
        ("nnn", 5, False),
        ("yyxxn", 5, True),
    ],
)
def test_the_majority_of_usable_answers_decides_and_a_tie_is_no(
    letters: str, samples: int, *, yes: bool
) -> None:
    """An unusable answer spends its sample and does not vote."""
    result = votes.count(question(), outcomes(letters), samples)
    assert (result.failure, dict(result.yes)) == (None, {"verdict": yes})


@pytest.mark.parametrize(("letters", "samples"), [("xxx", 5), ("yyxxx", 5), ("x", 1), ("xxx", 4)])
def test_too_few_usable_answers_are_a_failure_with_its_reasons(letters: str, samples: int) -> None:
    """Fewer than half is no outcome, and the reasons are told once each."""
    failure = votes.count(question(), outcomes(letters), samples).failure
    assert failure is not None
    assert failure.count("unreadable") == 1
    assert f"{letters.count('y')} usable of {len(letters)} answers" in failure


ENTRY = st.sampled_from([True, False])


@st.composite
def sampled(draw: st.DrawFn) -> tuple[tuple[str, ...], list[Opinions | str]]:
    """Entries to vote on, and all the answers that a judge would give in order."""
    entries = draw(st.sampled_from([("a",), ("a", "b"), ("a", "b", "c", "d")]))
    votes_on_all = st.fixed_dictionaries(dict.fromkeys(entries, ENTRY))
    answer = st.one_of(st.just("unreadable"), votes_on_all)
    said = draw(st.lists(answer, min_size=1, max_size=11))
    return entries, [
        it
        if isinstance(it, str)
        else Opinions(verdicts={name: "yes" if yes else "no" for name, yes in it.items()})
        for it in said
    ]


@given(sampled())
def test_stopping_early_comes_to_what_all_samples_would_have(
    case: tuple[tuple[str, ...], list[Opinions | str]],
) -> None:
    """Outcome and failure are those of the full vote, for every entry."""
    entries, said = case
    asked, samples = questions_on(*entries), len(said)
    heard: list[Opinions | str] = []
    while more := votes.needed(asked, heard, samples):
        heard += said[len(heard) : len(heard) + more]
    early, full = votes.count(asked, heard, samples), votes.count(asked, said, samples)
    assert (early.failure is None) == (full.failure is None)
    if full.failure is None:
        assert dict(early.yes) == dict(full.yes)


@given(sampled())
def test_asking_side_by_side_asks_no_more_than_one_after_the_other(
    case: tuple[tuple[str, ...], list[Opinions | str]],
) -> None:
    """No wave contains a sample that an answer before it could have made needless."""
    entries, said = case
    asked, samples = questions_on(*entries), len(said)
    in_waves = 0
    while more := votes.needed(asked, said[:in_waves], samples):
        in_waves += more
    singly = next(n for n in range(samples + 1) if not votes.needed(asked, said[:n], samples))
    assert in_waves == singly


def test_a_question_without_a_ballot_is_settled_by_its_first_usable_answer() -> None:
    """It is asked one sample at a time, and again only after an unusable one."""
    asked = question(ballot=no_ballot)
    assert votes.needed(asked, [], 3) == 1
    assert votes.needed(asked, ["unreadable"], 3) == 1
    assert votes.needed(asked, ["unreadable", YES], 3) == 0
    assert votes.count(asked, ["unreadable", YES], 3).failure is None
    assert votes.count(asked, ["unreadable"] * 3, 3).failure is not None


def test_an_answer_that_votes_on_other_things_is_not_usable() -> None:
    """What the first usable answer votes on is what is voted on."""
    first = Opinions(verdicts={"a": "yes"})
    other = Opinions(verdicts={"b": "yes"})
    result = votes.count(questions_on("a"), [first, other, first], 3)
    assert dict(result.yes) == {"a": True}
    assert len(result.unusable) == 1


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "Invalid JSON"),
        ('{"reasoning": "r", "verd', "Invalid JSON"),
        ("yes", "Invalid JSON"),
        ('```json\n{"reasoning": "r", "verdict": "yes"}\n```', "Invalid JSON"),
        ('{"reasoning": "r", "verdict": "unsure"}', "verdict: "),
        ('{"reasoning": "r", "verdict": "yes", "score": 1}', "score: "),
        ('{"verdict": "yes"}', "reasoning: "),
        ('[{"reasoning": "r", "verdict": "yes"}]', "should be an object"),
    ],
)
def test_a_reply_that_does_not_validate_is_no_answer(text: str, why: str) -> None:
    """Nothing is guessed out of it, and the reason says what is wrong."""
    outcome = votes.read(question(), Reply(text))
    assert isinstance(outcome, str)
    assert why in outcome


def test_an_objection_makes_a_well_formed_answer_unusable() -> None:
    """The criterion knows what must be in an answer."""
    asked = question(objection=lambda answer: "too short" if answer.reasoning == "r" else None)
    assert votes.read(asked, Reply('{"reasoning": "r", "verdict": "yes"}')) == "too short"
    assert isinstance(votes.read(asked, says("yes")), Opinion)


def test_a_blocked_reply_is_unusable_whatever_its_text() -> None:
    """The service's own reason counts, not what was said until then."""
    assert votes.read(question(), says("yes")._replace(unusable="blocked")) == "blocked"


def test_plain_text_is_taken_as_it_is() -> None:
    """A question for words gets words, also where they look like JSON."""
    asked: Any = question(answer=PlainText, ballot=no_ballot)
    assert votes.read(asked, Reply('{"text": "x"}')) == PlainText(text='{"text": "x"}')
