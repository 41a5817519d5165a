"""When calls may go to a service that may be down."""

import math
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cwgpu.pace.breaker import Breaker


def opened(now_s: float = 100.0, wait_s: float = 5.0, *, still_out: int = 0) -> Breaker:
    """Let three calls fail at one moment, while others are out."""
    breaker = Breaker()
    for _ in range(3 + still_out):
        breaker.begin()
    for _ in range(3):
        breaker.failed(now_s, wait_s)
    return breaker


def test_a_failure_or_two_hold_up_nobody() -> None:
    """Any number of calls may be out at once while the service is well."""
    breaker = Breaker()
    for _ in range(10):
        assert breaker.wait_s(0.0) == 0
        breaker.begin()
    breaker.failed(0.0, 60.0)
    breaker.failed(0.0, 60.0)
    assert breaker.wait_s(0.0) == 0
    assert (breaker.failures, breaker.open) == (2, False)


def test_a_success_between_them_begins_the_count_anew() -> None:
    """Only failures in a row speak of an outage."""
    breaker = Breaker()
    for _ in range(5):
        for _ in range(3):
            breaker.begin()
        breaker.failed(0.0, 60.0)
        breaker.failed(0.0, 60.0)
        breaker.succeeded()
    assert breaker.wait_s(0.0) == 0


def test_after_three_failures_one_goes_at_a_time() -> None:
    """The probe is not before its time, and nobody else goes while it is out."""
    breaker = opened()
    assert breaker.open
    assert [breaker.wait_s(now_s) for now_s in (100.0, 104.0, 105.0, 200.0)] == [5, 1, 0, 0]
    breaker.begin()
    assert breaker.wait_s(200.0) == math.inf
    breaker.failed(210.0, 8.0)
    assert breaker.failures == 4
    assert breaker.wait_s(211.0) == 7


def test_a_probe_that_succeeds_opens_the_way_for_all() -> None:
    """At once, and as many as there are."""
    breaker = opened()
    breaker.begin()
    breaker.succeeded()
    assert (breaker.failures, breaker.open) == (0, False)
    for _ in range(10):
        assert breaker.wait_s(105.0) == 0
        breaker.begin()


def test_a_probe_that_is_abandoned_lets_the_next_one_go() -> None:
    """It told nothing, so neither the count nor the time changes."""
    breaker = opened()
    breaker.begin()
    breaker.abandoned()
    assert breaker.failures == 3
    assert breaker.wait_s(104.0) == 1
    assert breaker.wait_s(105.0) == 0


def test_calls_from_before_are_waited_for_and_not_counted() -> None:
    """Ten calls that meet one outage do not make the next probe wait as after ten probes."""
    breaker = opened(still_out=2)
    assert breaker.wait_s(1000.0) == math.inf
    breaker.failed(101.0, 30.0)
    assert breaker.wait_s(1000.0) == math.inf
    breaker.failed(102.0, 1.0)
    assert breaker.failures == 3
    assert breaker.wait_s(102.0) == 29


def test_a_call_from_before_that_succeeds_speaks_for_all() -> None:
    """And what was said of waiting before that counts no more."""
    breaker = opened(wait_s=300.0, still_out=1)
    breaker.succeeded()
    assert breaker.wait_s(101.0) == 0
    for _ in range(3):
        breaker.begin()
        breaker.failed(101.0, 1.0)
    assert breaker.wait_s(101.0) == 1


@pytest.mark.parametrize("failures", [1, 2])
def test_the_longest_wait_that_was_told_counts(failures: int) -> None:
    """A service that names a time is obeyed, whichever of the failures it came with."""
    breaker = Breaker()
    for number in range(3):
        breaker.begin()
        breaker.failed(0.0, 120.0 if number < failures else 2.0)
    assert breaker.wait_s(0.0) == 120


@dataclass
class _Crowd:
    """Calls of many lanes that ask before they go, against what has to hold."""

    breaker: Breaker = field(default_factory=Breaker)
    now_s: float = 0.0
    out: list[bool] = field(default_factory=list)
    """For each call that is out, whether it began as a probe."""
    earliest_s: float = 0.0

    def ask(self) -> None:
        """Begin a call if it may."""
        if self.breaker.wait_s(self.now_s) > 0:
            return
        if self.breaker.open:
            assert not self.out
            assert self.now_s >= self.earliest_s
        self.out.append(self.breaker.open)
        self.breaker.begin()

    def end(self, which: int, how: str, wait_s: float) -> None:
        """End one of the calls that are out, in any order."""
        if not self.out:
            return
        self.out.pop(which % len(self.out))
        if how == "succeeded":
            self.breaker.succeeded()
            self.earliest_s = 0.0
            assert self.breaker.wait_s(self.now_s) == 0
        elif how == "failed":
            self.breaker.failed(self.now_s, wait_s)
            self.earliest_s = max(self.earliest_s, self.now_s + wait_s)
        else:
            self.breaker.abandoned()


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["ask", "ask", "ask", "failed", "failed", "succeeded", "abandoned"]),
        st.integers(0, 9),
        st.sampled_from([0.0, 0.5, 1.0, 7.0, 60.0]),
    ),
    max_size=80,
)


@settings(max_examples=200)
@given(STEPS)
def test_two_probes_are_never_out_and_nobody_waits_for_ever(
    steps: list[tuple[str, int, float]],
) -> None:
    """In whatever order calls begin, fail, succeed and are cancelled."""
    crowd = _Crowd()
    for what, which, seconds in steps:
        if what == "ask":
            crowd.now_s += seconds
            crowd.ask()
        else:
            crowd.end(which, what, seconds)
        assert sum(crowd.out) <= 1
        assert crowd.breaker.open or crowd.breaker.wait_s(crowd.now_s) == 0
        assert (crowd.breaker.wait_s(crowd.now_s) == math.inf) == (
            crowd.breaker.open and bool(crowd.out)
        )
    while crowd.out:
        crowd.end(0, "abandoned", 0.0)
    crowd.now_s += crowd.breaker.wait_s(crowd.now_s)
    assert crowd.breaker.wait_s(crowd.now_s) == 0
    crowd.ask()
    crowd.end(0, "succeeded", 0.0)
    assert not crowd.breaker.open


@settings(max_examples=100)
@given(st.integers(1, 50), st.integers(3, 20))
def test_an_outage_costs_a_call_a_probe(lanes: int, rounds: int) -> None:
    """However many lanes wait, each wait is followed by one call."""
    breaker = Breaker()
    calls = 0
    for number in range(rounds):
        going = 0
        for _ in range(lanes):
            if breaker.wait_s(float(number)) == 0:
                breaker.begin()
                going += 1
        for _ in range(going):
            breaker.failed(float(number), 1.0)
        calls += going
    assert calls <= 2 + lanes + rounds
