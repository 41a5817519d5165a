"""The self metrics' registry: what makes them, and what renders them as a page.

https://github.com/prometheus/docs/blob/main/docs/instrumenting/exposition_formats.md
"""

from collections.abc import Callable, Sequence
from typing import TypeVar

import prometheus_client
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.exposition import choose_encoder
from prometheus_client.metrics import MetricWrapperBase

TOGETHER = 128
"""Of what comes with every scrape so much is counted at a time. That takes a fifth of the time:
what counting needs is in the processor's caches from the second on."""

M = TypeVar("M", bound=MetricWrapperBase)


class Children(dict[str | tuple[str, ...], M]):
    """A metric's children by the values of their labels, for what every scrape counts.

    Asking the library for a child takes longer than counting there.
    """

    def __init__(self, metric: M) -> None:
        """None yet; ``metric`` never forgets one."""
        super().__init__()
        self._metric = metric

    def __missing__(self, labels: str | tuple[str, ...]) -> M:
        values = (labels,) if isinstance(labels, str) else labels
        child = self[labels] = self._metric.labels(*values)
        return child


class Meters:
    """Not shared between processes, and without a global registry."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        # Without this every counter has a second series with the time of its beginning.
        prometheus_client.disable_created_metrics()  # type: ignore[no-untyped-call]
        prometheus_client.ProcessCollector(registry=self._registry)
        self._first: list[Callable[[], None]] = []

    def before(self, settle: Callable[[], None]) -> None:
        """Have this done before each rendering: what was told is to be counted by then.

        Who tells and who renders are of one thread.
        """
        self._first.append(settle)

    def counter(self, name: str, text: str, labels: Sequence[str] = ()) -> Counter:
        """Make what only grows."""
        return Counter(f"cwgpu_{name}", text, labels, registry=self._registry)

    def gauge(self, name: str, text: str, labels: Sequence[str] = ()) -> Gauge:
        """Make what goes up and down."""
        return Gauge(f"cwgpu_{name}", text, labels, registry=self._registry)

    def histogram(
        self, name: str, text: str, bounds: Sequence[float], labels: Sequence[str] = ()
    ) -> Histogram:
        """Make a distribution over buckets with these upper bounds."""
        return Histogram(f"cwgpu_{name}", text, labels, buckets=bounds, registry=self._registry)

    def render(self, accept: str = "") -> tuple[bytes, str]:
        """Give the page and its Content-Type, in the format that an Accept header asks for."""
        try:
            encode, content_type = choose_encoder(accept)
        except (ValueError, TypeError):  # the header names a version that is no version
            encode, content_type = choose_encoder("")
        for settle in self._first:
            settle()
        return encode(self._registry), content_type
