"""Counters that are looked at all at once: the same comes of it as of one look at each."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cwgpu.digest.page import Page
from cwgpu.emf.delta import Treatment
from cwgpu.model.reading import Reading
from cwgpu.plan.plan import Plan
from tests.digest import kitchen

# A counter that may be of any size, one whose blanks are those of 32-bit integers, one that is no
# DCGM field; and a gauge, which has no total.
NAMES = (
    "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION",
    "DCGM_FI_DEV_PCIE_REPLAY_COUNTER",
    "requests_total",
)
GAUGE = "DCGM_FI_DEV_GPU_TEMP"
TOTALS = (
    *(
        "0",
        "1",
        "2.5",
        "7",
        "7",
        "8",
        "9",
        "1e3",
        "2147483632",
        "2147483700",
        "9223372036854775792",
    ),
    *("NaN", "+Inf", "-1", "1e300", "-1e300", "0x1p3"),
)

Scrape = tuple[Sequence[str], int, str]
"""The values, the milliseconds since the last scrape, and what else befalls the page."""


def text(values: Sequence[str], comment: str = "") -> bytes:
    """Write a page."""
    lines = [
        f"# TYPE {name} counter\n{name} {value}" for name, value in zip(NAMES, values, strict=False)
    ]
    return "\n".join([*lines, f"# TYPE {GAUGE} gauge\n{GAUGE} {values[-1]}", comment]).encode()


@st.composite
def scrapes(draw: st.DrawFn) -> Scrape:
    """One scrape; most totals grow by little, and most scrapes are of the same shape."""
    values = draw(st.lists(st.sampled_from(TOTALS), min_size=4, max_size=4))
    step_ms = draw(st.sampled_from((15_000, 15_000, 15_000, 1, 0, -40_000)))
    return values, step_ms, draw(st.sampled_from(("", "", "", "", "# another\n", "reload")))


def steady(values: Sequence[str], number: int) -> list[str]:
    """Let counters grow where a number allows it."""
    return [f"{int(one) + number}" if one.isdigit() and len(one) < 4 else one for one in values]


@given(st.lists(scrapes(), min_size=2, max_size=12), st.booleans())
def test_many_are_as_one(history: list[Scrape], grow: bool) -> None:  # noqa: FBT001 - drawn
    """A page that is replayed, and one each of whose lines is asked: the same, also of reloads."""
    quick, slow = kitchen.page(kitchen.by_job()), kitchen.page(kitchen.by_job())
    at_ms = kitchen.START_MS
    for number, (drawn, step_ms, event) in enumerate(history):
        at_ms += step_ms
        values = steady(drawn, number) if grow else drawn
        if event == "reload":
            quick, slow = renewed(quick), renewed(slow)
        body = text(values, "" if event == "reload" else event)
        found, expected = quick.read(body, at_ms), slow.learn(body, at_ms)
        assert isinstance(found, Reading)
        assert isinstance(expected, Reading)
        assert kitchen.account(found) == kitchen.account(expected)


def renewed(page: Page, plan: Plan | None = None) -> Page:
    """Give the page that takes its place."""
    other = kitchen.page(plan or kitchen.by_job())
    other.adopt(page)
    return other


@pytest.mark.parametrize("odd", ["3", "NaN", "9223372036854775792"])
def test_one_that_does_not_grow_stops_none(odd: str) -> None:
    """What one counter does at a scrape changes nothing for the others, nor for what comes next."""
    page, story = kitchen.page(kitchen.by_job()), []
    for step, replays in enumerate(["5", "6", "7", odd, "8", "9"]):
        body = text([f"{100 * step}", replays, f"{step}", "40"])
        reading = page.read(body, kitchen.START_MS + step * kitchen.STEP_MS)
        assert isinstance(reading, Reading)
        story.append({each.name: each.value for each in kitchen.points(reading)})
    energy, replay, requests = NAMES
    assert [one.get(energy) for one in story] == [None, 100, 100, 100, 100, 100]
    assert [one.get(requests) for one in story] == [None, 1, 1, 1, 1, 1]
    known: dict[str, list[float | None]] = {"3": [3, 5, 1], "NaN": [None, None, 1]}
    after = known.get(odd, [None, 1, 1])
    assert [one.get(replay) for one in story] == [None, 1, 1, *after]


def test_totals_are_given_back() -> None:
    """After many scrapes of one shape another shape counts from the last, and so does a reload."""
    page = kitchen.page(kitchen.by_job())
    for step in range(4):
        page.read(text(["1", "1", f"{step}", "40"]), kitchen.START_MS + step * kitchen.STEP_MS)
    for number, comment in enumerate(("# one more line\n", "# one more line\n", "")):
        at_ms = kitchen.START_MS + (4 + number) * kitchen.STEP_MS
        reading = page.read(text(["1", "1", f"{10 * (number + 1)}", "40"], comment), at_ms)
        assert isinstance(reading, Reading)
        (point,) = [each for each in kitchen.points(reading) if each.name == "requests_total"]
        assert point.value == (7 if number == 0 else 10)
        page = renewed(page) if number == 1 else page


def test_what_a_total_came_from_may_be_far_below_zero() -> None:
    """The increase is more than CloudWatch takes."""
    page, found = kitchen.page(kitchen.by_job()), []
    for step, total in enumerate(["-2", "-1e300", "-1e300", "5", "6"]):
        body = text(["1", "1", total, "40"])
        reading = page.read(body, kitchen.START_MS + step * kitchen.STEP_MS)
        assert isinstance(reading, Reading)
        found.append(kitchen.account(reading).partition("requests_total=")[2])
    assert found == ["", "", "0", "", "1"]


def test_one_that_was_blank_has_a_time_of_its_own() -> None:
    """A scrape at the moment of the last one brings something new of it alone."""
    page = kitchen.page(kitchen.by_job())
    for total, at_ms in (("1", 0), ("2", 10), ("9223372036854775792", 20), ("4", 20)):
        reading = page.read(text([total, "1", "1", "40"]), kitchen.START_MS + at_ms)
    assert isinstance(reading, Reading)
    assert kitchen.account(reading) == f"{GAUGE}=40 {NAMES[0]}=2 | counter_time_not_advanced=2"


def test_a_page_that_is_not_kept_counts_on() -> None:
    """A line written in an unusual way has the page read anew at each scrape."""
    page, found = kitchen.page(kitchen.by_job()), []
    for step in range(4):
        body = text(["1", "1", f"{step * step}", "40"], "odd_total   1\n")
        reading = page.read(body, kitchen.START_MS + step * kitchen.STEP_MS)
        assert isinstance(reading, Reading)
        assert page.replay(body, kitchen.START_MS) is None
        found += [each.value for each in kitchen.points(reading) if each.name == NAMES[2]]
    assert found == [1, 3, 5]


def test_what_is_sent_as_it_is_counts_from_nothing_later() -> None:
    """A reload sends totals, and another differences again: not what came in all that time."""
    page, found = kitchen.page(kitchen.by_job()), []
    absolute = kitchen.by_job(counters=((lambda _: True, Treatment.ABSOLUTE),))
    for step, total in enumerate(["100", "110", "120", "5000", "9000", "9001"]):
        if step in {2, 4}:
            page = renewed(page, absolute if step == 2 else kitchen.by_job())
        body = text(["1", "1", total, "40"])
        reading = page.read(body, kitchen.START_MS + step * kitchen.STEP_MS)
        assert isinstance(reading, Reading)
        found.append([each.value for each in kitchen.points(reading) if each.name == NAMES[2]])
    assert found == [[], [10], [120], [5000], [], [1]]
