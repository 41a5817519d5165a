"""What keeps a request from being asked, and what comes instead of an answer."""

from dataclasses import dataclass

from cwgpu.model import errors

INVALID = 400
UNAUTHORIZED = 401
FORBIDDEN = 403
NOT_FOUND = 404
CONFLICT = 409
GONE = 410
UNPROCESSABLE = 422
BUSY = 429


class CredentialsError(errors.CwgpuError):
    """Our own side: the pod's service account, or a kubeconfig. The text holds no secrets."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A request without the answer that it was asked for."""

    sentence: str
    """What was asked, what was found, and what to do about it."""
    status: int = 0
    """HTTP's, or that of the Status object within a stream; 0 is no answer."""
    retry_after_s: float = 0.0
    """For how long the server wants to be left alone."""
