"""The self metrics of time, as a reader of the page sees them."""

import pytest
from prometheus_client import parser

from cwgpu.telemetry.lateness import Lateness
from cwgpu.telemetry.meters import Meters


@pytest.mark.parametrize("metric", ["scrape", "loop"])
@pytest.mark.parametrize(
    ("late_s", "bucket"),
    [(-0.3, "0.001"), (0.0, "0.001"), (0.0015, "0.002"), (0.2, "0.2"), (4.0, "5.0"), (9.0, "+Inf")],
)
def test_how_late_something_comes(metric: str, late_s: float, bucket: str) -> None:
    """What is late counts in the buckets from its lateness on; what is early is not late."""
    meters = Meters()
    getattr(Lateness(meters), metric)(late_s)
    name = {"scrape": "cwgpu_scrape_lateness_seconds", "loop": "cwgpu_event_loop_lag_seconds"}
    text = meters.render()[0].decode()
    samples = [
        sample
        for family in parser.text_string_to_metric_families(text)
        for sample in family.samples
        if sample.name.startswith(name[metric])
    ]
    buckets = [one.labels["le"] for one in samples if one.name.endswith("_bucket") and one.value]
    assert buckets[0] == bucket
    assert [one.value for one in samples if one.name.endswith("_sum")] == [max(0.0, late_s)]
