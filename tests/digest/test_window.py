"""Scrapes that wait for their event, and when it comes."""

import json
from typing import Any

import pytest

from cwgpu.digest.page import Page
from cwgpu.emf.delta import Treatment
from cwgpu.plan.plan import Events, GroupBy
from tests.digest import kitchen

MINUTE_MS = 60_000
START_MS = kitchen.START_MS // MINUTE_MS * MINUTE_MS
"""The beginning of a minute."""
STEP_MS = 15_000
MINUTE = Events(window_s=60.0)
TYPES = "# TYPE DCGM_A gauge\n# TYPE DCGM_B gauge\n# TYPE DCGM_C counter\n"


def page(events: Events = MINUTE, *, interval_s: float = 15.0, **emf: Any) -> Page:  # noqa: ANN401 - fields of Emf
    """A page of a target that is scraped every so many seconds."""
    plan = kitchen.by_job(events=events, **emf)
    return kitchen.page(plan, interval_s=interval_s, timeout_s=10.0)


def scrape(of: Page, text: str, after_ms: int) -> list[dict[str, Any]]:
    """Read a page so long after the minute began; gives the events that come with it."""
    reading = kitchen.read(of, TYPES + text, START_MS + after_ms)
    kitchen.points(reading)
    return [json.loads(event.message) for event in reading.events]


def closed(of: Page) -> list[Any]:
    """Close, and give the values of DCGM_A of each event."""
    return [json.loads(event.message)["DCGM_A"] for event in of.close()]


def test_a_minute_is_one_event() -> None:
    """It comes with the last scrape of the minute, whose time it has, in order of time."""
    of = page()
    assert [scrape(of, f"DCGM_A {n}\n", 3_000 + n * STEP_MS) for n in range(3)] == [[], [], []]
    (event,) = scrape(of, "DCGM_A 3.25\n", 3_000 + 3 * STEP_MS)
    assert event["DCGM_A"] == [0, 1, 2, 3.25]
    assert event["_aws"]["Timestamp"] == START_MS + 3_000 + 3 * STEP_MS
    assert of.close() == ()


def test_the_account_is_of_each_scrape() -> None:
    """What waits counts as selected when it was read; the event says of how many it is."""
    of = page()
    first = kitchen.read(of, TYPES + "DCGM_A 1\nDCGM_B NaN\n", START_MS)
    assert (first.samples, first.selected, first.events) == (2, 1, ())
    kitchen.read(of, TYPES + "DCGM_A 1\nDCGM_B 2\n", START_MS + STEP_MS)
    (event,) = of.close()
    assert (event.samples, event.datapoints) == (3, 3)
    message = json.loads(event.message)
    assert (message["DCGM_A"], message["DCGM_B"]) == ([1, 1], 2)


def test_a_metric_without_any_value_is_not_in_the_event() -> None:
    """The others are."""
    of = page()
    for step in range(2):
        scrape(of, "DCGM_A 1\nDCGM_B NaN\n", step * STEP_MS)
    (event,) = of.close()
    assert (event.samples, "DCGM_B" in json.loads(event.message)) == (2, False)


def test_a_scrape_of_the_next_minute_closes_the_last() -> None:
    """When the last one of the minute did not come."""
    of = page()
    scrape(of, "DCGM_A 1\n", 0)
    (event,) = scrape(of, "DCGM_A 2\n", MINUTE_MS)
    assert event["DCGM_A"] == 1
    assert closed(of) == [2]


def test_scrapes_that_are_rarer_than_windows_do_not_wait() -> None:
    """Each is the last of its window."""
    of = page(interval_s=60.0)
    for minute in range(3):
        (event,) = scrape(of, f"DCGM_A {minute}\n", minute * MINUTE_MS)
        assert event["DCGM_A"] == minute


def test_another_shape_of_the_page_closes_the_window() -> None:
    """A line that comes or goes costs one more event in that minute, and no value."""
    of = page()
    assert scrape(of, "DCGM_A 1\n", 0) == []
    assert [one["DCGM_A"] for one in scrape(of, "DCGM_A 2\nDCGM_B 2\n", STEP_MS)] == [1]
    assert closed(of) == [2]


def test_a_page_that_is_refused_does_not_close_it() -> None:
    """What was read before waits on, until the next page or the end of the minute."""
    of = page()
    scrape(of, "DCGM_A 1\n", 0)
    of.read(b"<html>", START_MS + STEP_MS)
    assert closed(of) == [1]


def test_samples_with_times_of_their_own_do_not_wait() -> None:
    """Such a page is another one at every scrape."""
    of = page()
    events = scrape(of, f"DCGM_A 1 {START_MS - 1}\nDCGM_B 2\n", 0)
    assert [event["_aws"]["Timestamp"] for event in events] == [START_MS - 1, START_MS]


def test_metrics_of_seconds_do_not_wait() -> None:
    """CloudWatch shall have them by the second, so each scrape has its event."""
    of = page(resolutions=((lambda name: name == "DCGM_B", 1),))
    for step in range(2):
        (event,) = scrape(of, f"DCGM_A 1\nDCGM_B {step}\n", step * STEP_MS)
        assert (event["DCGM_B"], "DCGM_A" in event) == (step, False)
    assert closed(of) == [[1, 1]]


def test_counters_are_counted_at_every_scrape() -> None:
    """A window has the differences of its scrapes, the first one aside."""
    of = page(counters=((lambda _: True, Treatment.DELTA),))
    for step, total in enumerate((5, 7, 12)):
        scrape(of, f"DCGM_C {total}\n", step * STEP_MS)
    (event,) = of.close()
    assert json.loads(event.message)["DCGM_C"] == [2, 5]


@pytest.mark.parametrize(("after_ms", "due"), [(0, False), (69_999, False), (70_000, True)])
def test_when_nothing_more_can_come(after_ms: int, due: bool) -> None:  # noqa: FBT001 - a table
    """A scrape that begins in the minute's last moment may take as long as the timeout."""
    of = page()
    assert not of.due(START_MS + MINUTE_MS)
    scrape(of, "DCGM_A 1\n", 0)
    assert of.due(START_MS + after_ms) is due


def test_a_clock_that_was_set_back_ends_the_window() -> None:
    """Nobody waits until it is that time again, if no scrape comes."""
    of = page()
    scrape(of, "DCGM_A 1\n", 0)
    assert of.due(START_MS - 1)
    scrape(of, "DCGM_A 2\n", -3_600_000)
    assert not of.due(START_MS - 3_600_000)
    assert closed(of) == [2]


def test_a_long_window_of_quick_scrapes_is_several_events() -> None:
    """An array has a hundred values; what is full does not wait."""
    of = page(Events(window_s=3600.0), interval_s=1.0)
    hour_ms = 3_600_000 - START_MS % 3_600_000
    events = [scrape(of, f"DCGM_A {n}\n", hour_ms + n * 1000) for n in range(101)]
    assert [len(each) for each in events] == [0] * 99 + [1, 0]
    assert events[99][0]["DCGM_A"] == [*range(100)]
    assert closed(of) == [100]


def test_gpus_and_scrapes_together_fill_an_array() -> None:
    """Eight GPUs have room for twelve scrapes; the others are the next event of the minute."""
    of = page(Events(GroupBy.DIMENSIONS, 60.0), interval_s=4.0)
    lines = "".join(f'DCGM_A{{gpu="{gpu}"}} {gpu}\n' for gpu in range(8))
    for step in range(14):
        scrape(of, lines, step * 4_000)
    (first, second) = scrape(of, lines, 56_000)
    assert first["DCGM_A"] == [*range(8)] * 12
    assert second["DCGM_A"] == [*range(8)] * 3
    times = [one["_aws"]["Timestamp"] - START_MS for one in (first, second)]
    assert times == [44_000, 56_000]


def test_a_page_that_is_replaced_keeps_what_waits() -> None:
    """The new one takes the baselines and nothing else."""
    former, new = page(), page()
    scrape(former, "DCGM_A 1\n", 0)
    new.adopt(former)
    assert (new.close(), closed(former)) == ((), [1])


def test_windows_leave_nothing_behind() -> None:
    """What lacks a value may change in every window, without end."""
    of = page()
    names = [f"DCGM_{letter}" for letter in "ABDEFGHIJK"]
    types = "".join(f"# TYPE {name} gauge\n" for name in names)
    for number in range(200):
        lines = (
            f"{name} {'NaN' if number >> place & 1 else 1}\n" for place, name in enumerate(names)
        )
        kitchen.read(of, types + "".join(lines), START_MS + number * STEP_MS)
    assert of.remembered <= len(names) + 2 + 2
