"""Who we are to an API server, and how it is reached.

There are three ways to know: the pod's service account, a kubeconfig, and an address with an HTTP
client's settings. For the last one another room speaks HTTP; it comes in by the protocol below.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from multidict import CIMultiDict


@dataclass(frozen=True, slots=True)
class Access:
    """What one request carries."""

    url: str
    """Of the server, with a path if it has one, without a slash at the end."""
    headers: CIMultiDict[str] = field(default_factory=CIMultiDict, repr=False)
    way: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """The arguments of aiohttp's ``request`` that say how the server is reached: ``ssl``,
    ``server_hostname``, ``proxy`` ..."""


class Credentials(Protocol):
    """Knows a server. Asked before every request, so that what was rotated is seen."""

    async def access(self) -> Access:
        """Give what the next request carries; raises CredentialsError."""
        ...

    def refused(self, access: Access) -> None:
        """Take in that the server does not know who this is: what was kept is not good any more."""
        ...
