"""A lease where nobody can be asked for one."""

from pathlib import Path

import pytest

from tests.cli import program
from tests.fakes.exporter import FakeExporter

HA = {"lease": {"name": "gpu", "namespace": "lab"}}


@pytest.mark.parametrize(
    ("flags", "code", "scrapes"), [((), 78, 0), (("--dry-run",), 0, 1)], ids=["agent", "dry run"]
)
def test_a_lease_outside_of_a_cluster(
    flags: tuple[str, ...], code: int, scrapes: int, tmp_path: Path
) -> None:
    """It is refused with what to write; a dry run needs no lease, as it disturbs nobody."""
    with FakeExporter(program.page()) as exporter:
        path = program.configuration(tmp_path / "agent.json", exporter.address, ha=HA)
        done = program.run("run", "-c", str(path), "--once", *flags)
        assert done.code == code
        assert len(exporter.requests) == scrapes
    assert ("cwgpu.ha.lease needs a Kubernetes API" in done.stderr) == bool(code)
