"""Repeated lines, by a clock that the test moves."""

import logging

from cwgpu.telemetry import lines
from cwgpu.telemetry.repeats import Repeats


class World:
    """A filter for repeats and what came through it."""

    def __init__(self) -> None:
        self.now = 0.0
        self.repeats = Repeats(lambda: self.now)

    def say(self, name: str, level: int = logging.WARNING, /, **fields: object) -> list[str]:
        """Say something and give what is written then."""
        record = logging.LogRecord("cwgpu", level, "", 0, name, (), None)
        setattr(record, lines.EVENT, name)
        setattr(record, lines.FIELDS, fields)
        return [shown(one) for one in self.repeats.take(record)]

    def hear(self, text: str) -> list[str]:
        """Hear another library say something and give what is written then."""
        record = logging.LogRecord("aiohttp", logging.ERROR, "", 0, text, (), None)
        return [shown(one) for one in self.repeats.take(record)]

    def wait(self, seconds: float) -> list[str]:
        """Let time pass and give what is written then."""
        self.now += seconds
        return [shown(one) for one in self.repeats.over()]


def shown(record: logging.LogRecord) -> str:
    """Give a record as event and fields."""
    said = lines.fields(record)
    return " ".join([lines.event(record), *(f"{name}={value}" for name, value in said.items())])


def failed(target: str, reason: str = "timeout", **more: object) -> dict[str, object]:
    """Give the fields of a failed scrape."""
    return {"target": target, "reason": reason, **more}


def test_the_first_is_written_and_the_rest_counted() -> None:
    """Of many equal lines the first comes at once and the count when the window is over."""
    world = World()
    assert world.say("f", **failed("a", detail="0")) == ["f target=a reason=timeout detail=0"]
    for number in range(1, 58):
        assert world.say("f", **failed("a", detail=str(number))) == []
    assert world.wait(299.9) == []
    assert world.wait(0.1) == ["f target=a reason=timeout detail=57 repeated=57 within_s=300.0"]
    assert world.wait(100) == []


def test_after_the_window_it_begins_again() -> None:
    """A line that comes after its window is a first one, with the count of the former before it."""
    world = World()
    for _ in range(3):
        world.say("f", **failed("a"))
    world.now = 301
    assert world.say("f", **failed("a")) == [
        "f target=a reason=timeout repeated=2 within_s=300.0",
        "f target=a reason=timeout",
    ]


def test_a_lease_that_cannot_be_had_is_told_once() -> None:
    """It is tried every two seconds, for as long as it lasts."""
    world = World()
    assert world.say("lease_failed", lease="gpu", reason="away") != []
    world.wait(60)
    assert world.say("lease_failed", lease="gpu", reason="away") == []


def test_one_repeat_is_written_as_it_is() -> None:
    """A single held line loses nothing: it comes late and whole."""
    world = World()
    world.say("f", **failed("a", n=1))
    world.say("f", **failed("a", n=2))
    assert world.wait(300) == ["f target=a reason=timeout n=2"]


def test_a_different_reason_is_news() -> None:
    """When the same target fails otherwise, the count of the former reason comes first."""
    world = World()
    for _ in range(3):
        world.say("f", **failed("a"))
    assert world.say("f", **failed("a", "tls")) == [
        "f target=a reason=timeout repeated=2 within_s=300.0",
        "f target=a reason=tls",
    ]


def test_two_reasons_in_turn_are_counted_too() -> None:
    """What flaps between two reasons is written once for each, and then counted."""
    world = World()
    written = [line for n in range(20) for line in world.say("f", **failed("a", "xy"[n % 2]))]
    assert written == ["f target=a reason=x", "f target=a reason=y"]
    assert world.wait(300) == [
        "f target=a reason=x repeated=9 within_s=300.0",
        "f target=a reason=y repeated=9 within_s=300.0",
    ]


def test_a_different_level_is_news() -> None:
    """The same event as an error is not hidden behind a warning."""
    world = World()
    world.say("f", **failed("a"))
    assert len(world.say("f", logging.ERROR, **failed("a"))) == 1


def test_targets_and_events_are_told_apart() -> None:
    """Another target and another event have windows of their own."""
    world = World()
    assert world.say("f", **failed("a"))
    assert world.say("f", **failed("b"))
    assert world.say("g", **failed("a"))
    assert not world.say("f", **failed("a"))


def test_what_lasts_is_counted_for_longer() -> None:
    """A target, stream or job with a fault has it for hours; the same words may be news sooner."""
    world = World()
    for about in ("target", "stream", "job"):
        assert world.say("f", **{about: f"a {about}", "reason": "x"})
    assert world.say("r", reason="x")
    world.wait(10)
    assert world.say("r", reason="x")
    for about in ("target", "stream", "job"):
        assert not world.say("f", **{about: f"a {about}", "reason": "x"})


def test_without_a_reason_every_text_must_be_the_same() -> None:
    """Different complaints about one file are all written; numbers do not make a difference."""
    world = World()
    assert world.say("w", path="x", text="one", line=1)
    assert world.say("w", path="x", text="two", line=1)
    assert not world.say("w", path="x", text="one", line=2)


def test_lines_of_others_are_repeats_too() -> None:
    """Another library's lines are told apart by their text."""
    world = World()
    assert world.hear("oh") == ["log message=oh"]
    assert world.hear("ah") == ["log message=ah"]
    assert world.hear("oh") == []
    assert world.hear("oh") == []
    assert world.wait(10) == ["log message=oh repeated=2 within_s=10.0"]


def test_nothing_held_is_lost_at_the_end() -> None:
    """Closing gives every count, whether its window is over or not."""
    world = World()
    for target in "ab":
        for _ in range(3):
            world.say("f", **failed(target))
    world.say("f", **failed("c"))
    assert [shown(one) for one in world.repeats.all()] == [
        "f target=a reason=timeout repeated=2 within_s=300.0",
        "f target=b reason=timeout repeated=2 within_s=300.0",
    ]


def test_a_flood_of_different_lines_costs_bounded_memory() -> None:
    """When too many windows are open the oldest is closed, with its count."""
    world = World()
    for _ in range(3):
        world.say("f", **failed("first"))
    written = [line for n in range(5000) for line in world.say("f", **failed(str(n)))]
    assert "f target=first reason=timeout repeated=2 within_s=300.0" in written
    assert len(written) == 5001


def test_a_spool_that_stays_broken_says_so_every_five_minutes() -> None:
    """Its directory is what that is about, however often a write fails."""
    world = World()
    broken = {"directory": "/spool", "reason": "No space left on device"}
    assert len(world.say("spool_failed", **broken)) == 1
    for _ in range(59):
        assert world.say("spool_failed", **broken) == []
        assert world.wait(5.0) == []
    assert len(world.wait(5.0)) == 1
