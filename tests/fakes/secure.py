"""An exporter behind TLS that may want a client certificate, and says why it hangs up.

Its threads shake hands with blocking sockets: asyncio's servers close a connection whose handshake
fails without sending the alert, which servers of Go and of OpenSSL do send. ::

    with SecureExporter(server_context(authority.issue_cert("127.0.0.1"))) as exporter: ...
"""

import base64
import contextlib
import functools
import ssl
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

import trustme

from cwgpu.plan.client import Secret

PAGE = b"# TYPE util gauge\nutil 87\n"


@dataclass(frozen=True, slots=True)
class Request:
    """One request as it came."""

    headers: Mapping[str, str]
    serial: int
    """The client certificate's serial number; 0 without one."""


class SecureExporter:
    """The exporter. ``context`` may be replaced: connections from then on are made with it."""

    def __init__(
        self,
        context: ssl.SSLContext,
        *,
        user: tuple[str, str] | None = None,
        page: bytes = PAGE,
        content_type: str = "text/plain; version=0.0.4",
    ) -> None:
        """``user`` is the name and the password without which the answer is 401."""
        self.context = context
        self.user = user
        self.page = page
        self.content_type = content_type
        self.requests: list[Request] = []
        self.connections = 0

    @property
    def address(self) -> str:
        """Host and port, as a target is written."""
        return f"127.0.0.1:{self._server.server_address[1]}"

    @property
    def url(self) -> str:
        """Where the page is."""
        return f"https://{self.address}/metrics"

    def __enter__(self) -> Self:
        """Serve in threads."""
        self._server = _Server(("127.0.0.1", 0), functools.partial(_Handler, self))
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop serving."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True  # a client that keeps its connection keeps no test

    def handle_error(self, *_: object) -> None:
        """Say nothing: who asked has gone."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def __init__(self, owner: SecureExporter, *arguments: Any) -> None:  # noqa: ANN401 - theirs
        self.owner = owner
        super().__init__(*arguments)

    def setup(self) -> None:
        """Shake hands; a client that will not is told so and has no request."""
        self.owner.connections += 1
        self.request = self.owner.context.wrap_socket(self.request, server_side=True)
        super().setup()

    def finish(self) -> None:
        """Close, however the client ended."""
        with contextlib.suppress(OSError):
            super().finish()
        self.request.close()

    def do_GET(self) -> None:
        """Answer with the page, or that we do not know who asks."""
        headers = {name.lower(): value for name, value in self.headers.items()}
        certificate: dict[str, Any] = self.request.getpeercert() or {}
        self.owner.requests.append(Request(headers, int(certificate.get("serialNumber", "0"), 16)))
        known = self.owner.user is None or headers.get("authorization") == _basic(*self.owner.user)
        body = self.owner.page if known else b"who are you?\n"
        self.send_response(200 if known else 401)
        self.send_header("Content-Type", self.owner.content_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def server_context(
    certificate: trustme.LeafCert, *, clients: trustme.CA | None = None
) -> ssl.SSLContext:
    """Make a server's TLS; ``clients`` is who must vouch for whoever connects."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    certificate.configure_cert(context)
    if clients is not None:
        context.verify_mode = ssl.CERT_REQUIRED
        clients.configure_trust(context)
    return context


def pem(*blobs: trustme.Blob) -> Secret:
    """Write PEM into the configuration."""
    return Secret(text="".join(blob.bytes().decode() for blob in blobs))


def _basic(name: str, password: str) -> str:
    return f"Basic {base64.b64encode(f'{name}:{password}'.encode()).decode()}"
