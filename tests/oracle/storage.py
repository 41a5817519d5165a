"""What Prometheus' storage leaves of the samples that a scrape hands to it.

There is no storage here, but the recorded answers and a running Prometheus show samples after it.
Details after Prometheus 2.42 and 3.0.1: ``scrape/scrape.go`` (``timeLimitAppender``) and
``tsdb/head_append.go``.
"""

from collections.abc import Iterable, Mapping

from tests.oracle.ours import Sample

Stored = Mapping[tuple[tuple[tuple[str, str], ...], int], float]
"""Value by labels and time."""

# scrape.go: maxAheadTime.
_AHEAD_MS = 600_000
# head.go, appendableMinValidTime: half of the two hours that a head holds.
_BEHIND_MS = 3_600_000


def stored(samples: Iterable[Sample], times_ms: Iterable[int]) -> Stored:
    """Give what is stored of a page that was the same at each of these scrapes.

    A series takes no sample that is not newer than its last one: of equal ones the first stays.
    """
    page = list(samples)
    last: dict[tuple[tuple[str, str], ...], int] = {}
    kept = {}
    for scraped_ms in times_ms:
        for sample in page:
            at_ms = scraped_ms if sample.at_ms is None else sample.at_ms
            if not scraped_ms - _BEHIND_MS <= at_ms <= scraped_ms + _AHEAD_MS:
                continue
            if sample.labels in last and at_ms <= last[sample.labels]:
                continue
            last[sample.labels] = at_ms
            kept[sample.labels, at_ms] = sample.value
    return kept
