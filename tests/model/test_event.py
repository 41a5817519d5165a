"""Batches of events."""

from cwgpu.model.event import EmfEvent, LogBatch, StreamKey

STREAM = StreamKey("/lab/gpu", "dcgm")


def test_a_batch_counts_what_its_events_carry() -> None:
    """Samples and datapoints add up, and the size is that of UTF-8 text."""
    events = (
        EmfEvent(STREAM, 1, '{"pod":"größe"}'.encode(), 2, 4),
        EmfEvent(STREAM, 2, b"{}", 1, 3),
    )
    batch = LogBatch(STREAM, events)
    assert (batch.samples, batch.datapoints, batch.size_bytes) == (3, 7, 19)


def test_an_empty_batch_counts_nothing() -> None:
    """A batch may be empty."""
    batch = LogBatch(STREAM, ())
    assert (batch.samples, batch.datapoints, batch.size_bytes) == (0, 0, 0)
