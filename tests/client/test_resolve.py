"""Names to addresses."""

import asyncio
import socket
import threading

import pytest

from cwgpu.client.resolve import AddressInfo, Resolver


async def test_a_number_is_its_own_address() -> None:
    """The system's own look-up answers, in the form that the HTTP library wants."""
    (found,) = await Resolver().resolve("127.0.0.1", 9400)
    assert found["host"] == "127.0.0.1"
    assert found["port"] == 9400
    assert found["hostname"] == "127.0.0.1"
    assert found["family"] == socket.AF_INET


async def test_addresses_of_both_families() -> None:
    """IPv4 and IPv6 come in the order of the look-up; a link-local one keeps its interface."""

    def look_up(*_: object) -> list[AddressInfo]:
        return [
            (socket.AF_INET6, socket.SOCK_STREAM, 6, "", ("fe80::1", 9400, 0, 3)),
            (socket.AF_INET6, socket.SOCK_STREAM, 6, "", ("2001:db8::1", 9400, 0, 0)),
            (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("192.0.2.1", 9400)),
        ]

    found = await Resolver(look_up).resolve("node-1", 9400)
    assert [one["host"] for one in found] == ["fe80::1%3", "2001:db8::1", "192.0.2.1"]


@pytest.mark.parametrize("error", [socket.gaierror(-2, "Name or service not known"), UnicodeError])
async def test_a_failed_look_up_is_an_error(error: type[Exception] | Exception) -> None:
    """What the look-up raises in its thread is raised to who asked."""

    def look_up(*_: object) -> list[AddressInfo]:
        raise error

    resolver = Resolver(look_up)
    with pytest.raises((socket.gaierror, UnicodeError)):
        await resolver.resolve("node-1")
    await resolver.close()


async def test_a_look_up_that_hangs_holds_nobody_up() -> None:
    """Who gives up on a name is free at once, and an answer that comes too late does no harm."""
    asked, go = asyncio.Event(), threading.Event()
    loop = asyncio.get_running_loop()
    answered = loop.create_future()

    def look_up(*_: object) -> list[AddressInfo]:
        loop.call_soon_threadsafe(asked.set)
        go.wait()
        loop.call_soon_threadsafe(loop.call_soon, answered.set_result, None)
        return []

    waiting = asyncio.create_task(Resolver(look_up).resolve("node-1"))
    await asked.wait()
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    go.set()
    await answered
    assert waiting.cancelled()


def test_a_look_up_may_outlive_the_loop() -> None:
    """A look-up that answers when the program is ending is forgotten without a word."""
    go = threading.Event()
    threads: list[threading.Thread] = []

    async def ask() -> None:
        asked = asyncio.Event()
        loop = asyncio.get_running_loop()

        def look_up(*_: object) -> list[AddressInfo]:
            threads.append(threading.current_thread())
            loop.call_soon_threadsafe(asked.set)
            go.wait()
            return []

        asking = asyncio.create_task(Resolver(look_up).resolve("node-1"))
        await asked.wait()
        asking.cancel()

    asyncio.run(ask())
    go.set()
    threads[0].join()
    assert not threads[0].is_alive()
