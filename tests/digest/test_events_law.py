"""Laws of ``cwgpu.events``: however samples are packed, CloudWatch makes the same of them."""

import itertools
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from hypothesis import given, settings
from hypothesis import strategies as st

from cwgpu.digest.page import Page
from cwgpu.emf import limits
from cwgpu.emf.delta import Treatment
from cwgpu.model.event import EmfEvent
from cwgpu.model.reading import Refused
from cwgpu.plan.plan import Events, GroupBy, Kept, Plan
from tests.digest import kitchen
from tests.fakes import emf as reader
from tests.fakes.emf import Datapoint

events = st.builds(
    Events,
    st.sampled_from(GroupBy),
    st.sampled_from([None, 60.0, 120.0]),
    st.sampled_from(["all", "dimensions", ("gpu", "no such label"), ()]),
)
sets = st.sampled_from(
    [(), ("job",), ("pod",), ("job", "pod"), ("gpu",), ("DCGM_A", "job"), ("prom_metric_type",)]
)
declarations = st.lists(
    st.builds(
        kitchen.declared,
        st.sampled_from([".", ".", "DCGM_A|c_total", "DCGM_B|s"]),
        st.lists(sets, min_size=1, max_size=3, unique=True).map(tuple),
        source=st.just("gpu"),
        matcher=st.sampled_from(["", "", "[01]", "[12]"]),
    ),
    min_size=1,
    max_size=3,
)
plans = st.builds(
    lambda each, dedup, unselected, fine: kitchen.plan(
        *each,
        dedup=dedup,
        log_unselected=unselected,
        units={"DCGM_B": "Percent"},
        resolutions=((lambda name: name == fine, 1),),
    ),
    declarations,
    st.booleans(),
    st.booleans(),
    st.sampled_from(["", "DCGM_A", "c_total"]),
)

names = st.sampled_from(["DCGM_A", "DCGM_B", "c_total", "s", "h_bucket", "gpu"])
label_sets = st.fixed_dictionaries(
    {},
    optional={
        "gpu": st.sampled_from(["0", "1", "2"]),
        "pod": st.sampled_from(["p", "q"]),
        "DCGM_A": st.just("a label"),
        "Hostname": st.sampled_from(["n1", "n2"]),
    },
)
values = st.sampled_from(
    [
        "0",
        "1",
        "2.5",
        "97.123456",
        "1e3",
        "1e-7",
        "-0.0004",
        "NaN",
        "9223372036854775794",
        "1e308",
        "bad",
    ]
)

Series = tuple[str, tuple[tuple[str, str], ...], str]
"""Name, labels, and the time that the page gives it, if it does."""


def series(*stamps: str) -> st.SearchStrategy[Series]:
    """A series with one of these times."""
    labels = label_sets.map(lambda pairs: tuple(pairs.items()))
    return st.tuples(names, labels, st.sampled_from(stamps))


shapes = st.one_of(
    *[st.lists(series(""), min_size=1, max_size=10)] * 4,
    st.lists(series("", " 1765000000001"), max_size=10),
)


@dataclass(frozen=True)
class Scrape:
    """One scrape: which shape the page has, its values, and how long after the last it comes."""

    shape: int
    values: Sequence[str]
    after_ms: int
    fault: str = ""
    """A bad line at the end."""


scrapes = st.lists(
    st.builds(
        Scrape,
        st.sampled_from([0, 0, 0, 1]),
        st.lists(values, min_size=10, max_size=10),
        st.sampled_from([0, 5_000, 5_000, 15_000, 61_000]),
        st.sampled_from([""] * 9 + ["bad\n"]),
    ),
    min_size=1,
    max_size=10,
)

HEADER = "# TYPE DCGM_A gauge\n# TYPE DCGM_B gauge\n# TYPE c counter\n# TYPE c_total counter\n"


def text(pages: Sequence[Sequence[Series]], scrape: Scrape) -> bytes:
    """Write a page; h_bucket has no type, ``s`` neither."""
    shape = pages[scrape.shape % len(pages)]
    lines = []
    for (name, labels, stamp), value in zip(shape, scrape.values, strict=False):
        pairs = ",".join(f'{label}="{of}"' for label, of in labels)
        lines.append(f"{name}{{{pairs}}} {value}{stamp}\n")
    return (HEADER + "".join(lines) + scrape.fault).encode()


@dataclass
class Run:
    """What a page made of some scrapes."""

    events: list[EmfEvent] = field(default_factory=list)
    selected: int = 0
    dropped: Counter[str] = field(default_factory=Counter)


def run(plan: Plan, pages: Sequence[Sequence[Series]], given: Sequence[Scrape]) -> Run:
    """Read the scrapes one after the other, and close at the end."""
    # Scrapes come at times of their own; one that comes too soon makes one more event.
    page, found, at_ms = kitchen.page(plan, interval_s=15.0), Run(), kitchen.START_MS
    for scrape in given:
        at_ms += scrape.after_ms
        reading = page.read(text(pages, scrape), at_ms)
        if isinstance(reading, Refused):
            continue  # a page of nothing but bad lines
        dropped = {drop.reason.value: drop.count for drop in reading.dropped}
        assert reading.samples == reading.selected + sum(dropped.values())
        found.events += reading.events
        found.selected += reading.selected
        found.dropped.update(dropped)
    found.events += page.close()
    assert page.close() == ()
    return found


def statistics(
    made: Iterable[EmfEvent], window_ms: int, decimals: int | None = None
) -> Counter[Datapoint]:
    """Give what CloudWatch makes of the events, which it takes without complaint.

    Times are those of the windows, but for metrics that it stores by the second.
    """
    found: Counter[Datapoint] = Counter()
    for event in made:
        assert len(event.message) <= limits.MESSAGE_BYTES
        declared = b'"_aws"' in event.message
        extracted = reader.extract(event.message.decode(), event.at_ms, declared=declared)
        assert extracted.error is None, extracted.error
        assert len(extracted.datapoints) == event.datapoints
        for one in extracted.datapoints:
            value = one.value if decimals is None else float(f"{one.value:.{decimals}f}")
            at_ms = one.at_ms if one.resolution == 1 else one.at_ms // window_ms
            found[replace(one, at_ms=at_ms, value=value)] += 1
    return found


def fields(made: Iterable[EmfEvent]) -> Counter[tuple[str, float]]:
    """Give the numbers of the log, one by one, whatever CloudWatch makes of them."""
    found: Counter[tuple[str, float]] = Counter()
    for event in made:
        numbers = 0
        for name, value in json.loads(event.message).items():
            listed = value if isinstance(value, list) else [value]
            for one in listed:
                if isinstance(one, int | float):
                    found[name, float(one)] += 1
                    numbers += 1
        assert numbers == event.samples
    return found


@settings(max_examples=200, deadline=None)
@given(plans, events, st.lists(shapes, min_size=1, max_size=2), scrapes)
def test_the_packing_changes_no_statistic(
    plan: Plan, packed: Events, pages: list[list[Series]], given_scrapes: list[Scrape]
) -> None:
    """Sum, SampleCount, Minimum, Maximum and every value of each window are those of plain events.

    So are the reasons for which samples are dropped.
    """
    window_ms = int((packed.window_s or 0.001) * 1000)
    plain = run(plan, pages, given_scrapes)
    other = run(replace(plan, emf=replace(plan.emf, events=packed)), pages, given_scrapes)
    assert statistics(other.events, window_ms) == statistics(plain.events, window_ms)
    assert fields(other.events) == fields(plain.events)
    assert (other.selected, other.dropped) == (plain.selected, plain.dropped)
    assert sum(event.samples for event in other.events) == other.selected
    assert {event.stream for event in other.events} == {event.stream for event in plain.events}


@settings(max_examples=100, deadline=None)
@given(events, st.integers(0, 9), st.lists(shapes, min_size=1, max_size=1), scrapes)
def test_precision_rounds_and_nothing_else(
    packed: Events, decimals: int, pages: list[list[Series]], given_scrapes: list[Scrape]
) -> None:
    """The values are those that would be sent otherwise, to so many decimals."""
    absolute = ((lambda _: True, Treatment.ABSOLUTE),)
    exact = kitchen.plan(kitchen.declared(sets=(("job",), ("pod",))), counters=absolute)
    window_ms = int((packed.window_s or 0.001) * 1000)
    rounded = replace(exact, emf=replace(exact.emf, events=replace(packed, decimals=decimals)))
    found = statistics(run(rounded, pages, given_scrapes).events, window_ms)
    sent = statistics(run(exact, pages, given_scrapes).events, window_ms, decimals)
    assert found == sent


@settings(max_examples=100, deadline=None)
@given(plans, events, st.lists(shapes, min_size=1, max_size=2), scrapes)
def test_replaying_equals_reading_afresh_in_every_form(
    plan: Plan, packed: Events, pages: list[list[Series]], given_scrapes: list[Scrape]
) -> None:
    """A known page gives the events that one never seen before would give."""
    absolute = replace(plan.emf, events=packed, counters=((lambda _: True, Treatment.ABSOLUTE),))
    plan = replace(plan, emf=absolute)
    known = kitchen.page(plan)
    for number, scrape in enumerate(given_scrapes):
        body = text(pages, scrape)
        at_ms = kitchen.START_MS + number
        assert _all(known, body, at_ms) == _all(kitchen.page(plan), body, at_ms)


@settings(max_examples=50, deadline=None)
@given(
    st.integers(1, 230),
    st.lists(st.integers(0, 60_000), min_size=1, max_size=30),
    st.sampled_from(GroupBy),
    st.sampled_from(["all", "dimensions"]),
)
def test_no_array_is_too_long(
    gpus: int, pauses: list[int], group_by: GroupBy, labels: Kept
) -> None:
    """However many series and scrapes come together, every value arrives, in its window."""
    packed = Events(group_by, 60.0, labels)
    plan = kitchen.by_job(events=packed)
    few = [("DCGM_A", (("gpu", str(gpu)),), "") for gpu in range(gpus)]
    shape = [*few, ("DCGM_B", (("gpu", "0"),), "")]
    given_scrapes = [Scrape(0, [f"{turn}.5"] * len(shape), ms) for turn, ms in enumerate(pauses)]
    found = run(plan, [shape], given_scrapes)
    assert found.selected == len(pauses) * len(shape)
    points = statistics(found.events, 60_000)
    times = itertools.accumulate(pauses, initial=kitchen.START_MS)
    expected = Counter(
        (at_ms // 60_000, turn + 0.5) for turn, at_ms in enumerate(itertools.islice(times, 1, None))
    )
    assert Counter(
        {(one.at_ms, one.value): n for one, n in points.items() if one.name == "DCGM_A"}
    ) == Counter({key: count * gpus for key, count in expected.items()})


def _all(page: Page, body: bytes, at_ms: int) -> tuple[object, ...]:
    reading = page.read(body, at_ms)
    if isinstance(reading, Refused):
        return (reading,)
    return reading.events + page.close(), reading.selected, reading.dropped
