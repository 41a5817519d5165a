"""What Prometheus counts of a scrape: samples, those that relabelling leaves, and new series.

Follows Prometheus 3.0.1, ``scrape/scrape.go`` (``append``). A series is new when its line stood
neither on the last page that was let in nor on one that was refused since.
"""

from collections.abc import Sequence

from cwgpu.digest.assemble import Sample
from cwgpu.digest.line import Dropped
from cwgpu.model.drop import DropReason
from cwgpu.model.reading import Counts

# maxAheadTime of scrape/scrape.go; and half of the two hours that a block of the storage spans,
# behind its newest sample. Prometheus stores nothing beyond, so no series begins there.
_AHEAD_MS = 600_000
_BEHIND_MS = 3_600_000


def counts(samples: Sequence[Sample], sample_limit: int, at_ms: int) -> Counts:
    """Count the samples of a page that was scraped at ``at_ms``."""
    passed = added = 0
    for sample in samples:
        fate = sample.line.fate
        if isinstance(fate, Dropped) and fate.reason is DropReason.RELABEL:
            continue
        passed += 1
        stored = not 0 < sample_limit < passed and _in_time(sample.at_ms, at_ms)
        added += sample.fresh and stored
    return Counts(len(samples), passed, added)


def _in_time(given_ms: int | None, at_ms: int) -> bool:
    return given_ms is None or -_BEHIND_MS <= given_ms - at_ms <= _AHEAD_MS
