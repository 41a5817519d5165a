"""Asking a running agent which targets it knows."""

import asyncio
import json
from collections.abc import AsyncGenerator
from typing import Any

import aiohttp

from cwgpu.model.errors import PermissionError_, UnavailableError
from cwgpu.telemetry import mask

# As often as the agent itself looks whether anything has changed.
_LOOK_S = 5.0
_REFUSED = frozenset({401, 403})


async def documents(
    agent: str, timeout_s: float, *, every: bool
) -> AsyncGenerator[dict[str, Any], None]:
    """Give what it knows, again and again; raises UnavailableError and PermissionError_."""
    url = f"{agent.rstrip('/')}/api/targets"
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=timeout_s)) as session:
        while True:
            yield await _document(session, url, {"all": "1"} if every else {})
            await asyncio.sleep(_LOOK_S)


async def _document(
    session: aiohttp.ClientSession, url: str, query: dict[str, str]
) -> dict[str, Any]:
    shown = mask.text(url)
    try:
        async with session.get(url, params=query) as answer:
            body = await answer.read()
            status = answer.status
    except TimeoutError:
        raise UnavailableError(f"{shown}: no answer in time; --timeout gives it more") from None
    except (aiohttp.ClientError, OSError, ValueError) as error:
        said = f"{shown}: {str(error) or type(error).__name__}"
        raise UnavailableError(f"{said}; does an agent run there, with --listen?") from error
    if status in _REFUSED:
        raise PermissionError_(f"{shown}: {body.decode(errors='replace').strip()}")
    try:
        document = json.loads(body)
        return dict(document, jobs=list(document["jobs"]))
    except (ValueError, TypeError, KeyError) as error:
        advice = "is it a cwgpu, and as new as this one?"
        raise UnavailableError(f"{shown}: status {status} and no list of jobs; {advice}") from error
