from collections.abc import Sequence
from typing import Any

import pytest

from gradegate.criteria.response_match import ResponseMatch, rouge_1, tokens_of
from gradegate.model.evalset import EvalCase
from gradegate.model.question import Question, Votes
from gradegate.model.result import CriterionResult, Status
from gradegate.model.runs import Trace


async def nobody(question: Question[Any], samples: int) -> Votes[Any]:
    """No judge is asked."""
    raise AssertionError(f"asked for {samples} samples of {question.kind}")


def turn(said: str | dict[str, Any] | None) -> dict[str, Any]:
    """A turn that ends with this text, this content, or nothing."""
    content = {"parts": [{"text": said}]} if isinstance(said, str) else said
    return {"user_content": {"parts": [{"text": "?"}]}, "final_response": content}


async def scored(
    expected: Sequence[str | dict[str, Any] | None],
    actual: Sequence[str | dict[str, Any] | None],
    threshold: float = 0.8,
) -> CriterionResult:
    """The result of a case that expects these answers, turn by turn."""
    case = EvalCase.model_validate({"eval_id": "c", "conversation": [turn(e) for e in expected]})
    turns = [turn(a) for a in actual]
    trace = Trace.model_validate({"eval_set": "s", "eval_id": "c", "invocations": turns})
    return await ResponseMatch(threshold=threshold).score(case, trace, nobody)


@pytest.mark.parametrize(
    ("target", "prediction", "f_measure"),
    [
        ("the flight leaves at nine", "the flight leaves at nine", 1.0),
        ("the flight leaves at nine", "nine at leaves flight the", 1.0),
        # 3 of 3 said are expected, 3 of 5 expected are said: 2 x 1 x .6 / 1.6
        ("the flight leaves at nine", "flight at nine", 0.75),
        ("flight at nine", "the flight leaves at nine", 0.75),
        # a word counts as often as both sides have it: one a, one b of three each
        ("a a b", "a b b", 2 / 3),
        ("one two", "three four", 0.0),
        ("Flights BOOKED!", "flight, booking", 1.0),
        ("a-b_c", "a b c", 1.0),
        ("", "anything", 0.0),
        ("anything", "", 0.0),
        ("", "", 0.0),
        ("…", "…", 0.0),
        ("café", "cafe\u0301", 1.0),
        ("café", "cafe", 0.0),
        ("Самолёт летит", "самолёт сел", 0.5),
        ("ΣΟΦΌΣ", "σοφός", 1.0),
        ("السلام، عليكم", "السلام", 2 / 3),
        ("שלום עולם", "עולם", 2 / 3),
        ("हिन्दी है", "हिन्दी था", 0.5),
        ("東京", "京都", 0.5),
        ("ホテル", "ﾎﾃﾙ", 1.0),
        ("午前９時", "午前 9 時", 1.0),
        ("서울역", "서울", 0.8),
        ("北京", "南京", 0.5),
        ("ไป", "ไม", 0.5),
    ],
)
def test_shared_words_make_the_score(target: str, prediction: str, f_measure: float) -> None:
    """ROUGE-1 by hand: word counts shared, over words said and words expected."""
    assert rouge_1(target, prediction) == pytest.approx(f_measure, abs=1e-12)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("Two Words", ["two*", "words*"]),
        ("naïve café 3", ["naïve", "café", "3*"]),
        ("ﬁne", ["fine*"]),
        ("日本go語", ["日", "本", "go*", "語"]),
        ("ガ", ["ガ"]),
        ("한국", ["한", "국"]),
        # a cluster: consonant with its marks; it takes along what follows up to the next break
        ("กี่", ["กี่"]),
        ("กขab c", ["ก", "ขab", "c*"]),
        ("abก", ["ab*", "ก"]),
        # sara am falls apart under NFKC into a mark and a vowel, and the vowel is no mark
        ("น้ำ", ["น้\u0e4d", "า"]),
        ("ສີກ", ["ສີ", "ກ"]),
        ("ភ្នំ", ["ភ្", "នំ"]),
        ("မြို့က", ["မြို့", "က"]),
        ("हिन्दी", ["हिन्दी"]),
        ("👍 ok", ["ok*"]),
        ("㐀𠮷", ["㐀𠮷"]),
        ("\u0e00", ["\u0e00"]),
    ],
)
def test_texts_are_cut_into_words_script_by_script(text: str, tokens: list[str]) -> None:
    """Only ASCII words are stemmed (here: starred); each script is cut in its own way."""
    assert tokens_of(text, lambda word: [f"{word}*"]) == tokens


@pytest.mark.parametrize(
    "char",
    ["\u3040", "\u3041", "\u30fe", "\u4e00", "\u9fff", "\uac00", "\ud7a3", "\ud7af"],
    ids=ascii,
)
def test_characters_of_unspaced_scripts_are_words(char: str) -> None:
    """From the first to the last of their blocks, also where nothing is assigned."""
    assert tokens_of(f"a{char}b", lambda word: [word]) == ["a", char, "b"]


@pytest.mark.parametrize("char", ["\u3105", "\u4dbf", "\ua000", "\ud7b0"], ids=ascii)
def test_letters_next_to_those_blocks_are_parts_of_words(char: str) -> None:
    """The blocks end where google-adk ends them, whatever the script next door."""
    assert tokens_of(f"a{char}b", lambda word: [word]) == [f"a{char}b"]


@pytest.mark.parametrize(
    "char",
    ["\u0e01", "\u0e7f", "\u0e81", "\u0eff", "\u1000", "\u109f", "\u1780", "\u17ff"],
    ids=ascii,
)
def test_a_cluster_starts_a_word_and_runs_on(char: str) -> None:
    """In Thai, Lao, Myanmar and Khmer there is a break before a character, none after it."""
    assert tokens_of(f"a{char}b", lambda word: [word]) == ["a", f"{char}b"]


@pytest.mark.parametrize(
    ("threshold", "status"),
    [(0.75, Status.PASSED), (0.7500001, Status.FAILED), (0.0, Status.PASSED)],
)
async def test_a_case_is_the_mean_of_its_turns(threshold: float, status: Status) -> None:
    """One turn right and one half right make three quarters."""
    result = await scored(["one two", "one two"], ["two one", "one three"], threshold)

    assert [each.score for each in result.invocations] == [1.0, 0.5]
    assert [each.status for each in result.invocations] == [
        Status.PASSED,
        Status.PASSED if threshold <= 0.5 else Status.FAILED,
    ]
    assert (result.score, result.status, result.reason) == (0.75, status, None)


async def test_the_mean_is_added_up_from_the_left() -> None:
    """1, 1/3 and 1/3 add up to a bit more than exactly, in google-adk and so here."""
    expected, actual = ["a", "a b c d e", "a b c d e"], ["a", "a", "a"]
    exact, a_bit_more = 0.5555555555555556, 0.5555555555555557

    result = await scored(expected, actual, threshold=a_bit_more)

    assert (result.score, result.status) == (a_bit_more, Status.PASSED)
    assert exact < a_bit_more


async def test_an_empty_answer_is_an_answer() -> None:
    """Saying nothing where something is expected scores 0 and fails, however it is empty."""
    nothings: list[str | dict[str, Any] | None] = ["", None, {}, {"parts": []}, {"parts": None}]

    result = await scored(["something"] * len(nothings), nothings)

    assert [each.score for each in result.invocations] == [0.0] * len(nothings)
    assert result.status is Status.FAILED


async def test_an_empty_reference_is_a_reference() -> None:
    """An expected answer that is given and has no words matches nothing."""
    result = await scored(["", {"parts": []}], ["hello", ""])

    assert [each.score for each in result.invocations] == [0.0, 0.0]
    assert result.status is Status.FAILED


async def test_a_turn_that_expects_no_answer_scores_nothing() -> None:
    """As with google-adk, so that scores are the same for who moves over."""
    result = await scored(["one two", None], ["one two", "hello"], threshold=0.5)

    assert [each.score for each in result.invocations] == [1.0, 0.0]
    assert (result.score, result.status) == (0.5, Status.PASSED)


async def test_texts_of_all_parts_count_in_one_answer() -> None:
    """Parts are joined by a newline, so that words do not run together."""
    parts = {"parts": [{"text": "one"}, {"text": ""}, {"functionCall": {}}, {"text": "two"}]}

    assert (await scored(["one two"], [parts])).score == 1.0


async def test_other_numbers_of_turns_have_no_score() -> None:
    """A trace that stopped early is not scored on what it has."""
    result = await scored(["one", "two"], ["one"])

    assert (result.score, result.status) == (None, Status.NOT_EVALUATED)
    assert result.reason == "the case has 2 turns and the trace 1"


async def test_a_simulated_case_has_no_reference() -> None:
    """Nothing is expected of a simulated conversation: no score, and why."""
    scenario = {"starting_prompt": "hello", "conversation_plan": "say hello"}
    case = EvalCase.model_validate({"eval_id": "c", "conversation_scenario": scenario})
    trace = Trace.model_validate({"eval_set": "s", "eval_id": "c", "invocations": [turn("hi")]})

    result = await ResponseMatch(threshold=0.5).score(case, trace, nobody)

    assert (result.score, result.status) == (None, Status.NOT_EVALUATED)
    assert result.reason == "needs a reference, and a simulated conversation has none"
