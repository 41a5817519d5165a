"""The self metrics of delivery, as a reader of the page sees them."""

import pytest
from prometheus_client import parser

from cwgpu.model.event import Outcome, StreamKey
from cwgpu.telemetry.delivery import Delivery
from cwgpu.telemetry.meters import Meters

NOW = 1_700_000_000.0
OUTCOME = Outcome(StreamKey("group", "stream"), 3, 30, 60)


class Page:
    """The metrics of delivery alone."""

    def __init__(self) -> None:
        self._meters = Meters()
        self.delivery = Delivery(self._meters, lambda: NOW)

    def read(self, prefix: str) -> dict[str, float]:
        """Give the samples with such a name, without the prefix."""
        text = self._meters.render()[0].decode()
        return {
            sample.name.removeprefix(prefix) + "".join(sample.labels.values()): sample.value
            for family in parser.text_string_to_metric_families(text)
            for sample in family.samples
            if sample.name.startswith(prefix)
        }


@pytest.fixture
def page() -> Page:
    """Give metrics that nothing happened to."""
    return Page()


def test_what_is_not_known_is_zero(page: Page) -> None:
    """Before anything happened there is a value of everything, and it is 0."""
    samples = page.read("cwgpu_")
    assert set(samples.values()) == {0.0}
    assert {"clock_skew_seconds", "spool_bytes", "spool_failures_total"} < set(samples)


@pytest.mark.parametrize(
    ("age_s", "bucket"),
    [(0.0, "1.0"), (-5.0, "1.0"), (4.0, "5.0"), (86_400.0, "86400.0"), (1e6, "+Inf")],
)
def test_how_old_a_batch_was_when_it_was_taken(page: Page, age_s: float, bucket: str) -> None:
    """A batch counts in the buckets from its age on; a clock that was set back makes it 0."""
    page.delivery.delivered(OUTCOME, 900, age_s)
    samples = page.read("cwgpu_delivery_latency_seconds_")
    bounds = [name for name in samples if name.startswith("bucket")]
    assert [samples[name] for name in bounds] == sorted(samples[name] for name in bounds)
    assert next(name for name in bounds if samples[name]) == f"bucket{bucket}"
    assert samples["count"] == 1
    assert samples["sum"] == max(0.0, age_s)


def test_a_batch_of_unknown_age_is_taken_all_the_same(page: Page) -> None:
    """It counts as delivered, and not in the histogram."""
    page.delivery.delivered(OUTCOME, 900, None)
    assert page.read("cwgpu_delivery_latency_seconds_")["count"] == 0
    assert page.read("cwgpu_delivered_") == {
        "events_total": 3,
        "samples_total": 30,
        "datapoints_total": 60,
        "bytes_total": 900,
    }


def test_what_waits_is_in_memory_or_on_disk(page: Page) -> None:
    """The queue is both together; the spool is what is on disk; what is gone is 0 again."""
    page.delivery.held(
        memory_batches=1, memory_bytes=10, spool_batches=2, spool_bytes=8192, oldest_age_s=7.5
    )
    assert page.read("cwgpu_queue_") == {"batches": 3, "bytes": 8202, "oldest_age_seconds": 7.5}
    assert page.read("cwgpu_spool_b") == {"atches": 2, "ytes": 8192}
    page.delivery.held(
        memory_batches=0, memory_bytes=0, spool_batches=0, spool_bytes=0, oldest_age_s=-1.0
    )
    assert set(page.read("cwgpu_queue_").values()) == {0.0}


def test_an_answer_that_says_nothing_changes_nothing(page: Page) -> None:
    """The last known skew and expiry stay until another is known."""
    page.delivery.answered(-3.5, NOW + 900)
    page.delivery.answered(None, None)
    assert page.read("cwgpu_clock_skew_seconds") == {"": -3.5}
    assert page.read("cwgpu_credentials_expiry_timestamp_seconds") == {"": NOW + 900}
    page.delivery.answered(0.0, None)
    assert page.read("cwgpu_clock_skew_seconds") == {"": 0.0}


def test_what_goes_wrong_with_the_spool(page: Page) -> None:
    """Failed writes and files that were set aside are counted apart."""
    page.delivery.spool_failed()
    page.delivery.spool_failed()
    page.delivery.quarantined()
    assert page.read("cwgpu_spool_failures_total") == {"": 2}
    assert page.read("cwgpu_spool_quarantined_files_total") == {"": 1}
