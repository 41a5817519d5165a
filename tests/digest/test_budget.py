"""The budget of custom metrics: who is counted, who is let in, and who is not."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cwgpu.digest.budget import Budget, Identity
from cwgpu.digest.page import Page
from cwgpu.digest.recipe import Recipe
from cwgpu.model.drop import DropReason
from cwgpu.model.reading import Reading
from cwgpu.plan.plan import Budget as Limit
from cwgpu.plan.plan import Plan
from tests.digest import kitchen
from tests.digest.kitchen import START_MS, STEP_MS, TARGET
from tests.fakes import emf

MINUTE_MS, HOUR_MS = 60_000, 3_600_000
SETS = (("ClusterName", "pod"), ("ClusterName",))
PLAN = kitchen.plan(kitchen.declared(sets=SETS))


def identity(name: str) -> Identity:
    """A metric without dimensions."""
    return ("N", ()), name


def budget(most: int, *, drops: bool = True) -> Budget:
    """A budget that nobody has used."""
    made = Budget()
    made.follow(Limit(most, drops))
    return made


def page(of: Budget | None, plan: Plan = PLAN, **target: str) -> Page:
    """A fresh page that shares the budget."""
    return Page(Recipe(plan, plan.jobs[0], of), {**TARGET, **target})


def body(*pods: str, name: str = "util", value: object = 1, kind: str = "gauge") -> bytes:
    """A page with one metric of each pod."""
    lines = "".join(f'{name}{{pod="{pod}"}} {value}\n' for pod in pods)
    return f"# TYPE {name} {kind}\n{lines}".encode()


def read(one: Page, text: bytes, at_ms: int = START_MS) -> Reading:
    """Read a page that is let in."""
    reading = one.read(text, at_ms)
    assert isinstance(reading, Reading)
    return reading


def fed(reading: Reading) -> set[tuple[str, ...]]:
    """Give the metrics that CloudWatch makes of it: the values of their dimensions."""
    found = set()
    for event in reading.events:
        made = emf.extract(event.message.decode(), event.at_ms)
        assert made.error is None
        found |= {tuple(sorted(value for _, value in one.dimensions)) for one in made.datapoints}
    return found


def lost(reading: Reading) -> dict[DropReason, int]:
    """Give the counts of those that are in no event; all samples are accounted for."""
    counts = {drop.reason: drop.count for drop in reading.dropped}
    assert reading.selected + sum(counts.values()) == reading.samples
    assert sum(event.samples for event in reading.events) == reading.selected
    return counts


# --- Who is let in --------------------------------------------------------------------------------


def test_what_is_there_stays_and_what_is_new_is_refused() -> None:
    """The first get the places; one that has one is let in again."""
    one = budget(2)
    assert [bool(one.admit(identity(name), START_MS)) for name in "abac"] == [1, 1, 1, 0]
    assert one.count(START_MS) == 2
    assert (one.exceeded, one.refused) == (True, identity("c"))


def test_places_become_free_an_hour_after_the_last_value() -> None:
    """A metric that still gets values keeps its place; another's goes to the first that asks."""
    one = budget(2)
    entry = one.admit(identity("a"), START_MS)
    assert entry
    assert one.admit(identity("b"), START_MS)
    one.note([entry], START_MS + 30 * MINUTE_MS)
    assert not one.admit(identity("c"), START_MS + HOUR_MS - 1)
    assert one.rooms == 0
    assert one.admit(identity("c"), START_MS + HOUR_MS + MINUTE_MS)
    assert (one.rooms, one.exceeded) == (1, False)
    assert not one.admit(identity("b"), START_MS + HOUR_MS + MINUTE_MS)


def test_a_clock_that_was_set_back_holds_no_place() -> None:
    """What had its value in a future that is not to be is gone an hour from now, as all else."""
    one = budget(1)
    assert one.admit(identity("a"), START_MS + 10 * HOUR_MS)
    assert not one.admit(identity("b"), START_MS)
    assert not one.admit(identity("b"), START_MS + HOUR_MS - MINUTE_MS)
    assert one.admit(identity("b"), START_MS + HOUR_MS)


def test_a_page_that_outlives_a_clock_keeps_its_places() -> None:
    """Its values count from the time that it is now, though the page is the same as before."""
    one = budget(1)
    of, other = page(one), page(one)
    for at_ms in (START_MS + 10 * HOUR_MS, START_MS, START_MS + 59 * MINUTE_MS):
        read(of, body("p"), at_ms)
    after = read(other, body("q"), START_MS + HOUR_MS)
    assert after.selected == 0
    assert one.count(START_MS + HOUR_MS) == 1


def test_what_comes_back_is_counted_once() -> None:
    """A metric without a value for an hour, fed again by its page, by another, or by both."""
    one = budget(2)
    entry = one.admit(identity("a"), START_MS)
    assert entry
    assert one.count(START_MS + HOUR_MS) == 0
    later_ms = START_MS + 2 * HOUR_MS
    other = one.admit(identity("a"), later_ms)
    assert other
    one.note([entry], later_ms + MINUTE_MS)
    assert one.count(later_ms + MINUTE_MS) == 1
    assert one.count(later_ms + HOUR_MS) == 1
    assert one.count(later_ms + HOUR_MS + MINUTE_MS) == 0
    one.note([entry, other], later_ms + 2 * HOUR_MS)
    assert one.count(later_ms + 2 * HOUR_MS) == 1


def test_a_warning_refuses_nothing() -> None:
    """Without ``drops`` all are let in, and the count says that they are too many."""
    one = budget(1, drops=False)
    assert one.admit(identity("a"), START_MS)
    assert not one.exceeded
    assert one.admit(identity("b"), START_MS)
    assert (one.exceeded, one.refused, one.count(START_MS)) == (True, None, 2)
    assert one.count(START_MS + HOUR_MS) == 0
    assert not one.exceeded


def test_another_limit_gives_room() -> None:
    """After a reload with more room those that were refused may ask again; none is put out."""
    one = budget(1)
    assert [bool(one.admit(identity(name), START_MS)) for name in "ab"] == [1, 0]
    one.follow(Limit(1, drops=True))
    assert (one.rooms, one.exceeded) == (0, True)
    one.follow(Limit(2, drops=True))
    assert (one.rooms, one.exceeded) == (1, False)
    assert one.admit(identity("b"), START_MS)
    one.follow(Limit(1, drops=True))
    assert one.exceeded
    assert one.admit(identity("b"), START_MS)
    one.follow(None)
    assert one.admit(identity("c"), START_MS)
    assert not one.exceeded


# --- Pages ----------------------------------------------------------------------------------------


def test_a_page_without_a_budget_counts_nothing() -> None:
    """Nothing is refused, whatever there is."""
    assert lost(read(page(None), body("a", "b"))) == {}


def test_newest_metrics_are_refused() -> None:
    """What fits is sent; a sample keeps the sets that it may have, and is lost with the last."""
    one = page(budget(3))
    reading = read(one, body("a", "b", "c"))
    assert fed(reading) == {("lab",), ("a", "lab"), ("b", "lab")}
    assert lost(reading) == {}
    other = page(budget(0), kitchen.plan(kitchen.declared(sets=SETS[:1])))
    assert lost(read(other, body("a", "b"))) == {DropReason.OVER_BUDGET: 2}


def test_metrics_that_are_refused_are_counted() -> None:
    """Each once, though its sample is sent by another set; anew once there was room."""
    one = budget(2)
    of = page(one)
    for step in range(3):
        reading = read(of, body("a", "b", "c", value=step), START_MS + step * STEP_MS)
        assert lost(reading) == {}
    assert (one.count(START_MS), one.refusals) == (2, 2)
    one.follow(Limit(3, drops=True))
    assert one.refusals == 0
    read(of, body("a", "b", "c"), START_MS + 3 * STEP_MS)
    assert (one.count(START_MS), one.refusals) == (3, 1)


def test_no_more_are_counted_than_can_be_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page of nonsense costs no memory without end."""
    monkeypatch.setattr("cwgpu.digest.budget._MOST_REFUSED", 2)
    one = budget(0)
    assert [bool(one.admit(identity(name), START_MS)) for name in "abc"] == [0, 0, 0]
    assert one.refusals == 2


def test_what_is_refused_is_named() -> None:
    """The metric's name stands beside the count."""
    pods = kitchen.plan(kitchen.declared(sets=SETS[:1]))
    (drop,) = read(page(budget(1), pods), body("a", "b")).dropped
    assert (drop.reason, drop.count, drop.names) == (DropReason.OVER_BUDGET, 1, ("util",))


def test_pages_share_the_budget() -> None:
    """Metrics of one target leave no place for another's, but those they share are one."""
    shared = budget(2)
    first, second = page(shared, instance="1"), page(shared, instance="2")
    assert fed(read(first, body("a"))) == {("lab",), ("a", "lab")}
    assert fed(read(second, body("b"))) == {("lab",)}
    assert fed(read(second, body("a"))) == {("lab",), ("a", "lab")}


def test_a_pod_that_ends_makes_room_an_hour_later() -> None:
    """A page that goes on as it is gets what was refused, once there is a place."""
    one = page(budget(2))
    read(one, body("a"))
    last_ms = START_MS + STEP_MS
    for at_ms in range(last_ms, last_ms + HOUR_MS - STEP_MS, STEP_MS):
        assert fed(read(one, body("b"), at_ms)) == {("lab",)}
    at_ms = START_MS + HOUR_MS
    found = [fed(read(one, body("b"), at_ms + step * STEP_MS)) for step in range(10)]
    assert found[-1] == {("lab",), ("b", "lab")}
    assert {("lab",)} in found


def test_a_page_that_does_not_change_keeps_its_places() -> None:
    """Replayed for hours, its metrics stay counted, and it is not read anew."""
    shared = budget(2)
    one = page(shared)
    read(one, body("a"))
    for at_ms in range(START_MS, START_MS + 3 * HOUR_MS, 5 * MINUTE_MS):
        assert one.replay(body("a"), at_ms) is not None
        assert shared.count(at_ms) == 2


def test_a_value_that_cannot_be_sent_is_no_metric() -> None:
    """What has no value for an hour is not counted; with its first value it is."""
    shared = budget(10)
    one = page(shared)
    text = body("a", value="NaN") + body("a", name="temp")
    for at_ms in range(START_MS, START_MS + 2 * HOUR_MS, MINUTE_MS):
        read(one, text, at_ms)
    assert shared.count(at_ms) == 2
    read(one, body("a", value=5) + body("a", name="temp"), at_ms + MINUTE_MS)
    assert shared.count(at_ms + MINUTE_MS) == 4


def test_counters_are_counted_at_their_first_difference() -> None:
    """A counter's first sample is no value yet; a page that lives for two scrapes has a metric."""
    shared = budget(10)
    one = page(shared, kitchen.plan(kitchen.declared(sets=SETS[:1])))
    read(one, body("a", kind="counter"), START_MS)
    read(one, body("a", kind="counter", value=2), START_MS + STEP_MS)
    assert shared.count(START_MS + HOUR_MS) == 1
    assert shared.count(START_MS + STEP_MS + HOUR_MS) == 0


def test_plain_fields_are_no_metrics() -> None:
    """What is only logged takes no place."""
    logged = replace(PLAN, emf=replace(PLAN.emf, declarations=(), log_unselected=True))
    shared = budget(0)
    assert lost(read(page(shared, logged), body("a"))) == {}
    assert shared.count(START_MS) == 0


PAGES = st.lists(st.sets(st.sampled_from("abcdef"), min_size=1), min_size=1, max_size=12)


@settings(max_examples=60, deadline=None)
@given(pages=PAGES, most=st.integers(0, 8), step_ms=st.sampled_from([STEP_MS, 30 * MINUTE_MS]))
def test_never_more_than_the_budget(pages: list[set[str]], most: int, step_ms: int) -> None:
    """Whatever comes and goes, CloudWatch never gets more metrics of an hour than it may."""
    shared = budget(most)
    one = page(shared)
    sent: list[tuple[int, set[tuple[str, ...]]]] = []
    for step, pods in enumerate(pages):
        at_ms = START_MS + step * step_ms
        reading = read(one, body(*sorted(pods)), at_ms)
        assert lost(reading).keys() <= {DropReason.OVER_BUDGET}
        sent.append((at_ms, fed(reading)))
        recent = [found for then_ms, found in sent if then_ms > at_ms - HOUR_MS]
        assert len(set[tuple[str, ...]]().union(*recent)) <= shared.count(at_ms) <= most


@pytest.mark.parametrize("drops", [True, False])
def test_a_budget_with_room_changes_nothing(drops: bool) -> None:  # noqa: FBT001 - a case
    """Events are the same bytes, cold and hot, as without one."""
    counted, free = page(budget(100, drops=drops)), page(None)
    for step in range(3):
        at_ms = START_MS + step * STEP_MS
        text = body("a", "b", value=step)
        assert read(counted, text, at_ms).events == read(free, text, at_ms).events
