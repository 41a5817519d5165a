"""What boto3 raises, as answers. The words without a service behind them are ``logs.codes``'.

https://boto3.amazonaws.com/v1/documentation/api/latest/guide/error-handling.html
"""

import dataclasses
import re
from collections.abc import Iterable

from botocore import exceptions
from botocore.exceptions import ClientError

from cwgpu.logs.verdict import Answer
from cwgpu.sinks import reply

UNREACHED: tuple[tuple[type[Exception], str], ...] = (
    (exceptions.ConnectTimeoutError, "ConnectTimeout"),
    (exceptions.ConnectionError, "ConnectionError"),  # also TLS and proxies
)
UNANSWERED: tuple[tuple[type[Exception], str], ...] = (
    (exceptions.ReadTimeoutError, "ReadTimeout"),
    (exceptions.HTTPClientError, "ConnectionClosed"),
    (exceptions.IncompleteReadError, "ConnectionClosed"),
)
UNSIGNED: tuple[tuple[type[Exception], str], ...] = (
    (exceptions.NoRegionError, "NoRegion"),
    (exceptions.InvalidRegionError, "InvalidRegion"),
    (exceptions.NoCredentialsError, "NoCredentials"),
    (exceptions.PartialCredentialsError, "NoCredentials"),
    # An unanswered request for credentials has sent no event: it is no more than unreached.
    (exceptions.HTTPClientError, "ConnectionError"),
)
ADVICE = {
    "NoRegion": 'no AWS region: write "region" under "agent" in the configuration, or set '
    "AWS_REGION",
    "InvalidRegion": '{error} Write one such as eu-west-1 as "region" under "agent" in the '
    "configuration, or set AWS_REGION to it",
    "NoCredentials": "{error}; give the pod's service account a role (IRSA or EKS Pod Identity), "
    "or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
}

LONGEST = 400
"""Characters of a message: a line in a journal, not the page that a proxy may answer with."""

USERINFO = re.compile(r"(?<=//)[^/@\s]+@")


def before(error: Exception) -> Answer:
    """Answer for what went wrong before the call: no region, no credentials, no way to get any."""
    code = _word(error, (*UNREACHED, *UNSIGNED)) or "CredentialRetrievalError"
    text = ADVICE.get(code, "{error}").format(error=error)
    return Answer(code, hide(text, ()))


def during(error: Exception, secrets: Iterable[str]) -> Answer:
    """Answer for what a call raised; ``secrets`` are taken out of its text."""
    if isinstance(error, ClientError):
        answer = reply.refusal(error.response)
        return dataclasses.replace(answer, message=hide(answer.message, secrets))
    # What is neither is a bug, here or there; it must not stop the others, so it is an answer too.
    code = _word(error, (*UNREACHED, *UNANSWERED)) or type(error).__name__
    return Answer(code, hide(str(error), secrets))


def hide(text: str, secrets: Iterable[str]) -> str:
    """Take secrets out of a text, and what is too long.

    Further lines are not for a journal: they quote a whole request with its session token (in
    InvalidSignatureException) or an answer that could not be read (in boto3's own errors).
    """
    text = USERINFO.sub("***@", text.partition("\n")[0])
    for secret in secrets:
        # One with a newline in it, as from a file, is refused as a header and quoted with escapes.
        for written in (secret, repr(secret)[1:-1], secret.strip()):
            text = text.replace(written, "***")
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."


def _word(error: Exception, words: Iterable[tuple[type[Exception], str]]) -> str | None:
    return next((word for kind, word in words if isinstance(error, kind)), None)
