"""Sleeping that something else may end."""

import asyncio
from collections.abc import Awaitable


async def until(event: asyncio.Event, sleep: Awaitable[None]) -> None:
    """Wait for the end of ``sleep`` or for the event, whichever comes first."""
    waits = (asyncio.ensure_future(sleep), asyncio.ensure_future(event.wait()))
    try:
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for each in waits:
            each.cancel()
