"""Why a sample or datapoint does not reach CloudWatch.

Every sample that is read is delivered or has exactly one of these reasons. The words are stable:
they are labels of ``cwgpu_dropped_samples_total``, appear in the dry run's summary and are
explained one by one in docs/metrics.md.
"""

import enum


class DropReason(enum.Enum):
    """The reasons, in the order in which a sample meets them."""

    # Members are one of a kind; by its name, as the library has it, a hash takes ten times as long.
    __hash__ = object.__hash__

    BAD_LINE = "bad_line"
    """The line is no exposition text; its number and fault are reported."""
    RELABEL = "metric_relabel"
    """A rule of metric_relabel_configs dropped it."""
    NO_NAME = "no_metric_name"
    """Relabelling left it without a metric name."""
    UNTYPED = "untyped"
    """No TYPE, or TYPE untyped/unknown; ``cwgpu.untyped: "gauge"`` sends such metrics."""
    UNSUPPORTED_TYPE = "unsupported_type"
    """Histograms, infos and state sets have no EMF form here."""
    UNSELECTED = "unselected"
    """No metric_declaration selects it."""
    DIMENSION_MISSING = "dimension_missing"
    """Selected, but every dimension set names a label that the sample lacks."""
    DIMENSION_INVALID = "dimension_invalid"
    """Selected, but the labels' values are not valid CloudWatch dimensions."""
    NAME_INVALID = "metric_name_invalid"
    """CloudWatch does not take this metric name."""
    LESS_PREFERRED = "less_preferred"
    """Another target tells the same of this GPU, and ``cwgpu.dcgm.prefer`` prefers it."""
    OVER_BUDGET = "over_budget"
    """All its custom metrics would be new, and ``cwgpu.budget`` has no room for them."""
    TOO_LARGE = "event_too_large"
    """Even alone it does not fit into a log event of 1 MB."""
    DUPLICATE = "duplicate"
    """The same series came again later in the page; the last one counts."""
    BLANK = "dcgm_blank"
    """DCGM's word for "no value" (docs/compatibility.md)."""
    UNIT_UNKNOWN = "dcgm_unit_unknown"
    """A field whose name has two units in two versions of DCGM, and nothing tells which."""
    IMPLAUSIBLE = "implausible"
    """Beyond what the DCGM field can be; only with ``cwgpu.dcgm.bounds`` (docs/gpu.md)."""
    NOT_FINITE = "not_finite"
    """NaN or infinite."""
    OUT_OF_RANGE = "out_of_range"
    """Beyond +/- 2^360, which CloudWatch refuses."""
    FIRST_OF_COUNTER = "counter_baseline"
    """The first sample of a counter is only the baseline of the next."""
    NOT_ADVANCED = "counter_time_not_advanced"
    """A counter whose timestamp does not advance gives no difference."""
    TOO_OLD = "too_old"
    """Older than the 14 days CloudWatch takes, or than the log group keeps."""
    TOO_NEW = "too_new"
    """More than 2 hours in the future."""
    REJECTED = "rejected"
    """CloudWatch refused the event as invalid."""
    QUEUE_FULL = "queue_full"
    """What waits to be delivered, in memory or on disk, was at its bound; the oldest went."""
    QUEUE_AGE = "queue_age"
    """It waited to be delivered for longer than ``cwgpu.spool.max_age``."""
    SPOOL_DAMAGED = "spool_damaged"
    """Its file in the spool could not be read any more; the file is in quarantine."""
    SHUTDOWN = "shutdown"
    """Could not be delivered before the process had to end."""
