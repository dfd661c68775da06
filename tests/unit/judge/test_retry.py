"""When a service that answers nobody is no longer asked, and when it is again."""

from gradegate.judge.retry import CircuitBreaker, Deadline
from gradegate.ports import CallFailure

DOWN = CallFailure("503 UNAVAILABLE", may_pass=True, slow_down=True)


def down_for(seconds: int, limit: float = 600.0) -> CircuitBreaker:
    """A service that was in trouble every ten seconds for so long."""
    outage = CircuitBreaker(limit)
    for now in range(0, seconds + 1, 10):
        outage.trouble(DOWN, float(now))
    return outage


def test_trouble_is_no_outage_until_it_has_lasted() -> None:
    """Then the reason names the trouble and how long it has been."""
    assert down_for(590).reason(590.0) is None
    assert down_for(600).reason(600.0) == "503 UNAVAILABLE (nothing was answered for 600 s)"


def test_one_answer_ends_it() -> None:
    """What was before does not count any more."""
    outage = down_for(900)
    outage.answered()
    outage.trouble(DOWN, 910.0)
    assert outage.reason(910.0) is None


def test_after_half_a_minute_one_may_try_again() -> None:
    """And more trouble closes it at once."""
    outage = down_for(600)
    assert outage.reason(630.0) is not None
    assert outage.reason(631.0) is None
    outage.trouble(DOWN, 632.0)
    assert outage.reason(632.0) is not None


def test_a_service_that_asks_for_more_than_we_can_wait_is_out_until_then() -> None:
    """And no longer."""
    outage = CircuitBreaker(600.0)
    outage.trouble(DOWN._replace(wait=601.0), 100.0)
    assert outage.reason(101.0) == "503 UNAVAILABLE (the service asks to come back in 600 s)"
    assert outage.reason(702.0) is None


def test_a_verdict_s_time_runs_from_the_first_look() -> None:
    """Not from when it began to queue."""
    clock = Deadline(60.0)
    assert clock.left(1000.0) == 60.0
    assert clock.left(1070.0) == -10.0
