"""What CloudWatch takes in an EMF log event, each limit with its source.

CloudWatch stores an invalid event and says nothing: only the ``EMFValidationErrors`` metric moves,
and several metrics of the event may be lost. So everything is checked before it is sent, and where
two sources differ the narrower one holds.

Sources: EMF is the specification named in the package; API is CloudWatch's PutMetricData
(https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_PutMetricData.html); QUOTA is
https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/cloudwatch_limits_cwl.html
"""

import re

DEFINITIONS = 100
"""Most metric definitions of one directive (EMF), and of all directives of an event (QUOTA)."""
ARRAY_VALUES = 100
"""Most values of one metric in an event, which are then an array (EMF)."""
SET_NAMES = 30
"""Most dimensions of one dimension set (EMF)."""
VALUE = 2.0**360
"""A value must lie within -VALUE .. VALUE (API)."""
VALUE_BYTES = 32
"""Room kept for the text of one value; a 64-bit float needs at most 24 characters."""
TIME_BYTES = 20
"""Room kept for the time; a signed 64-bit integer needs at most 20 characters."""
MESSAGE_BYTES = 1_048_576 - 26 - 1024
"""An event may be as large as a batch: 1 MiB with 26 bytes counted for each event (QUOTA); 1 KiB
is our margin."""
RESERVED = "_aws"
"""The member of an event that holds the directives (EMF); no label or metric may take its place."""

_NAMESPACE_CHARACTERS = 255  # API; EMF itself would allow 1024
_METRIC_NAME_CHARACTERS = 255  # API; EMF itself would allow 1024
_DIMENSION_NAME_CHARACTERS = 250  # EMF; API would allow 255
_DIMENSION_VALUE_CHARACTERS = 1024  # EMF and API

# What AWS' own EMF client libraries let through; the API takes a little more.
_NAMESPACE = re.compile(r"[a-zA-Z0-9._#:/-]+")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def dimension_name_fault(name: str) -> str | None:
    """Say why CloudWatch does not take this dimension name; None when it does."""
    if name.startswith(":"):
        return "begins with a colon"
    return _reserved_fault(name) or _ascii_fault(name, _DIMENSION_NAME_CHARACTERS)


def dimension_value_fault(value: str) -> str | None:
    """Say why CloudWatch does not take this dimension value; None when it does."""
    return _ascii_fault(value, _DIMENSION_VALUE_CHARACTERS)


def metric_name_fault(name: str) -> str | None:
    """Say why CloudWatch does not take this metric name; None when it does."""
    return _reserved_fault(name) or _text_fault(name, _METRIC_NAME_CHARACTERS)


def namespace_fault(namespace: str) -> str | None:
    """Say why CloudWatch does not take this namespace; None when it does."""
    if namespace.startswith(":"):
        return "begins with a colon"
    if namespace.startswith("AWS/"):
        return "begins with AWS/, which is kept for AWS' own services"
    fault = _text_fault(namespace, _NAMESPACE_CHARACTERS)
    if fault is None and not _NAMESPACE.fullmatch(namespace):
        return "holds characters other than A-Z a-z 0-9 . _ # : / -"
    return fault


def _reserved_fault(name: str) -> str | None:
    return f"is {RESERVED}, which the format keeps for itself" if name == RESERVED else None


def _ascii_fault(text: str, most: int) -> str | None:
    fault = _text_fault(text, most)
    return "holds a character outside ASCII" if fault is None and not text.isascii() else fault


def _text_fault(text: str, most: int) -> str | None:
    if not text.strip():
        return "is empty or blank"
    if len(text) > most:
        return f"has {len(text)} characters, {most} are allowed"
    return "holds a control character" if _CONTROL.search(text) else None
