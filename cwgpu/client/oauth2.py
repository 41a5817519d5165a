"""Access tokens by the client credentials grant.

A token is asked for when it is first needed and kept until shortly before it expires. Requests that
need it meanwhile wait for the one that was sent. As in Go's oauth2, which Prometheus uses, client
and secret go into the Authorization header first and, if the issuer will not have that, into the
form. https://www.rfc-editor.org/rfc/rfc6749#section-4.4
"""

import asyncio
import json
import math
import re
import urllib.parse
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from cwgpu.client import auth, secret
from cwgpu.client.failure import CredentialsError
from cwgpu.plan.client import OAuth2

# A token that is about to expire may do so on its way: Go's oauth2 takes the same 10 seconds.
_EARLY_S = 10.0

Form = Mapping[str, str]
Post = Callable[[OAuth2, Form, Mapping[str, str]], Awaitable[tuple[int, bytes]]]
"""Sends a form with headers to the issuer; gives status and body of the answer."""

_GOOD = range(200, 300)

# What a header may hold as a scheme: https://www.rfc-editor.org/rfc/rfc9110#section-11.1
_SCHEME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
# As all known ones are built, and secrets are not:
# https://www.rfc-editor.org/rfc/rfc6749#section-5.2
_CODE = re.compile(r"[a-z]+(?:_[a-z]+)+")


@dataclass(slots=True)
class _Source:
    """One issuer's tokens for one client."""

    settings: OAuth2
    secret: str = ""
    header: str = ""
    """What the last token makes of the Authorization header."""
    good_until: float = -math.inf
    in_form: bool = False
    """This issuer wants client and secret in the form."""
    asking: "asyncio.Task[None] | None" = field(default=None)


class Tokens:
    """The tokens of all clients."""

    def __init__(self, post: Post, monotonic: Callable[[], float]) -> None:
        self._post = post
        self._monotonic = monotonic
        self._sources: list[_Source] = []

    async def header(self, settings: OAuth2) -> str:
        """Give the Authorization header's value; raises CredentialsError."""
        source = self._source(settings)
        held = secret.text(settings.client_secret)
        if held == source.secret and self._monotonic() < source.good_until:
            return source.header
        if source.asking is None or source.asking.done():
            source.asking = asyncio.create_task(self._renew(source, held))
            source.asking.add_done_callback(_heard)
        # Who waits may be cancelled, by his own timeout; the others go on waiting.
        await asyncio.shield(source.asking)
        return source.header

    async def close(self) -> None:
        """Ask for no more tokens."""
        asking = [source.asking for source in self._sources if source.asking is not None]
        for task in asking:
            task.cancel()
        await asyncio.gather(*asking, return_exceptions=True)

    def _source(self, settings: OAuth2) -> _Source:
        for source in self._sources:
            if source.settings == settings:
                return source
        source = _Source(settings)
        self._sources.append(source)
        return source

    async def _renew(self, source: _Source, held: str) -> None:
        asked = self._monotonic()
        status, body = await self._ask(source, held)
        if status not in _GOOD and not source.in_form:
            source.in_form = True
            status, body = await self._ask(source, held)
            source.in_form = status in _GOOD
        if status not in _GOOD:
            raise CredentialsError(_refusal(status, body, held))
        answer = _object(body)
        token = answer.get("access_token")
        if not isinstance(token, str) or not token.isprintable() or not token.isascii():
            raise CredentialsError("it answered without an access_token that a header can hold")
        source.header = f"{_kind(answer.get('token_type'))} {token}"
        source.good_until = asked + _lifetime_s(answer.get("expires_in")) - _EARLY_S
        source.secret = held

    async def _ask(self, source: _Source, held: str) -> tuple[int, bytes]:
        settings = source.settings
        form = {"grant_type": "client_credentials"}
        if settings.scopes:
            form["scope"] = " ".join(settings.scopes)
        form |= settings.endpoint_params
        if source.in_form:
            form |= {"client_id": settings.client_id, "client_secret": held}
            return await self._post(settings, form, {})
        quoted = urllib.parse.quote_plus(settings.client_id), urllib.parse.quote_plus(held)
        return await self._post(settings, form, {"Authorization": auth.basic(*quoted)})


def _heard(task: "asyncio.Task[None]") -> None:
    # When all who waited have gone, nobody else looks at how it ended.
    if not task.cancelled():
        task.exception()


def _object(body: bytes) -> dict[str, Any]:
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError):  # brackets without end
        answer = None
    return answer if isinstance(answer, dict) else {}


def _refusal(status: int, body: bytes, held: str) -> str:
    code = _object(body).get("error")
    # An issuer may repeat what it was asked with.
    is_code = isinstance(code, str) and _CODE.fullmatch(code) and held not in code
    said = f" ({code})" if is_code else ""
    return f"it answered with HTTP status {status}{said}; are client_id and client_secret right?"


def _kind(kind: object) -> str:
    # Issuers write "bearer" as they like; servers know "Bearer".
    if kind is None or kind == "" or (isinstance(kind, str) and kind.lower() == "bearer"):
        return "Bearer"
    if isinstance(kind, str) and _SCHEME.fullmatch(kind):
        return kind
    raise CredentialsError("it answered with a token_type that a header cannot hold")


def _lifetime_s(expires_in: object) -> float:
    # A number, or a text that is one; without it a token does not expire.
    try:
        lifetime_s = float(str(expires_in))
    except ValueError:
        return math.inf
    return lifetime_s or math.inf
