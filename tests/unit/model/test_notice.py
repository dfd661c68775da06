"""A sentence of ours: English beside its code and values, and in the reader's language."""

import pytest

from gradegate.locales import locale_of
from gradegate.model.evalset import CaseKey
from gradegate.model.masking import SecretMasker
from gradegate.model.notice import Notice, as_notices, notice, texts_of
from gradegate.model.question import PlainText, Votes
from gradegate.model.report import Decision, Reason, ReasonKind, Report, State
from gradegate.model.result import CriterionResult, InvocationResult
from gradegate.model.runs import NotRun

JA = locale_of("ja")
COLON = JA("colon")
EN = locale_of("en")
NO_SUITE = notice("base.no_suite", suite="shop")
NO_SUITE_JA = "ベースにスイート shop がないため、しきい値だけで判定します"


def test_the_text_is_english() -> None:
    """Whoever reads report.json reads this."""
    assert NO_SUITE.text == "base has no suite shop: its thresholds alone decide"
    assert NO_SUITE.in_words(EN) == NO_SUITE.text
    assert NO_SUITE.in_words(JA) == NO_SUITE_JA


def test_a_sentence_in_a_sentence_is_in_the_readers_language_too() -> None:
    """As deep as ours go, one or several of them."""
    told = notice("base.told", what=NO_SUITE)
    assert told.text == f"base: {NO_SUITE.text}"
    assert told.in_words(JA) == f"ベース{COLON}{NO_SUITE_JA}"
    rules = [notice("loosened.rubric", name=name) for name in ("a", "b")]
    several = notice("base.no_settings", rules=rules)
    assert several.text.endswith(": the rubric `a` is taken out; the rubric `b` is taken out")
    assert several.in_words(JA).endswith(
        "ルーブリック `a` が削除されました、ルーブリック `b` が削除されました"
    )


def test_words_of_others_stay_as_they_are() -> None:
    """A notice without a code is quoted, alone and in a sentence of ours."""
    said = Notice(text="fatal: bad object")
    assert said.in_words(JA) == "fatal: bad object"
    told = notice("base.settings_unreadable", error=said)
    assert told.values == {"error": "fatal: bad object"}
    assert told.in_words(JA).endswith(f"この PR の設定を使います{COLON}fatal: bad object")


@pytest.mark.parametrize(
    "told",
    [
        Notice(text="English", code="of_a_newer_version", values={"a": "b"}),
        Notice(text="English", code="base.no_suite"),
        Notice(text="English", code="base.no_suite", values={"key": "x", "self": "y"}),
    ],
    ids=["code", "values", "names of our own"],
)
def test_what_this_version_cannot_say_stays_english(told: Notice) -> None:
    """A report may be of another version, or made up."""
    assert told.in_words(JA) == "English"


def test_a_report_that_is_made_up_of_sentences_in_sentences_can_be_read() -> None:
    """From some depth on the English is good enough."""
    told = Notice(text="deepest")
    for _ in range(200):
        told = Notice(text="deep", code="base.told", values={"what": told})
    assert told.in_words(JA).startswith(f"ベース{COLON}ベース{COLON}")


def test_values_that_begin_like_a_format_are_only_values() -> None:
    """Nothing of a value is looked into."""
    told = Notice(text="", code="base.no_suite", values={"suite": "{suite.__class__} %s"})
    assert "{suite.__class__} %s" in told.in_words(JA)


def test_a_finding_is_written_with_code_and_values_beside_its_text() -> None:
    """As a reader of report.json finds it, and reads it back."""
    key = CaseKey("desk", "a.evalset.json", "paris")
    told = notice("new_failure", what=notice("threshold.no_score", case="paris"))
    reason = Reason.of(ReasonKind.NEW_FAILURE, told, key, criterion="safety_v1")
    assert reason.model_dump(mode="json") == {
        "kind": "new_failure",
        "text": "new, and fails: paris has no score",
        "code": "new_failure",
        "values": {
            "what": {
                "text": "paris has no score",
                "code": "threshold.no_score",
                "values": {"case": "paris"},
            }
        },
        "suite": "desk",
        "eval_set": "a.evalset.json",
        "eval_id": "paris",
        "criterion": "safety_v1",
    }
    assert Reason.model_validate_json(reason.model_dump_json()) == reason


def test_notices_that_are_not_of_the_warnings_are_passed_over() -> None:
    """The warnings are what was said; who changes them need not know of the notices."""
    decision = Decision(state=State.PASS)
    same = Report(decision=decision, warnings=texts_of([NO_SUITE]), notices=(NO_SUITE,))
    assert same.told == (NO_SUITE,)
    for warnings in (("other",), (NO_SUITE.text, "other"), ()):
        told = same.model_copy(update={"warnings": warnings}).told
        assert told == tuple(Notice(text=text) for text in warnings)
    assert as_notices(("a",), ()) == (Notice(text="a"),)


def test_no_secret_is_left_in_the_values() -> None:
    """They are masked as the text is, and so still go with it."""
    told = notice("base.no_agent", suite="desk", why="HTTP 401 for s3cr3t-value")
    report = Report(decision=Decision(state=State.PASS), warnings=(told.text,), notices=(told,))
    masked = SecretMasker(["s3cr3t-value"]).hide_in(report)
    assert "s3cr3t" not in masked.model_dump_json()
    assert masked.told[0].in_words(JA).endswith("HTTP 401 for ***")


@pytest.mark.parametrize("result", [CriterionResult, InvocationResult])
def test_a_reason_is_what_its_notice_says(
    result: type[CriterionResult] | type[InvocationResult],
) -> None:
    """To hand over a notice is enough; a reason that says something else is somebody's words."""
    told = notice("score.no_reference")
    made = result(notice=told)
    assert (made.reason, made.why) == (told.text, told)
    assert result.model_validate_json(made.model_dump_json()) == made
    assert made.model_copy(update={"reason": "other"}).why == Notice(text="other")
    plain = result(reason="HTTP 429")
    assert plain.why == Notice(text="HTTP 429")
    assert "notice" not in plain.model_dump()
    assert result().why is None


def test_a_run_that_was_not_made_says_why_in_the_readers_language() -> None:
    """A notice of ours, or the words of whoever would have run it."""
    told = notice("run.out_of_time")
    assert NotRun.because(told).why == told
    assert NotRun.because(told) == NotRun(told.text)
    assert NotRun("no such file").why == Notice(text="no such file")


def test_a_judge_that_failed_says_why_in_the_readers_language() -> None:
    """A notice of ours, or the words of the service."""
    told = notice("judge.no_answer", why="HTTP 429")
    failed = Votes[PlainText].failed(told)
    assert (failed.failure, failed.why) == (told.text, told)
    assert Votes[PlainText](failure="HTTP 429").why == Notice(text="HTTP 429")
    assert Votes[PlainText]().why is None
