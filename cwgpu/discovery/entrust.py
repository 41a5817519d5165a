"""An API server that is named by its URL: an HTTP client's settings as credentials."""

from cwgpu.client import failure as client_failure
from cwgpu.client.clients import Clients
from cwgpu.kube.access import Access
from cwgpu.kube.failure import CredentialsError
from cwgpu.plan.kubernetes import Address


class Entrusted:
    """Carries what the settings say; files of secrets are read for each request."""

    def __init__(self, address: Address, clients: Clients) -> None:
        """``clients`` knows the settings' certificates and tokens."""
        self._address = address
        self._clients = clients

    async def access(self) -> Access:
        """Give what the next request carries; raises CredentialsError."""
        url = self._address.url.rstrip("/")
        try:
            headers, way = await self._clients.carried(self._address.client, url)
        except (client_failure.CredentialsError, client_failure.ProxyError) as error:
            raise CredentialsError(str(error)) from error
        return Access(url, headers, way)

    def refused(self, access: Access) -> None:
        """Do nothing: files are read again anyway, and tokens are asked for when they expire."""
