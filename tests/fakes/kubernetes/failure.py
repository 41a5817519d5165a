"""What the API server refuses, as a value of its own kind: ``Status``.

https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/status/
"""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

Json = dict[str, Any]


class FailureError(Exception):
    """An answer that is an error."""

    def __init__(
        self,
        code: int,
        reason: str,
        message: str,
        *,
        details: Json | None = None,
        metadata: Json | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """``reason`` is the word for programs, ``message`` the sentence for people."""
        super().__init__(message)
        self.code = code
        self.reason = reason
        self.details = details
        self.metadata = metadata or {}
        self.headers = headers or {}

    @property
    def status(self) -> Json:
        """The answer's body."""
        status: Json = {"kind": "Status", "apiVersion": "v1", "metadata": self.metadata}
        status |= {"status": "Failure", "message": str(self)}
        if self.reason:
            status["reason"] = self.reason
        if self.details is not None:
            status["details"] = self.details
        return {**status, "code": self.code}


def bad_request(message: str) -> FailureError:
    """Give the answer to what cannot be read."""
    return FailureError(400, "BadRequest", message)


def unauthorized() -> FailureError:
    """Give the answer to a token that nobody knows."""
    return FailureError(401, "Unauthorized", "Unauthorized")


def no_such_path() -> FailureError:
    """Give the answer where no resource is."""
    message = "the server could not find the requested resource"
    return FailureError(404, "NotFound", message, details={})


def not_found(qualified: str, name: str) -> FailureError:
    """Give the answer where no object of this name is; ``qualified`` is ``leases.GROUP``."""
    message = f'{qualified} "{name}" not found'
    return FailureError(404, "NotFound", message, details=_details(qualified, name))


def exists(qualified: str, name: str) -> FailureError:
    """Give the answer to a second object of one name."""
    message = f'{qualified} "{name}" already exists'
    return FailureError(409, "AlreadyExists", message, details=_details(qualified, name))


def conflict(qualified: str, name: str, why: str = "") -> FailureError:
    """Give the answer to a change of what has changed since."""
    said = why or (
        "the object has been modified; please apply your changes to the latest version "
        "and try again"
    )
    message = f'Operation cannot be fulfilled on {qualified} "{name}": {said}'
    return FailureError(409, "Conflict", message, details=_details(qualified, name))


def invalid(kind: str, name: str, where: str, what: str) -> FailureError:
    """Give the answer to an object that says what it may not; ``kind`` may have a group."""
    short, _, group = kind.partition(".")
    details: Json = {"name": name, "group": group, "kind": short}
    details["causes"] = [{"reason": "FieldValueInvalid", "message": what, "field": where}]
    message = f'{kind} "{name}" is invalid: {where}: {what}'
    return FailureError(422, "Invalid", message, details=_filled(details))


def expired(message: str, *, resume: str = "") -> FailureError:
    """Give the answer to a version that is gone; ``resume`` continues all the same."""
    metadata: Json = {"continue": resume} if resume else {}
    return FailureError(410, "Expired", message, metadata=metadata)


def too_large(asked: int, current: int) -> FailureError:
    """Give the answer to a version that is still to come."""
    cause = {"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}
    return FailureError(
        504,
        "Timeout",
        f"Timeout: Too large resource version: {asked}, current: {current}",
        details={"causes": [cause], "retryAfterSeconds": 1},
        headers={"Retry-After": "1"},
    )


REASONS = {
    401: ("Unauthorized", "Unauthorized"),
    403: ("Forbidden", "forbidden"),
    404: ("NotFound", "the server could not find the requested resource"),
    410: ("Expired", "too old resource version"),
    429: ("TooManyRequests", "the server has received too many requests"),
    500: ("InternalError", "Internal error occurred: etcdserver: leader changed"),
    503: ("ServiceUnavailable", "the server is currently unable to handle the request"),
    504: ("Timeout", "Timeout: request did not complete within the allotted timeout"),
}


def trouble(code: int, retry_after_s: int | None = None) -> FailureError:
    """Give the answer of a server that is in trouble, of whatever kind."""
    reason, message = REASONS.get(code, ("InternalError", HTTPStatus(code).phrase))
    headers = {} if retry_after_s is None else {"Retry-After": str(retry_after_s)}
    details = None if retry_after_s is None else {"retryAfterSeconds": retry_after_s}
    return FailureError(code, reason, message, details=details, headers=headers)


def _details(qualified: str, name: str) -> Json:
    plural, _, group = qualified.partition(".")
    return _filled({"name": name, "group": group, "kind": plural})


def _filled(details: Json) -> Json:
    return {key: value for key, value in details.items() if value != ""}
