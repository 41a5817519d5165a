"""Every recorded row is run, and what sets us apart from Prometheus does not grow unseen."""

import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

from tests.oracle import apart, rows

_ROOT = Path(__file__).parents[2]
_SIZES = {
    "relabel": 234,
    "exposition": 297,
    "scrape_config": 196,
    "staleness": 9,
    "kubernetes_sd": 63,
}


def collected() -> dict[str, set[str]]:
    """Ask pytest what there is to run: the parameters of each test, or the row it is known for."""
    takers = {
        taker for columns in rows.TAKERS.values() for tests in columns.values() for taker in tests
    }
    files = sorted({taker.partition("::")[0] for taker in takers})
    options = ["--collect-only", "--quiet", "-n0", "-p", "no:cacheprovider", "-o"]
    said = subprocess.run(
        [sys.executable, "-m", "pytest", *options, "addopts=--import-mode=importlib", *files],
        cwd=_ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    found: dict[str, set[str]] = defaultdict(set)
    for line in said.stdout.splitlines():
        test, _, parameter = line.partition("[")
        found[test].add(rows.ALONE.get(test, parameter.removesuffix("]")))
    return found


@pytest.mark.parametrize("name", _SIZES)
def test_the_rows_are_all_there(name: str) -> None:
    """No recorded row gets lost, and each has a name of its own."""
    assert len({row["id"] for row in rows.read(name)}) == len(rows.read(name)) == _SIZES[name]


def test_every_row_is_run() -> None:
    """Each row is the parameter of tests that compare all there is, or is listed with a reason."""
    found = collected()
    for name, columns in rows.TAKERS.items():
        ids = {row["id"] for row in rows.read(name)}
        for column, takers in columns.items():
            left = ids.difference(*(found[taker] for taker in takers))
            assert left == apart.APART[name].keys(), f"{name}: {column}"


def test_nothing_new_sets_us_apart() -> None:
    """Whoever lists one difference more changes a number here, and gives a reason for it."""
    assert apart.APART.keys() == _SIZES.keys()
    assert sum(map(len, apart.APART.values())) == 0
    assert len(apart.NEWER) == 19
    assert len(apart.NOT_DRAWN) == 6
    assert (len(apart.ENDED), len(apart.ELSEWISE)) == (2, 7)
    assert (len(apart.LACKING), len(apart.ADDED)) == (6, 1)
    reasons = [*apart.NOT_DRAWN.values(), *apart.ELSEWISE.values()]
    reasons += [each.why for each in apart.NEWER.values()]
    reasons += [each.why for each in (*apart.LACKING, *apart.ADDED)]
    assert all(map(str.strip, reasons))
