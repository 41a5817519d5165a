"""The fake's check of signatures, against requests that botocore signs."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from tests.fakes import sigv4
from tests.fakes.refusal import Refused
from tests.fakes.sigv4 import Secret, Signed

BODY = b'{"limit": 1}'
HOST = "logs.us-west-2.amazonaws.com"
HEADERS = {"Host": HOST, "X-Amz-Target": "Logs_20140328.DescribeLogGroups"}


def signed(
    path: str = "/", query: str = "", *, service: str = "logs", token: str | None = None
) -> tuple[Signed, datetime]:
    """Let botocore sign a request, and give the time of its signature."""
    url = f"https://{HOST}{path}{'?' if query else ''}{query}"
    request = AWSRequest("POST", url, headers=dict(HEADERS), data=BODY)
    SigV4Auth(Credentials("AKID", "secret", token), service, "us-west-2").add_auth(request)
    headers = {name.lower(): value for name, value in request.headers.items()}
    at = datetime.strptime(headers["x-amz-date"], sigv4.STAMP).replace(tzinfo=UTC)
    return Signed("POST", path, query, headers, BODY), at


def check(
    request: Signed,
    at: datetime,
    secrets: Mapping[str, Secret] | None = None,
    changes: Mapping[str, str] | None = None,
) -> str:
    """Check a request, some of whose headers were changed on the way."""
    headers = {**request.headers, **(changes or {})}
    changed = Signed(request.method, request.path, request.query, headers, request.body)
    return sigv4.check(changed, secrets or {"AKID": Secret("secret")}, at)


@pytest.mark.parametrize(
    ("path", "query"),
    [("/", ""), ("/a/b%20c", ""), ("/", "b=2&a=1&a=%2F"), ("/", "flag=")],
)
def test_what_botocore_signs_is_good(path: str, query: str) -> None:
    """Two independent writings of the algorithm agree, and the region is known."""
    assert check(*signed(path, query)) == "us-west-2"


def test_a_session_token_must_come_along_and_be_right() -> None:
    """Temporary credentials are three parts."""
    secrets = {"AKID": Secret("secret", "token")}
    assert check(*signed(token="token"), secrets) == "us-west-2"  # noqa: S106
    with pytest.raises(Refused, match="UnrecognizedClientException"):
        check(*signed(token="other"), secrets)  # noqa: S106
    with pytest.raises(Refused, match="UnrecognizedClientException"):
        check(*signed(), secrets)


def test_an_unknown_key_or_a_wrong_secret_is_refused() -> None:
    """The key id is looked up, the secret shows in the signature."""
    with pytest.raises(Refused, match="UnrecognizedClientException"):
        check(*signed(), {"OTHER": Secret("secret")})
    with pytest.raises(Refused, match=r"InvalidSignatureException: .* does not match"):
        check(*signed(), {"AKID": Secret("other")})


def test_a_changed_body_header_path_or_query_is_refused() -> None:
    """All that is signed is protected."""
    request, at = signed()
    changed = [
        Signed("PUT", request.path, request.query, request.headers, BODY),
        Signed("POST", "/x", request.query, request.headers, BODY),
        Signed("POST", request.path, "a=1", request.headers, BODY),
        Signed("POST", request.path, request.query, request.headers, BODY + b" "),
    ]
    for other in changed:
        with pytest.raises(Refused, match="does not match"):
            check(other, at)
    with pytest.raises(Refused, match="does not match"):
        check(request, at, changes={"x-amz-target": "Logs_20140328.DeleteLogGroup"})


def test_the_clocks_may_differ_by_five_minutes() -> None:
    """Beyond that the answer names both times, as AWS does."""
    request, at = signed()
    edge = timedelta(minutes=5)
    for now in (at - edge, at + edge):
        assert check(request, now) == "us-west-2"
    stamp = request.headers["x-amz-date"]
    with pytest.raises(Refused, match=rf"Signature expired: {stamp} is now earlier than .* - 5"):
        check(request, at + edge + timedelta(seconds=1))
    with pytest.raises(Refused, match=rf"not yet current: {stamp} is still later than .* \+ 5"):
        check(request, at - edge - timedelta(seconds=1))


def test_the_scope_must_be_of_this_service_and_day() -> None:
    """A signature for another service, or another day's, is none."""
    with pytest.raises(Refused, match="correct service"):
        check(*signed(service="monitoring"))
    request, at = signed()
    day = request.headers["authorization"].split("/")[1]
    other = request.headers["authorization"].replace(f"/{day}/", "/20200101/")
    with pytest.raises(Refused, match="Date in Credential scope"):
        check(request, at, changes={"authorization": other})


def test_every_amz_header_must_be_signed() -> None:
    """A header put in on the way is noticed."""
    request, at = signed()
    with pytest.raises(Refused, match="x-amz-extra in SignedHeaders"):
        check(request, at, changes={"x-amz-extra": "1"})
    unordered = request.headers["authorization"].replace("host;x-amz-date", "x-amz-date;host")
    with pytest.raises(Refused, match="out of order"):
        check(request, at, changes={"authorization": unordered})


def test_a_request_without_a_signature_is_refused() -> None:
    """No Authorization, or one that is something else."""
    request, at = signed()
    with pytest.raises(Refused, match="IncompleteSignatureException"):
        check(request, at, changes={"authorization": "Bearer abc"})
    with pytest.raises(Refused, match="IncompleteSignatureException"):
        check(request, at, changes={"x-amz-date": "yesterday"})
    with pytest.raises(Refused, match="MissingAuthenticationTokenException"):
        check(Signed("POST", "/", "", {}, b""), at)
