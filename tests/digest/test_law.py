"""Laws of the page: replaying equals reading afresh, and every sample is accounted for."""

import json
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from cwgpu.emf.delta import Treatment
from cwgpu.model.reading import Reading, Refused
from tests.digest import kitchen

ABSOLUTE = kitchen.plan(counters=((lambda _: True, Treatment.ABSOLUTE),))

names = st.sampled_from(["DCGM_A", "DCGM_B", "other", "s", "s_sum", "h_bucket", "c_total"])
pods = st.sampled_from(["", "p1", "p2", 'q\\"uoted', "naïve"])
values = st.sampled_from(
    [
        "0",
        "1",
        "97.0",
        "1e3",
        ".5",
        "+7",
        "NaN",
        "+Inf",
        "9223372036854775794",
        "2147483632",
        "140737488355328.000000",
        "1e309",
        "bad",
        "",
        "1 1765000000001",
        "1  1",
        "5\r",
        "1" * 40,
    ]
)


@st.composite
def sample(draw: st.DrawFn) -> str:
    """One sample line, good or bad."""
    written = draw(st.sampled_from(["", '{{pod="{}",quantile="1"}}', '{{ pod="{}" }}', "\t"]))
    labels = written.format(draw(pods))
    return f"{draw(names)}{labels} {draw(values)}"


types = st.builds(
    "# TYPE {} {}".format, names, st.sampled_from(["gauge", "counter", "summary", "histogram", "x"])
)
others = st.sampled_from(["", "# HELP DCGM_A words", "# comment", "<html>", 'm{a="', "\x00", "  "])
HEADER = "# TYPE DCGM_A gauge\n# TYPE DCGM_B gauge\n# TYPE c counter\n"
lines = st.lists(st.one_of(sample(), sample(), sample(), types, others), max_size=12)


def page_text(body: list[str]) -> bytes:
    """A page whose families are mostly typed."""
    return (HEADER + "\n".join(body) + "\n").encode()


def answer(body: list[str], openmetrics: bool) -> tuple[bytes, str]:  # noqa: FBT001 - drawn
    """The same in one of the two formats, which one exporter may serve by turns."""
    if openmetrics:
        return page_text(body) + b"# EOF\n", "application/openmetrics-text"
    return page_text(body), "text/plain"


@settings(max_examples=150, deadline=None)
@given(
    st.lists(lines, min_size=1, max_size=3),
    st.lists(st.tuples(st.integers(0, 2), st.booleans()), max_size=6),
)
def test_replaying_equals_reading_afresh(
    bodies: list[list[str]], order: list[tuple[int, bool]]
) -> None:
    """Whatever came before, a page gives what a page never seen before would give.

    Only the count of new series may be lower.
    """
    known = kitchen.page(ABSOLUTE)
    for scrape, (number, openmetrics) in enumerate([(0, False), (0, False), *order]):
        body, content_type = answer(bodies[number % len(bodies)], openmetrics)
        at_ms = kitchen.START_MS + scrape
        fresh = kitchen.page(ABSOLUTE)
        found, other = (one.read(body, at_ms, content_type) for one in (known, fresh))
        assert found.counts.added <= other.counts.added
        counts = replace(found.counts, added=other.counts.added)
        assert found._replace(counts=counts) == other


@settings(max_examples=150, deadline=None)
@given(st.lists(lines, min_size=1, max_size=4))
def test_every_sample_is_selected_or_has_a_reason(bodies: list[list[str]]) -> None:
    """Counters included: the account of each page adds up to its samples."""
    known = kitchen.page()
    for scrape, body in enumerate(bodies):
        found = known.read(page_text(body), kitchen.START_MS + scrape)
        if isinstance(found, Refused):
            continue
        assert found.samples == found.selected + sum(drop.count for drop in found.dropped)
        assert found.selected == sum(event.samples for event in found.events)
        _check_events(found)


def _check_events(found: Reading) -> None:
    for event in found.events:
        message = json.loads(event.message)
        directives = message["_aws"]["CloudWatchMetrics"]
        metrics = [metric["Name"] for one in directives for metric in one["Metrics"]]
        assert all(isinstance(message[name], int | float) for name in metrics)
        assert event.samples == len(set(metrics))


@settings(max_examples=50, deadline=None)
@given(st.binary(max_size=200))
def test_no_bytes_can_break_a_page(body: bytes) -> None:
    """Any answer is read or refused; nothing is raised, also when it comes twice."""
    known = kitchen.page()
    assert known.read(body, 1) == known.read(body, 1)
