"""The fleet bench, small: that each datapoint comes once, and that it is found out if not."""

import itertools
import json
from collections.abc import Callable, Sequence

import pytest

from tests.bench.fleet import __main__ as fleet
from tests.bench.fleet import inside, page, table, verify
from tests.bench.fleet.record import Put

GPUS, FIELDS, NOW_S = 8, 6, 1_765_000_000.0
"""Five gauges, and a counter: that of energy."""
COUNTS = (4, 3)
"""Scrapes of two targets."""


def test_every_datapoint_of_a_small_fleet_comes_once(capsys: pytest.CaptureFixture[str]) -> None:
    """Ten targets, scraped each second by the real agent: no gap, and nothing twice."""
    sizes = ("--targets", "10", "--interval", "1", "--duration", "1")
    code = fleet.main([*sizes, "--full", "-o", "json"])
    document = json.loads(capsys.readouterr().out)
    assert (code, document["correct"], document["wrong"]) == (0, True, [])
    figures = {name: figure["median"] for name, figure in document["figures"].items()}
    assert figures["datapoints"] >= 10 * 8 * 25
    assert figures["agent.exit_code"] == 0
    assert figures["agent.cpu_s"] > 0
    assert figures["agent.lateness_s.p50"] >= 0
    assert "each as expected and once" in table.render(document)


# ---- what is found out


def _events(target: int, scrapes: int) -> list[dict[str, object]]:
    """Give an event for each scrape, GPU and field of a target."""
    events = []
    fields = page.fields(FIELDS)
    for scrape, (at, field), gpu in itertools.product(
        range(scrapes), enumerate(fields), range(GPUS)
    ):
        value, before = (
            float(page.values(fields, GPUS, each)[at * GPUS + gpu]) if each >= 0 else None
            for each in (scrape, scrape - 1)
        )
        assert value is not None
        if field.counts and before is None:
            continue
        sent = value - before if field.counts and before is not None else value
        sets = [dict(each) for each in verify.dimension_sets(target, gpu)]
        directive = {
            "Namespace": verify.CLOUDWATCH_NAMESPACE,
            "Dimensions": [sorted(each) for each in sets],
            "Metrics": [{"Name": field.metric}],
        }
        aws = {"Timestamp": int(NOW_S * 1000), "CloudWatchMetrics": [directive]}
        labels = {name: value for each in sets for name, value in each.items()}
        message = {"_aws": aws, "NodeName": page.node(target), **labels, field.metric: sent}
        events.append({"timestamp": int(NOW_S * 1000), "message": json.dumps(message)})
    return events


def _puts(spoil: Callable[[list[dict[str, object]]], None] = lambda _: None) -> list[Put]:
    events = [event for target, scrapes in enumerate(COUNTS) for event in _events(target, scrapes)]
    spoil(events)
    return [Put(NOW_S, 1, 1, events[at : at + 10]) for at in range(0, len(events), 10)]


_Check = Callable[[Sequence[Put], Sequence[int], int, int], tuple[list[str], int]]
CHECKS = pytest.mark.parametrize("check", [verify.sums, verify.points], ids=["sums", "points"])


@CHECKS
def test_what_comes_once_is_right(check: _Check) -> None:
    """Gauges at each scrape, counters at each but the first, in one set of dimensions or in two."""
    wrong, datapoints = check(_puts(), COUNTS, GPUS, FIELDS)
    assert wrong == []
    gauges, pods = (FIELDS - 1) * sum(COUNTS), 6
    assert datapoints == (gauges + sum(COUNTS) - len(COUNTS)) * (GPUS + pods)


@CHECKS
@pytest.mark.parametrize(
    "spoil",
    [
        lambda events: events.pop(17),
        lambda events: events.append(events[17]),
        lambda events: events.__setitem__(17, events[18]),
    ],
    ids=["a gap", "a double", "both"],
)
def test_what_does_not_come_once_is_found_out(
    check: _Check, spoil: Callable[[list[dict[str, object]]], None]
) -> None:
    """One event that is missing, comes twice, or in another's place is told of, with its metric."""
    wrong, _ = check(_puts(spoil), COUNTS, GPUS, FIELDS)
    assert wrong
    assert all("DCGM_FI_DEV_" in line for line in wrong)


def test_an_event_that_is_no_emf_is_found_out() -> None:
    """Events that the service would make no datapoints of are told of, with the reason."""
    events = [{"timestamp": 0, "message": '{"_aws": {}}'}]
    wrong, datapoints = verify.points([Put(NOW_S, 1, 1, events)], [0], GPUS, FIELDS)
    assert (wrong, datapoints) == (["CloudWatchMetrics is missing or no array"], 0)


# ---- the pages


@pytest.mark.parametrize("count", [1, 25, 62, 250])
def test_there_are_as_many_fields_as_wanted(count: int) -> None:
    """Those of real pages, and made ones where these do not suffice; none comes twice."""
    assert len({field.name for field in page.fields(count)}) == count


def test_every_value_is_another_at_the_next_scrape() -> None:
    """No value stays, so an agent that remembers texts gains nothing by it."""
    scrapes = [page.values(page.fields(80), GPUS, scrape) for scrape in range(4)]
    for values, later in itertools.pairwise(scrapes):
        assert all(map(bytes.__ne__, values, later))


# ---- what the agent says of itself


def test_a_quantile_is_that_of_what_came_in_between() -> None:
    """What a histogram had before does not count, and within a bucket values are spread evenly."""
    name = "lag_seconds"
    bounds = ("0.1", "0.2", "+Inf")

    def read(*counts: float) -> inside.Page:
        return {
            f'{name}_bucket{{le="{bound}"}}': count
            for bound, count in zip(bounds, counts, strict=True)
        }

    begin, end = read(100, 100, 100), read(100, 104, 108)
    assert inside.quantile(begin, end, name, 0.25) == pytest.approx(0.15)
    assert inside.quantile(begin, end, name, 0.99) == 0.2
    assert inside.quantile(begin, begin, name, 0.5) is None
    assert inside.quantile(begin, end, "other_seconds", 0.5) is None
