"""Tests that ask a real program are left out where it is not, and the run says so.

``@pytest.mark.oracle("promtool")`` names the program. With CWGPU_REQUIRE_ORACLES set, as in CI,
nothing is left out: a missing program is an error.
"""

import os
from collections.abc import Collection, Sequence
from typing import Any, Protocol

import pytest

from tests.oracle import debian


class Worker(Protocol):
    """What is used of a worker of pytest-xdist."""

    config: pytest.Config
    workeroutput: dict[str, Any]
    """Not there when the worker crashed."""


_LEFT_OUT = pytest.StashKey[dict[str, Any]]()
_WORKER_KEY = "oracle_tests_left_out"


def pytest_configure(config: pytest.Config) -> None:
    """Know the mark; refuse to begin without the programs where they are required."""
    config.addinivalue_line("markers", "oracle(program): asks a real program; see tests/oracle")
    config.stash[_LEFT_OUT] = {}
    missing = _missing()
    if missing and os.environ.get("CWGPU_REQUIRE_ORACLES"):
        raise pytest.UsageError(f"{_not_found(missing)} (CWGPU_REQUIRE_ORACLES is set)")


def pytest_report_header() -> list[str]:
    """Say at the top which programs will be asked."""
    missing = _missing()
    found = [_called(name) for name in debian.PROGRAMS if name not in missing]
    return [f"oracles: {', '.join(found)}"] * bool(found) + [_not_found(missing)] * bool(missing)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what cannot be asked here."""
    missing = _missing()
    left_out = [item for item in items if missing.intersection(_asked(item))]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]
        names = {name for item in left_out for name in missing.intersection(_asked(item))}
        config.stash[_LEFT_OUT] = {"count": len(left_out), "names": sorted(names)}


def pytest_sessionfinish(session: pytest.Session) -> None:
    """A worker of pytest-xdist tells what it left out; each of them leaves out the same."""
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output[_WORKER_KEY] = session.config.stash[_LEFT_OUT]


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Worker) -> None:
    """Hear what a worker left out."""
    said = getattr(node, "workeroutput", {}).get(_WORKER_KEY)
    if said:
        node.config.stash[_LEFT_OUT] = said


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Say at the end, once more, what was not asked."""
    left_out = config.stash[_LEFT_OUT]
    if left_out:
        line = f"{_not_found(left_out['names'])}; {left_out['count']} tests not run"
        terminalreporter.write_line(line, yellow=True)


def _asked(item: pytest.Item) -> Sequence[str]:
    return [name for mark in item.iter_markers("oracle") for name in mark.args]


def _missing() -> frozenset[str]:
    return frozenset(name for name in debian.PROGRAMS if debian.find(name) is None)


def _called(name: str) -> str:
    return f"{name} {debian.PROGRAMS[name]}".strip()


def _not_found(names: Collection[str]) -> str:
    """Say what is not here, and how to get it."""
    fetched = [_called(name) for name in debian.FETCHED if name in names]
    installed = [name for name in debian.PROGRAMS if name in names and name not in debian.FETCHED]
    said = [f"{_joined(fetched)} not found: run .ci/oracles"] if fetched else []
    if installed:
        said.append(f"{_joined(installed)} not found: it is among the tests' dependencies")
    return f"oracles: {'; '.join(said)}"


def _joined(names: list[str]) -> str:
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last
