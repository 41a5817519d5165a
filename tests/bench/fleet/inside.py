"""What the agent says of itself, at ``/metrics``: distributions between two moments."""

import re
import urllib.request
from collections.abc import Mapping
from itertools import pairwise
from typing import TypeAlias

Page: TypeAlias = Mapping[str, float]
"""Values by series, as they stand on the page."""

_BUCKET = re.compile(r'(\w+)_bucket\{(?:.*,)?le="([^"]+)".*\}')


def read(address: str) -> Page:
    """Ask for the page."""
    with urllib.request.urlopen(f"http://{address}/metrics", timeout=10) as answer:
        lines = answer.read().decode().splitlines()
    pairs = (line.rpartition(" ") for line in lines if not line.startswith("#"))
    return {series: float(value) for series, _, value in pairs}


def total(page: Page, name: str, having: str = "") -> float:
    """Sum up the series of a metric; those only that have this text among their labels."""
    return sum(
        value for series, value in page.items() if series.split("{")[0] == name and having in series
    )


def quantile(begin: Page, end: Page, name: str, share: float) -> float | None:
    """Give a quantile of what a histogram took in between, as Prometheus estimates it.

    None if it took nothing, or is not there.
    """
    first, last = _buckets(begin, name), _buckets(end, name)
    grown = [(bound, count - first.get(bound, 0.0)) for bound, count in sorted(last.items())]
    if not grown or not grown[-1][1]:
        return None
    rank = share * grown[-1][1]
    for (low, below), (high, upto) in pairwise([(0.0, 0.0), *grown]):
        if upto >= rank:
            finite = high != float("inf")
            return low + (high - low) * (rank - below) / (upto - below) if finite else low
    return None


def _buckets(page: Page, name: str) -> dict[float, float]:
    found: dict[float, float] = {}
    for series, value in page.items():
        match = _BUCKET.fullmatch(series)
        if match and match[1] == name:
            bound = float(match[2])
            found[bound] = found.get(bound, 0.0) + value
    return found
