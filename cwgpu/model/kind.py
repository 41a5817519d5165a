"""The type of a metric family, named as the exposition formats name it."""

import enum


class Kind(enum.Enum):
    """What ``# TYPE`` may say. ``untyped`` of the text format is ``UNKNOWN`` here."""

    GAUGE = "gauge"
    COUNTER = "counter"
    SUMMARY = "summary"
    HISTOGRAM = "histogram"
    GAUGE_HISTOGRAM = "gaugehistogram"
    INFO = "info"
    STATESET = "stateset"
    UNKNOWN = "unknown"
