"""The session that the threads of a sink share."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from cwgpu.sinks import session
from cwgpu.sinks.access import Access
from cwgpu.sinks.keeper import Keeper
from cwgpu.sinks.session import Session


class Client:
    """Stands in for boto3's, of which only its end matters here."""

    def __init__(self) -> None:
        self.closed = 0

    def close(self) -> None:
        """Count."""
        self.closed += 1


class Opener:
    """Stands in for the opening of sessions, which asks the outside and may take its time."""

    def __init__(self) -> None:
        self.clients: list[Client] = []
        self.errors: list[Exception] = []
        """Raised by the next openings."""
        self.began = threading.Event()
        self.may_end = threading.Event()
        self.may_end.set()

    def open(self, access: Access, connections: int) -> Session:
        """Give a session, or fail."""
        del access, connections
        self.began.set()
        assert self.may_end.wait(10)
        if self.errors:
            raise self.errors.pop(0)
        client: Any = Client()
        self.clients.append(client)
        credentials: Any = None
        return Session(client, credentials)


@pytest.fixture
def opener(monkeypatch: pytest.MonkeyPatch) -> Opener:
    """Let sessions be opened without an outside."""
    made = Opener()
    monkeypatch.setattr(session, "open_session", made.open)
    return made


@pytest.fixture
def keeper(opener: Opener) -> Keeper:
    """Give a keeper that has opened nothing yet."""
    return Keeper(Access(), 2)


def lent(keeper: Keeper) -> object:
    """Borrow the session for a moment."""
    with keeper.lend() as kept:
        return kept.session.client


def test_all_who_come_while_it_is_opened_get_the_same(keeper: Keeper, opener: Opener) -> None:
    """Each would wait as long for one of its own, and ask the same of the same."""
    opener.may_end.clear()
    with ThreadPoolExecutor(4) as threads:
        first = threads.submit(lent, keeper)
        assert opener.began.wait(10)
        others = [threads.submit(lent, keeper) for _ in range(3)]
        opener.may_end.set()
        assert {first.result(), *(other.result() for other in others)} == set(opener.clients)
    assert len(opener.clients) == 1


def test_what_could_not_be_opened_is_tried_again(keeper: Keeper, opener: Opener) -> None:
    """By the next call; there is nothing to renew in between."""
    opener.errors = [ValueError("no credentials"), ValueError("none yet")]
    for _ in range(2):
        with pytest.raises(ValueError, match="no"):
            lent(keeper)
        assert not keeper.renew()
    assert lent(keeper) == opener.clients[0]


def test_a_session_that_nobody_doubts_stays(keeper: Keeper, opener: Opener) -> None:
    """Whoever wants to renew it is late: it is the new one."""
    assert not keeper.renew()
    assert lent(keeper) == lent(keeper)
    assert not keeper.renew()
    with keeper.lend() as kept:
        kept.doubted = True
    assert [keeper.renew(), keeper.renew()] == [True, False]
    assert lent(keeper) == opener.clients[1]
    assert [client.closed for client in opener.clients] == [1, 0]


def test_a_session_is_closed_when_its_last_call_ends(keeper: Keeper, opener: Opener) -> None:
    """Not under a call that is still under way with it."""
    with keeper.lend() as one:
        with keeper.lend() as other:
            other.doubted = True
            assert keeper.renew()
            assert lent(keeper) == opener.clients[1]
        assert (one is other, opener.clients[0].closed) == (True, 0)
    assert [client.closed for client in opener.clients] == [1, 0]


def _in_use(keeper: Keeper, opener: Opener) -> None:
    with keeper.lend():
        keeper.close()
        assert opener.clients[0].closed == 0


def _idle(keeper: Keeper, opener: Opener) -> None:
    lent(keeper)
    keeper.close()
    assert opener.clients[0].closed == 1


def _being_opened(keeper: Keeper, opener: Opener) -> None:
    opener.may_end.clear()
    with ThreadPoolExecutor(1) as threads:
        call = threads.submit(lent, keeper)
        assert opener.began.wait(10)
        keeper.close()  # does not wait for it
        opener.may_end.set()
        call.result()


@pytest.mark.parametrize("state", [_in_use, _idle, _being_opened])
def test_a_keeper_that_is_closed_keeps_no_connection(
    state: Callable[[Keeper, Opener], None], keeper: Keeper, opener: Opener
) -> None:
    """It waits for nobody, and what is used then goes when its call ends."""
    state(keeper, opener)
    assert [client.closed for client in opener.clients] == [1]


def test_a_keeper_that_never_opened_anything_closes_too(keeper: Keeper, opener: Opener) -> None:
    """As of a sink that was never used."""
    keeper.close()
    assert opener.clients == []
