"""Prints what the benchmarks are about: time for one sample, and how that compares."""

import pytest

FIGURES = pytest.StashKey[list[str]]()


@pytest.fixture(scope="session")
def figures(pytestconfig: pytest.Config) -> list[str]:
    """Lines to be printed at the end of the run."""
    return pytestconfig.stash.setdefault(FIGURES, [])


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Print the figures, if anything was measured."""
    lines = config.stash.get(FIGURES, [])
    if lines:
        terminalreporter.write_sep("-", "CPU time for one sample")
        for line in lines:
            terminalreporter.write_line(line)
