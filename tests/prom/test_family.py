"""A sample's family and type."""

import pytest

from cwgpu.model.kind import Kind
from cwgpu.prom import family
from cwgpu.prom.family import Role

TYPES = {
    "g": Kind.GAUGE,
    "c": Kind.COUNTER,
    "jobs_total": Kind.COUNTER,
    "s": Kind.SUMMARY,
    "h": Kind.HISTOGRAM,
    "gh": Kind.GAUGE_HISTOGRAM,
    "i": Kind.INFO,
    "st": Kind.STATESET,
    "u": Kind.UNKNOWN,
    "g_count": Kind.COUNTER,
    "s_total": Kind.GAUGE,
}


@pytest.mark.parametrize(
    ("name", "kind", "cumulative"),
    [
        ("g", Kind.GAUGE, False),
        ("c", Kind.COUNTER, True),
        ("jobs_total", Kind.COUNTER, True),
        ("u", Kind.UNKNOWN, False),
        ("st", Kind.STATESET, False),
        # A summary's quantiles are values of the moment, its sum and count only grow.
        ("s", Kind.SUMMARY, False),
        ("s_sum", Kind.SUMMARY, True),
        ("s_count", Kind.SUMMARY, True),
        ("h_bucket", Kind.HISTOGRAM, False),
        ("h_sum", Kind.HISTOGRAM, False),
        ("h_count", Kind.HISTOGRAM, False),
        ("gh_bucket", Kind.GAUGE_HISTOGRAM, False),
        ("gh_gsum", Kind.GAUGE_HISTOGRAM, False),
        ("gh_gcount", Kind.GAUGE_HISTOGRAM, False),
        # OpenMetrics names families without the suffix of their samples.
        ("c_total", Kind.COUNTER, True),
        ("i_info", Kind.INFO, False),
        # A TYPE of its own comes first.
        ("g_count", Kind.COUNTER, True),
        ("s_total", Kind.GAUGE, False),
    ],
)
def test_a_sample_has_the_type_of_its_family(name: str, kind: Kind, cumulative: bool) -> None:  # noqa: FBT001 - a table's column
    """The family is the one of the same name, or one whose type gives its samples that suffix."""
    assert family.role(name, TYPES) == Role(kind, cumulative=cumulative)


@pytest.mark.parametrize(
    "name",
    [
        *("x", "x_total", "g_sum", "c_sum", "c_count", "s_bucket", "h_total", "gh_sum", "g_info"),
        *("c_created", "_total", "", "totalc", "h_gcount"),
    ],
)
def test_no_family_lends_its_type_to_a_stranger(name: str) -> None:
    """A counter ``c`` says nothing about ``c_count``: that is another metric."""
    assert family.role(name, TYPES) is None
