"""When to call again and how long to wait, and when to give up on a sample, a model, a service."""

from gradegate.judge.retry import Attempts, CircuitBreaker, Deadline, GiveUp, Retry, RetryPolicy
from gradegate.ports import CallFailure
from tests.standins.asking import BAD_KEY, BAD_QUESTION, BUSY, RESET

DOWN = CallFailure("503 UNAVAILABLE", retryable=True, throttled=True)
MODEL = "gemini-2.5-flash"


def down_for(seconds: int, limit: float = 600.0) -> CircuitBreaker:
    """A service that was in trouble every ten seconds for so long."""
    breaker = CircuitBreaker(limit)
    for now in range(0, seconds + 1, 10):
        breaker.failed(MODEL, DOWN, float(now))
    return breaker


def test_trouble_is_no_outage_until_it_has_lasted() -> None:
    """Then the reason names the trouble and how long it has been, whatever the model."""
    assert down_for(590).check(MODEL, 590.0) == Retry()
    reason = "503 UNAVAILABLE (nothing was answered for 600 s)"
    assert down_for(600).check(MODEL, 600.0) == GiveUp(reason)
    assert down_for(600).check("another", 600.0) == GiveUp(reason)


def test_the_failure_that_makes_it_an_outage_is_told_so() -> None:
    """Whoever met it need not ask again to know."""
    assert isinstance(down_for(580).failed(MODEL, DOWN, 590.0), Retry)
    assert isinstance(down_for(590).failed(MODEL, DOWN, 600.0), GiveUp)


def test_one_answer_ends_it() -> None:
    """What was before does not count any more."""
    breaker = down_for(900)
    breaker.answered(MODEL)
    breaker.failed(MODEL, DOWN, 910.0)
    assert breaker.check(MODEL, 910.0) == Retry()


def test_after_half_a_minute_one_may_try_again() -> None:
    """And more trouble closes it at once."""
    breaker = down_for(600)
    assert isinstance(breaker.check(MODEL, 630.0), GiveUp)
    assert breaker.check(MODEL, 631.0) == Retry()
    breaker.failed(MODEL, DOWN, 632.0)
    assert isinstance(breaker.check(MODEL, 632.0), GiveUp)


def test_a_service_that_asks_for_more_than_we_can_wait_is_out_until_then() -> None:
    """And no longer."""
    breaker = CircuitBreaker(600.0)
    breaker.failed(MODEL, DOWN._replace(retry_after=601.0), 100.0)
    reason = "503 UNAVAILABLE (the service asks to come back in 600 s)"
    assert breaker.check(MODEL, 101.0) == GiveUp(reason)
    assert breaker.check(MODEL, 702.0) == Retry()


def test_a_refusal_for_all_closes_its_model_alone() -> None:
    """At once, for good, and whatever else it says later."""
    breaker = CircuitBreaker(600.0)
    assert breaker.failed(MODEL, BAD_KEY, 0.0) == GiveUp("API key not valid")
    breaker.failed(MODEL, BAD_KEY._replace(reason="still not"), 1.0)
    assert breaker.check(MODEL, 1e9) == GiveUp("API key not valid")
    assert breaker.check("another", 2.0) == Retry()


def test_a_refused_question_closes_a_model_that_never_answered_the_fifth_time() -> None:
    """One answer, and refusals are taken to lie in the questions."""
    silent, working = CircuitBreaker(600.0), CircuitBreaker(600.0)
    working.answered(MODEL)
    for number in range(5):
        assert silent.check(MODEL, number) == Retry()
        for breaker in (silent, working):
            assert breaker.failed(MODEL, BAD_QUESTION, number) == GiveUp(BAD_QUESTION.reason)
    assert silent.check(MODEL, 5.0) == GiveUp(BAD_QUESTION.reason)
    assert working.check(MODEL, 5.0) == Retry()


def test_a_verdict_s_time_runs_from_the_first_look() -> None:
    """Not from when it began to queue."""
    clock = Deadline(60.0)
    assert clock.left(1000.0) == 60.0
    assert clock.left(1070.0) == -10.0


def attempts() -> Attempts:
    """Those at a sample of a verdict that has a minute, looked at first at 1000."""
    policy = RetryPolicy(per_call=40.0, per_verdict=60.0, first_retry=8.0, longest_retry=20.0)
    made = Attempts(policy, Deadline(60.0))
    assert made.before_call(1000.0) == Retry()
    return made


def test_the_wait_is_the_service_s_own_or_ours() -> None:
    """Ours is spread, twice as long each time, up to the longest."""
    ours = attempts()
    for least, most in ((4, 8), (8, 16), (10, 20), (10, 20)):
        decision = ours.after_failure(RESET, 1001.0)
        assert isinstance(decision, Retry)
        assert least <= decision.after <= most
    assert ours.after_failure(BUSY._replace(retry_after=33.0), 1001.0) == Retry(33.0)


def test_a_wait_beyond_the_deadline_is_not_begun() -> None:
    """The reason is what the service said last."""
    reason = "429 RESOURCE_EXHAUSTED (given up after 60 s of trying)"
    told = BUSY._replace(retry_after=10.0)
    assert attempts().after_failure(told, 1049.0) == Retry(10.0)
    assert attempts().after_failure(told, 1050.0) == GiveUp(reason)


def test_no_call_begins_after_the_deadline_but_the_first() -> None:
    """It may come up while a sample queues for our own limits."""
    tried = attempts()
    tried.after_failure(RESET, 1001.0)
    assert tried.before_call(1059.0) == Retry()
    late = tried.before_call(1060.0)
    assert late == GiveUp("the connection broke (given up after 60 s of trying)")
    assert attempts().before_call(1060.0) == Retry()


def test_a_call_may_take_its_own_time_or_what_is_left() -> None:
    """Cut off by the deadline it does not hide what was said before."""
    tried = attempts()
    assert tried.time_for_call(1001.0) == 40.0
    assert tried.cut_off(40.0) == CallFailure(
        "the judge did not answer within 40 s", retryable=True
    )
    tried.after_failure(BUSY._replace(retry_after=5.0), 1041.0)
    assert tried.time_for_call(1046.0) == 14.0
    assert tried.cut_off(14.0) == CallFailure(BUSY.reason, retryable=True)
