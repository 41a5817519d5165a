"""The answer of one scrape, good or bad. Failures of the outside are values, not exceptions."""

import enum
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Scrape:
    """A page as it came, decompressed."""

    at_ms: int
    """When the scrape began, milliseconds since 1970."""
    body: bytes
    content_type: str
    """The Content-Type header; empty when there was none."""
    duration_s: float


class FailReason(enum.Enum):
    """Why a scrape gave nothing; the words are labels of a self metric."""

    REFUSED = "connection_refused"
    DNS = "name_not_resolved"
    TLS = "tls"
    TIMEOUT = "timeout"
    RESET = "connection_broken"
    STATUS = "http_status"
    TOO_LARGE = "body_too_large"
    ENCODING = "bad_encoding"
    NOT_METRICS = "not_metrics"
    BAD_LINE = "bad_line_in_strict_mode"
    SAMPLE_LIMIT = "sample_limit"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class ScrapeFailed:
    """A scrape that gave nothing, and why."""

    at_ms: int
    reason: FailReason
    detail: str
    """One sentence for a person; holds no secret and at most a few hundred characters."""
    duration_s: float
