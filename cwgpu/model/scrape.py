"""The answer of one scrape, good or bad. Failures of the outside are values, not exceptions."""

import enum
from dataclasses import dataclass
from typing import NamedTuple


class Scrape(NamedTuple):
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
    PROXY = "proxy"
    """The proxy did not answer, or would not let us through."""
    TLS = "tls"
    """No TLS came about: versions, a client certificate that was wanted, no TLS at all."""
    TLS_UNTRUSTED = "tls_untrusted"
    TLS_EXPIRED = "tls_expired"
    TLS_NAME = "tls_wrong_name"
    CREDENTIALS = "credentials_unreadable"
    """Our own side: a file with a secret, certificate or key, or the issuer of tokens."""
    TIMEOUT = "timeout"
    """Nothing answered: no connection, or no beginning of an answer."""
    SLOW_HEADERS = "timeout_in_headers"
    SLOW_BODY = "timeout_in_body"
    RESET = "connection_broken"
    SHORT = "body_cut_short"
    """Less came than Content-Length or the last chunk promised."""
    NOT_HTTP = "not_http"
    """What came breaks HTTP's rules: another protocol, a length that is wrong, broken chunks."""
    STATUS = "http_status"
    UNAUTHORIZED = "unauthorized"
    """Status 401 or 403."""
    REDIRECT = "redirect"
    """Too many, to nowhere, or one that the job does not follow."""
    TOO_LARGE = "body_too_large"
    ENCODING = "bad_encoding"
    NOT_METRICS = "not_metrics"
    BAD_LINE = "bad_line_in_strict_mode"
    SAMPLE_LIMIT = "sample_limit"
    LABEL_LIMIT = "label_limit"
    """label_limit or one of the length limits."""
    BAD_NAME = "bad_name"
    """A metric or label name that metric_name_validation_scheme does not allow."""
    TARGET_LIMIT = "target_limit"
    """The job has more targets than it may; none of them was asked."""
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class ScrapeFailed:
    """A scrape that gave nothing, and why."""

    at_ms: int
    reason: FailReason
    detail: str
    """One sentence for a person; holds no secret and at most a few hundred characters."""
    duration_s: float
