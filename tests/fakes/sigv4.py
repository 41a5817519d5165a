"""AWS Signature Version 4 as the receiving side checks it, for requests signed in their headers.

Written from the description, independent of botocore, so that both must agree:
https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
"""

import hashlib
import hmac
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qsl, quote

from tests.fakes.refusal import Refused

SKEW = timedelta(minutes=5)
STAMP = "%Y%m%dT%H%M%SZ"
AUTHORIZATION = re.compile(
    r"AWS4-HMAC-SHA256 Credential="
    r"(?P<key>[^/]+)/(?P<day>\d{8})/(?P<region>[^/]+)/(?P<service>[^/]+)/aws4_request, ?"
    r"SignedHeaders=(?P<signed>[^,]+), ?Signature=(?P<signature>[0-9a-f]{64})",
)


@dataclass(frozen=True, slots=True)
class Secret:
    """What belongs to an access key id."""

    secret: str
    token: str | None = None
    """The session token that must come along, for temporary credentials."""


@dataclass(frozen=True, slots=True)
class Signed:
    """The parts of an HTTP request that a signature covers; header names in lower case."""

    method: str
    path: str
    """As sent, percent-encoded."""
    query: str
    headers: Mapping[str, str]
    body: bytes
    """As sent, still compressed."""


def check(
    request: Signed, secrets: Mapping[str, Secret], now: datetime, *, service: str = "logs"
) -> str:
    """Give the region that the request is signed for; raises Refused as AWS would answer."""
    given = request.headers.get("authorization")
    if given is None:
        raise Refused(
            "MissingAuthenticationTokenException", "Request is missing Authentication Token"
        )
    parts = AUTHORIZATION.fullmatch(given)
    stamp = request.headers.get("x-amz-date", "")
    if parts is None or not re.fullmatch(r"\d{8}T\d{6}Z", stamp):
        raise Refused("IncompleteSignatureException", f"Authorization={given.split(' ')[0]}")
    secret = secrets.get(parts["key"])
    if secret is None or secret.token != request.headers.get("x-amz-security-token"):
        raise Refused(
            "UnrecognizedClientException", "The security token included in the request is invalid."
        )
    _check_scope(parts, stamp, service)
    _check_headers(parts["signed"].split(";"), request.headers)
    _check_time(stamp, now)
    if not hmac.compare_digest(_signature(request, parts, stamp, secret), parts["signature"]):
        raise Refused(
            "InvalidSignatureException",
            "The request signature we calculated does not match the signature you provided. "
            "Check your AWS Secret Access Key and signing method. "
            "Consult the service documentation for details.",
        )
    return parts["region"]


def _check_scope(parts: re.Match[str], stamp: str, service: str) -> None:
    if parts["service"] != service:
        raise Refused(
            "InvalidSignatureException",
            f"Credential should be scoped to correct service: '{service}'.",
        )
    if parts["day"] != stamp[:8]:
        raise Refused(
            "InvalidSignatureException",
            "Date in Credential scope does not match YYYYMMDD from ISO-8601 version of date "
            f"from HTTP: '{parts['day']}' != '{stamp[:8]}', from '{stamp}'.",
        )


def _check_headers(signed: list[str], headers: Mapping[str, str]) -> None:
    needed = {"host", *(name for name in headers if name.startswith("x-amz-"))}
    missing = needed.difference(signed) | {name for name in signed if name not in headers}
    if missing or signed != sorted(signed):
        raise Refused(
            "InvalidSignatureException",
            f"{', '.join(sorted(missing)) or 'names out of order'} in SignedHeaders",
        )


def _check_time(stamp: str, now: datetime) -> None:
    at = datetime.strptime(stamp, STAMP).replace(tzinfo=UTC)
    earliest, latest, here = at + SKEW, at - SKEW, now.strftime(STAMP)
    if now > earliest:
        edge = (now - SKEW).strftime(STAMP)
        raise Refused(
            "InvalidSignatureException",
            f"Signature expired: {stamp} is now earlier than {edge} ({here} - 5 min.)",
        )
    if now < latest:
        edge = (now + SKEW).strftime(STAMP)
        raise Refused(
            "InvalidSignatureException",
            f"Signature not yet current: {stamp} is still later than {edge} ({here} + 5 min.)",
        )


def _signature(request: Signed, parts: re.Match[str], stamp: str, secret: Secret) -> str:
    scope = [parts["day"], parts["region"], parts["service"], "aws4_request"]
    digest = hashlib.sha256(_canonical(request, parts["signed"]).encode()).hexdigest()
    text = "\n".join(["AWS4-HMAC-SHA256", stamp, "/".join(scope), digest])
    key = b"AWS4" + secret.secret.encode()
    for step in (*scope, text):
        key = hmac.digest(key, step.encode(), "sha256")
    return key.hex()


def _canonical(request: Signed, signed: str) -> str:
    query = sorted(
        (quote(name, safe="-_.~"), quote(value, safe="-_.~"))
        for name, value in parse_qsl(request.query, keep_blank_values=True)
    )
    return "\n".join(
        [
            request.method,
            quote(request.path, safe="/-_.~"),  # the path is encoded twice, except by S3
            "&".join(f"{name}={value}" for name, value in query),
            *(f"{name}:{' '.join(request.headers[name].split())}" for name in signed.split(";")),
            "",
            signed,
            hashlib.sha256(request.body).hexdigest(),
        ],
    )
