"""Full batches of real events, each made once in a run."""

import functools

from cwgpu.model.event import LogBatch
from tests.bench import pages, sink

SCRAPE, MINUTE = 1, sink.MINUTE
"""Values of each metric in an event."""


@functools.cache
def full(values: int) -> LogBatch:
    """Give as many events as one call may carry."""
    return sink.full(values, pages.START_MS)
