"""What the benchmarks are about: time for one of something, and how that compares.

A neighbour is measured in the same run on the same input, so that the machine does not matter. What
counts is the quickest round: whatever else the machine does only makes a round longer, one more and
another less, and a second has some that it left alone.
"""

import time

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

in_cpu_time = pytest.mark.benchmark(timer=time.process_time)


class Ledger:
    """The figures of a module, to be printed at the end of the run."""

    def __init__(self, lines: list[str]) -> None:
        """Add to these lines."""
        self._lines = lines
        self._neighbours: dict[str, float] = {}

    def put(self, benchmark: BenchmarkFixture, what: str, count: int, unit: str) -> float | None:
        """Put down the time of one of ``count`` in microseconds.

        None when nothing was measured, as among the other tests.
        """
        if benchmark.stats is None:
            return None
        one_us = float(benchmark.stats.stats.min) / count * 1e6
        benchmark.extra_info[f"us_per_{unit}"] = one_us
        self._lines.append(f"{what:<62} {one_us:9.3f} us for one {unit}")
        return one_us

    def neighbour(self, benchmark: BenchmarkFixture, what: str, count: int, unit: str) -> None:
        """Put down what others are compared with, by this name; its last part tells what it is."""
        one_us = self.put(benchmark, what, count, unit)
        if one_us is not None:
            self._neighbours[what] = one_us

    def beside(
        self, benchmark: BenchmarkFixture, what: str, count: int, unit: str, *, neighbour: str
    ) -> None:
        """Put down a time and how it compares, if the neighbour was measured before."""
        one_us = self.put(benchmark, what, count, unit)
        if one_us is None or neighbour not in self._neighbours:
            return
        times = self._neighbours[neighbour] / one_us
        benchmark.extra_info["times_faster"] = times
        told = f"{times:.1f} times faster than" if times > 1 else f"{1 / times:.2f} times"
        self._lines[-1] += f", {told} {neighbour.rpartition(', ')[2]}"
