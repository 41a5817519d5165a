"""Which family a sample belongs to, and so of what type it is.

A sample's type is that of its own family: ``x_count`` with a TYPE of its own is judged by that,
and only a summary or histogram ``x`` lends its type to ``x_count``. (The CloudWatch agent lets any
``x`` do so.) Formats: https://prometheus.io/docs/instrumenting/exposition_formats/ and
https://prometheus.io/docs/specs/om/open_metrics_spec/.
"""

import functools
from collections.abc import Mapping
from dataclasses import dataclass

from cwgpu.model.kind import Kind

_PARTS = (
    ("_sum", frozenset({Kind.SUMMARY, Kind.HISTOGRAM})),
    ("_count", frozenset({Kind.SUMMARY, Kind.HISTOGRAM})),
    ("_bucket", frozenset({Kind.HISTOGRAM, Kind.GAUGE_HISTOGRAM})),
    ("_gsum", frozenset({Kind.GAUGE_HISTOGRAM})),
    ("_gcount", frozenset({Kind.GAUGE_HISTOGRAM})),
    ("_total", frozenset({Kind.COUNTER})),
    ("_info", frozenset({Kind.INFO})),
)


@dataclass(frozen=True, slots=True)
class Role:
    """What a sample is within its family."""

    kind: Kind
    cumulative: bool
    """True for counters and a summary's ``_sum`` and ``_count``: they only grow."""


def role(name: str, types: Mapping[str, Kind]) -> Role | None:
    """Give the role of a sample called ``name``; None when no family of the page claims it."""
    kind = types.get(name)
    if kind is not None:
        return _role(kind, cumulative=kind is Kind.COUNTER)
    for suffix, kinds in _PARTS:
        kind = types.get(name.removesuffix(suffix)) if name.endswith(suffix) else None
        if kind in kinds and kind is not None:
            return _role(kind, cumulative=kind in {Kind.COUNTER, Kind.SUMMARY})
    return None


@functools.cache
def _role(kind: Kind, *, cumulative: bool) -> Role:
    # One for all lines that have it: a page has hundreds.
    return Role(kind, cumulative)
