"""Fatal XIDs."""

import pytest

from cwgpu.gpu import xid


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0, False),  # none since the exporter began
        (13, False),  # the program's own fault, as are 31, 43 and 45
        (31, False),
        (43, False),
        (45, False),
        (94, False),  # an ECC error that was contained
        (48, True),  # one that was not corrected
        (79, True),  # fell off the bus
        (119, True),  # the GPU's own firmware does not answer
        (158, True),
        (79.5, False),
    ],
)
def test_fatal_ones_are_told_from_others(*, value: float, expected: bool) -> None:
    """The GPU needs somebody, or only a program failed."""
    assert xid.is_fatal(value) is expected


def test_the_table_is_that_of_the_node_monitoring_agent() -> None:
    """There are 21 of them."""
    assert len(xid.FATAL) == 21
