"""The dry run's summary: an account of what happened that can put itself into words."""

from cwgpu.telemetry import report
from cwgpu.telemetry.account import Account


class Summary(Account):
    """Told of what happens as ``telemetry.metrics.Metrics`` is."""

    def render(self, width: int = 100) -> str:
        """Write everything down for a person, in lines of at most ``width`` characters."""
        return report.render(self, width)

    def live_line(self, width: int = 100) -> str:
        """Give the state so far in one line, for a terminal where it replaces itself."""
        return report.live(self, width)
