"""What boto3 raises, as answers."""

import pytest
from botocore import exceptions

from cwgpu.logs import codes
from cwgpu.sinks import failure
from cwgpu.telemetry import mask

URL = "https://logs.us-west-2.amazonaws.com/"

DURING: dict[str, tuple[Exception, str]] = {
    "connect time-out": (exceptions.ConnectTimeoutError(endpoint_url=URL), "ConnectTimeout"),
    "unreachable": (exceptions.EndpointConnectionError(endpoint_url=URL), "ConnectionError"),
    "tls": (exceptions.SSLError(endpoint_url=URL, error=OSError("expired")), "ConnectionError"),
    "proxy": (exceptions.ProxyConnectionError(proxy_url="http://p"), "ConnectionError"),
    "read time-out": (exceptions.ReadTimeoutError(endpoint_url=URL), "ReadTimeout"),
    "closed": (exceptions.ConnectionClosedError(endpoint_url=URL), "ConnectionClosed"),
    "other http": (exceptions.HTTPClientError(error="?"), "ConnectionClosed"),
    "half": (exceptions.IncompleteReadError(actual_bytes=1, expected_bytes=2), "ConnectionClosed"),
    "bug": (KeyError("x"), "KeyError"),
}


@pytest.mark.parametrize("case", DURING)
def test_a_call_that_fails_on_our_side_has_a_word_and_no_status(case: str) -> None:
    """The words are those that a verdict is made on."""
    error, code = DURING[case]
    answer = failure.during(error, ())
    assert (answer.code, answer.status) == (code, 0)
    assert answer.code in codes.NETWORK | codes.UNANSWERED | {"KeyError"}


BEFORE: dict[str, tuple[Exception, str]] = {
    "no region": (exceptions.NoRegionError(), "NoRegion"),
    "no such region": (exceptions.InvalidRegionError(region_name="eu west"), "InvalidRegion"),
    "none": (exceptions.NoCredentialsError(), "NoCredentials"),
    "half": (exceptions.PartialCredentialsError(provider="env", cred_var="X"), "NoCredentials"),
    "sts away": (exceptions.ConnectTimeoutError(endpoint_url=URL), "ConnectTimeout"),
    "sts silent": (exceptions.ReadTimeoutError(endpoint_url=URL), "ConnectionError"),
    "process": (
        exceptions.CredentialRetrievalError(provider="custom-process", error_msg="exit 1"),
        "CredentialRetrievalError",
    ),
    "profile": (exceptions.ProfileNotFound(profile="x"), "CredentialRetrievalError"),
    "anything": (OSError("token file"), "CredentialRetrievalError"),
}


@pytest.mark.parametrize("case", BEFORE)
def test_a_call_that_could_not_be_made_is_never_ambiguous(case: str) -> None:
    """An unanswered request for credentials has sent no event."""
    error, code = BEFORE[case]
    answer = failure.before(error)
    assert (answer.code, answer.status) == (code, 0)
    assert answer.code not in codes.UNANSWERED


def test_long_and_many_lined_texts_are_cut() -> None:
    """A journal line stays a line."""
    assert failure.hide("one\ntwo", ()) == "one"
    assert failure.hide("x" * 1000, ()) == "x" * 400 + "..."


def test_a_secret_with_a_newline_is_hidden_too() -> None:
    """Where the HTTP library refuses it as a header, it quotes it with escapes."""
    error = exceptions.HTTPClientError(error="Invalid header value b'hunter\\n2'")
    assert failure.during(error, ["hunter\n2"]).message.endswith("Invalid header value b'***'")
    assert failure.hide("it was hunter2", ["hunter2\n"]) == "it was ***"


@pytest.mark.parametrize(
    "error",
    [
        exceptions.NoRegionError(),
        exceptions.InvalidRegionError(region_name="eu west"),
        exceptions.NoCredentialsError(),
    ],
)
def test_advice_comes_through_the_journals_mask(error: Exception) -> None:
    """What to write is no secret and must not look like one."""
    message = failure.before(error).message
    assert mask.text(message) == message
