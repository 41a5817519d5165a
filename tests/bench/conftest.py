"""Prints what the benchmarks are about: time for one of something, and how that compares."""

import pytest

from tests.bench.ledger import Ledger

FIGURES = pytest.StashKey[list[str]]()


@pytest.fixture(scope="module")
def ledger(pytestconfig: pytest.Config) -> Ledger:
    """What this module's benchmarks found, to be printed at the end of the run."""
    return Ledger(pytestconfig.stash.setdefault(FIGURES, []))


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Print the figures, if anything was measured."""
    lines = config.stash.get(FIGURES, [])
    if lines:
        terminalreporter.write_sep("-", "CPU time, quickest round")
        for line in lines:
            terminalreporter.write_line(line)
