"""An issuer of OAuth 2.0 tokens on loopback, for clients with a secret.

In a test: ``async with FakeIssuer() as issuer: ...``

``issuer.token`` is what it gives out.
https://www.rfc-editor.org/rfc/rfc6749#section-4.4
"""

import asyncio
import base64
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from aiohttp import web


@dataclass
class FakeIssuer:
    """The issuer."""

    client_id: str = "cwgpu"
    secret: str = "s3cret"  # noqa: S105 - the example's
    token: str = "token-1"  # noqa: S105 - the example's
    token_type: str | None = "bearer"  # noqa: S105 - a word of the protocol
    expires_in: object = 3600
    takes_header: bool = True
    """False: client and secret are taken in the form only, as some issuers do."""
    answer: tuple[int, str] | None = None
    """A status and a text to answer with instead."""
    held: asyncio.Event | None = None
    """Answers wait for it."""
    port: int = 0
    forms: list[Mapping[str, str]] = field(default_factory=list)
    came: asyncio.Event = field(default_factory=asyncio.Event)
    """Set by every request."""

    @property
    def url(self) -> str:
        """Where tokens are given out."""
        return f"http://127.0.0.1:{self.port}/token"

    async def __aenter__(self) -> Self:
        """Listen, on the same port as before if there was one."""
        app = web.Application()
        app.router.add_post("/token", self._issue)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", self.port).start()
        self.port = self._runner.addresses[0][1]
        return self

    async def __aexit__(self, *_: object) -> None:
        """Listen no more."""
        await self._runner.cleanup()

    async def _issue(self, request: web.Request) -> web.Response:
        form = {name: str(value) for name, value in (await request.post()).items()}
        self.forms.append(form)
        self.came.set()
        if self.held is not None:
            await self.held.wait()
        if self.answer is not None:
            status, text = self.answer
            return web.Response(status=status, text=text, headers={"Location": "/elsewhere"})
        if not self._knows(request, form):
            return web.json_response({"error": "invalid_client"}, status=401)
        answer: dict[str, Any] = {"access_token": self.token, "token_type": self.token_type}
        if self.expires_in is not None:
            answer["expires_in"] = self.expires_in
        return web.json_response(answer)

    def _knows(self, request: web.Request, form: Mapping[str, str]) -> bool:
        if (form.get("client_id"), form.get("client_secret")) == (self.client_id, self.secret):
            return True
        pair = base64.b64encode(f"{self.client_id}:{self.secret}".encode()).decode()
        return self.takes_header and request.headers.get("Authorization") == f"Basic {pair}"
