"""What keeps a request from being asked, or its answer from being read. Texts hold no secrets."""

from cwgpu.model import errors


class CredentialsError(errors.CwgpuError):
    """Our own side: a file with a secret, certificate or key, or the issuer of tokens."""


class ProxyError(errors.CwgpuError):
    """The proxy cannot be used as it is configured, or does not let us through."""


class WithdrawnError(errors.CwgpuError):
    """Whoever wanted it wants it no more, and nothing has been sent yet."""


class RedirectError(errors.CwgpuError):
    """A redirect that is not followed, leads nowhere, or is one too many."""
