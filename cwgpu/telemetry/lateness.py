"""The self metrics of time: whether what is due comes when it is due."""

from cwgpu.telemetry.meters import TOGETHER, Meters

# From what a selector can tell, 1 ms, to what somebody would call an outage. 200 ms is where a
# scrape every 5 seconds begins to look uneven in a graph.
_SECONDS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5)


class Lateness:
    """Takes seconds."""

    def __init__(self, meters: Meters) -> None:
        self._scrapes = meters.histogram(
            "scrape_lateness_seconds",
            "From the moment at which a scrape was due to its beginning.",
            _SECONDS,
        )
        self._late_s: list[float] = []
        meters.before(self._settle)
        self._loop = meters.histogram(
            "event_loop_lag_seconds",
            "How much later than it should a timer of one second ended.",
            _SECONDS,
        )

    def scrape(self, late_s: float) -> None:
        """Take how late a scrape begins."""
        self._late_s.append(late_s)
        if len(self._late_s) >= TOGETHER:
            self._settle()

    def loop(self, late_s: float) -> None:
        """Take how late the event loop came back to somebody who slept."""
        self._loop.observe(max(0.0, late_s))  # a sleep may end a little early

    def _settle(self) -> None:
        """Count all that was told."""
        late_s, self._late_s = self._late_s, []
        for one in late_s:
            self._scrapes.observe(max(0.0, one))  # by the wall clock, which may be set back
