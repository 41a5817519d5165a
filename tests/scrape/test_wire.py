"""The short way to a page, and when it is left."""

import asyncio
import contextlib
import itertools
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cwgpu.client.connect import Progress
from cwgpu.model.scrape import FailReason, Scrape, ScrapeFailed
from cwgpu.model.target import Target
from cwgpu.plan.client import BasicAuth, Client, Proxy, Secret
from cwgpu.plan.plan import Job
from cwgpu.scrape import wire
from cwgpu.scrape.deadline import Deadlines, Waiting
from cwgpu.scrape.fetch import Fetcher
from tests.scrape import raw
from tests.scrape.raw import Handler

JOB = Job(name="dcgm", interval_s=60.0, timeout_s=10.0)
PAGE = b"a 1\n"
END = b"\r\n\r\n"
OK = b"HTTP/1.1 200 OK\r\nContent-Length: %d" + END + b"%b"
USUAL = OK % (len(PAGE), PAGE)
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked" + END
TO_THE_END = b"HTTP/1.1 200 OK\r\n\r\n" + PAGE


def aim(url: str, timeout_s: float = 30.0) -> Target:
    """Make a target of a URL."""
    return Target(job="dcgm", url=url, labels={}, interval_s=60.0, timeout_s=timeout_s)


def fetcher(tick_s: float = 1.0) -> Fetcher:
    """Make a fetcher each of whose scrapes takes so long by its clock."""
    return Fetcher(lambda: 0.0, itertools.count(0.0, tick_s).__next__)


def answering(*answers: bytes) -> Handler:
    """Give one answer after the other, on whatever connection; one to the end ends it."""
    left = list(answers)

    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while left:
            await reader.readuntil(END)
            answer = left.pop(0)
            writer.write(answer)
            await writer.drain()
            if answer == TO_THE_END:
                return
        await reader.read()

    return handler


def reasons(answers: list[Scrape | ScrapeFailed]) -> list[FailReason | None]:
    """Say what was wrong with each."""
    return [answer.reason if isinstance(answer, ScrapeFailed) else None for answer in answers]


@settings(max_examples=25)
@given(st.lists(st.integers(1, 200), max_size=4), st.booleans())
async def test_an_answer_may_come_in_any_pieces(cuts: list[int], chunked: bool) -> None:  # noqa: FBT001
    """Wherever the network cuts it, the page is whole, and so is the next on that connection."""
    page = b"".join(b'a{gpu="%d"} 1\n' % number for number in range(9))
    chunks = b"%x\r\n%b\r\n0\r\n\r\n" % (len(page), page)
    answer = OK % (len(page), page)
    if chunked:
        answer = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked" + END + chunks
    places = [0, *sorted(min(cut, len(answer)) for cut in cuts), len(answer)]

    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            await reader.readuntil(END)
            for start, end in itertools.pairwise(places):
                writer.write(answer[start:end])
                await asyncio.sleep(0)

    async with raw.serve(handler) as server, fetcher() as fetch:
        answers = [await fetch.fetch(aim(server.url), JOB) for _ in range(2)]
    assert [each.body for each in answers if isinstance(each, Scrape)] == [page, page]
    assert server.connections == 1


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.0 200 OK\r\nContent-Length: 4" + END + PAGE,
        TO_THE_END,
        b"HTTP/1.1 200 OK\nContent-Length: 4\n\n" + PAGE,
        b"HTTP/1.1 100 Continue" + END + USUAL,
        CHUNKED + b"4;why=not\r\n" + PAGE + b"\r\n0" + END,
        CHUNKED + b"4\r\n" + PAGE + b"\r\n0\r\nTrailer: 1" + END,
        CHUNKED + b"4\r\n" + PAGE + b"\r\n0" + END + USUAL,
        USUAL + USUAL,
    ],
)
async def test_a_target_that_answers_otherwise_is_asked_twice_once(answer: bytes) -> None:
    """From then on it is asked the long way: none is to be scraped twice as often as it should."""
    requests = []

    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            requests.append(await reader.readuntil(END))
            writer.write(answer)
            await writer.drain()
            if answer == TO_THE_END:
                return

    async with raw.serve(handler) as server, fetcher() as fetch:
        answers = [await fetch.fetch(aim(server.url), JOB) for _ in range(4)]
    assert [each.body for each in answers if isinstance(each, Scrape)] == [PAGE] * 4
    assert len(requests) == 5


async def test_a_connection_that_ends_in_the_middle_is_no_other_form() -> None:
    """As when the exporter was restarted: after the next page the short way is the way again."""
    ends = iter((True, False, False))
    requests = []

    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        broken = next(ends)
        while True:
            requests.append(await reader.readuntil(END))
            writer.write(USUAL[: -broken or None])
            await writer.drain()
            if broken:
                return

    async with raw.serve(handler) as server, fetcher() as fetch:
        answers = [await fetch.fetch(aim(server.url), JOB) for _ in range(4)]
    assert reasons(answers) == [None] * 4
    assert len(requests) == 5
    assert server.connections == 3  # the broken one, one the long way, and a short one that stays


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (b"SSH-2.0-OpenSSH_9.2\r\n", FailReason.NOT_HTTP),
        (b"\x15\x03\x01\x00\x02\x02\x46", FailReason.TLS),
        (b"HTTP/1.1 200 OK\r\nno field\r\n", FailReason.NOT_HTTP),
        (CHUNKED + b"zz\r\n", FailReason.NOT_HTTP),
    ],
)
async def test_nobody_waits_for_the_end_of_what_is_no_answer(
    answer: bytes, reason: FailReason
) -> None:
    """Though the server keeps the connection, the reason is not that it took too long."""
    async with raw.serve(answering(answer, answer)) as server, fetcher() as fetch:
        assert reasons([await fetch.fetch(aim(server.url), JOB)]) == [reason]


async def test_a_connection_with_an_unusual_answer_is_closed() -> None:
    """Also where the server would keep it for ever."""
    extended = CHUNKED + b"%x;why=not\r\n%b\r\n0\r\n\r\n" % (len(PAGE), PAGE)
    ended = asyncio.Event()

    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            while await reader.readuntil(END):
                writer.write(extended)
        ended.set()

    async with raw.serve(handler) as server, fetcher() as fetch, asyncio.timeout(30):
        assert isinstance(await fetch.fetch(aim(server.url), JOB), Scrape)
        await ended.wait()
        assert server.connections == 2


async def test_a_way_that_is_closed_while_it_is_asked_keeps_no_connection() -> None:
    """The answer comes, and the connection goes."""
    asked, ended = asyncio.Event(), asyncio.Event()

    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(END)
        asked.set()
        await closed.wait()
        writer.write(USUAL)
        with contextlib.suppress(OSError):
            await reader.read()
        ended.set()

    async with raw.serve(handler) as server, asyncio.timeout(30):
        closed = asyncio.Event()
        made = wire.ask(Client(), server.url, {})
        assert made is not None
        way = wire.Wire(made, wire.room(), Deadlines())
        until_s = asyncio.get_running_loop().time() + 30.0
        asking = asyncio.create_task(way.get(Progress(limit_bytes=1000), until_s))
        await asked.wait()
        way.close()
        closed.set()
        assert (await asking).body == PAGE
        await ended.wait()


async def test_a_target_that_fails_the_long_way_is_not_asked_twice_again() -> None:
    """A server that speaks no HTTP gets one request each time but the first."""
    asked = answering(*[b"SSH-2.0-OpenSSH_9.2\r\n\r\n"] * 9)
    async with raw.serve(asked) as server, fetcher() as fetch:
        answers = [await fetch.fetch(aim(server.url), JOB) for _ in range(4)]
    assert reasons(answers) == [FailReason.NOT_HTTP] * 4
    assert server.connections == 5


async def test_a_refusal_leaves_the_connection_as_it_is() -> None:
    """A status is an answer like any other, with its words."""
    no = b"HTTP/1.1 503 No\r\nContent-Length: 9" + END + b"warms up\n"
    asked = answering(no, USUAL, no)
    async with raw.serve(asked) as server, fetcher() as fetch:
        answers = [await fetch.fetch(aim(server.url), JOB) for _ in range(3)]
    assert reasons(answers) == [FailReason.STATUS, None, FailReason.STATUS]
    assert isinstance(answers[0], ScrapeFailed)
    assert "warms up" in answers[0].detail
    assert server.connections == 1


@pytest.mark.parametrize("late", [b"HTTP/1.1 408 Late\r\n\r\n", PAGE])
async def test_what_nobody_asked_for_ends_the_connection(late: bytes) -> None:
    """It is not taken for the answer to the next request."""
    said = asyncio.Event()

    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(END)
        writer.write(USUAL)
        if server.connections == 1:
            await said.wait()
            writer.write(late)
            await writer.drain()
        await reader.read()

    async with raw.serve(handler) as server, fetcher() as fetch:
        first = await fetch.fetch(aim(server.url), JOB)
        said.set()
        for _ in range(9):  # let it come
            await asyncio.sleep(0)
        second = await fetch.fetch(aim(server.url), JOB)
    assert reasons([first, second]) == [None, None]
    assert server.connections == 2


async def test_an_answer_that_comes_too_late_is_nobodys() -> None:
    """When the time is over the connection goes, and the next scrape has one of its own."""

    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(END)
        writer.write(USUAL if server.connections > 1 else USUAL[:-1])
        await reader.read()

    async with raw.serve(handler) as server, fetcher() as fetch:
        answers = [await fetch.fetch(aim(server.url, 0.1), JOB) for _ in range(2)]
    assert reasons(answers) == [FailReason.SLOW_BODY, None]
    assert server.connections == 2


@pytest.mark.parametrize(
    ("begun", "reason"),
    [
        (b"", FailReason.TIMEOUT),
        (USUAL[:20], FailReason.SLOW_HEADERS),
        (USUAL[:-1], FailReason.SLOW_BODY),
    ],
)
async def test_time_runs_out_on_a_connection_that_was_kept(
    begun: bytes, reason: FailReason
) -> None:
    """The reason says how far it came; the connection goes, and the next scrape has its own."""

    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for answer in (USUAL, begun if server.connections == 1 else USUAL):
            await reader.readuntil(END)
            writer.write(answer)
        await reader.read()

    async with raw.serve(handler) as server, fetcher() as fetch:
        answers = [await fetch.fetch(aim(server.url, 0.5), JOB) for _ in range(4)]
    assert reasons(answers) == [None, reason, None, None]
    assert server.connections == 2


async def test_what_came_in_time_is_taken_also_when_it_is_over_then() -> None:
    """The answer is here and nobody has looked at it yet: it is a page, its connection is kept."""
    late: list[Waiting] = []

    class Ends(Deadlines):
        def forget(self, who: Waiting) -> None:
            late.append(who)
            who.late()
            super().forget(who)

    async with raw.serve(answering(USUAL, USUAL, USUAL)) as server:
        made = wire.ask(Client(), server.url, {})
        assert made is not None
        way = wire.Wire(made, wire.room(), Ends())
        until_s = asyncio.get_running_loop().time() + 30.0
        for _ in range(3):
            assert (await way.get(Progress(limit_bytes=1000), until_s)).body == PAGE
        way.close()
    assert len(late) == 2
    assert server.connections == 1


async def test_a_scrape_on_a_kept_connection_can_be_given_up() -> None:
    """Its connection goes, and nothing of it is left to come."""
    asked, ended = asyncio.Event(), asyncio.Event()

    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(END)
        writer.write(USUAL)
        await reader.readuntil(END)
        asked.set()
        with contextlib.suppress(OSError):
            await reader.read()
        ended.set()

    async with raw.serve(handler) as server, fetcher() as fetch, asyncio.timeout(30):
        await fetch.fetch(aim(server.url), JOB)
        scrape = asyncio.create_task(fetch.fetch(aim(server.url), JOB))
        await asked.wait()
        scrape.cancel()
        with pytest.raises(asyncio.CancelledError):
            await scrape
        await ended.wait()


def lines(number: int, size: int) -> bytes:
    """Write a page of so many bytes that no other has."""
    line = b'a{number="%d"} 1\n' % number
    return (line * (size // len(line) + 1))[:size]


ROOM = len(wire.room())


@pytest.mark.parametrize("chunked", [False, True])
@pytest.mark.parametrize("size", [10, ROOM - 1, ROOM, ROOM + 1, 5 * ROOM])
async def test_a_page_may_be_larger_than_what_is_read_at_a_time(
    size: int,
    chunked: bool,  # noqa: FBT001
) -> None:
    """And stays what it is when the next one comes to the same place."""
    pages = [lines(number, size) for number in range(3)]
    written = [CHUNKED + b"%x\r\n%b\r\n0" % (size, page) + END for page in pages]
    answers = written if chunked else [OK % (size, page) for page in pages]
    async with raw.serve(answering(*answers)) as server, fetcher() as fetch:
        got = [await fetch.fetch(aim(server.url), JOB) for _ in pages]
    assert [each.body for each in got if isinstance(each, Scrape)] == pages
    assert server.connections == 1


async def test_connections_that_receive_in_turns_keep_apart() -> None:
    """They receive at one place, and each has its own answer."""
    pages = [lines(number, 1000) for number in range(2)]

    async with raw.serve(half_by_half(pages, more := asyncio.Event())) as server:
        made = wire.ask(Client(), server.url, {})
        assert made is not None
        room, deadlines = wire.room(), Deadlines()
        until_s = asyncio.get_running_loop().time() + 30.0
        for _ in range(2):
            seen = [Progress(limit_bytes=10_000) for _ in pages]
            ways = [wire.Wire(made, room, deadlines) for _ in pages]
            asked = [
                asyncio.create_task(way.get(progress, until_s))
                for way, progress in zip(ways, seen, strict=True)
            ]
            for _ in range(999):  # let the halves come
                await asyncio.sleep(0)
            assert [progress.body_bytes for progress in seen] == [500, 500]
            more.set()
            assert sorted([(await answer).body for answer in asked]) == pages
            more.clear()
            for way in ways:
                way.close()


def half_by_half(pages: list[bytes], more: asyncio.Event) -> Handler:
    """Give each connection another of the pages, and the rest of it when there is to be more."""
    left = itertools.cycle(pages)

    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(END)
        page = next(left)
        writer.write(OK % (len(page), page[:500]))
        await more.wait()
        writer.write(page[500:])
        await reader.read()

    return handler


@pytest.mark.parametrize("answer", [USUAL + USUAL, USUAL + b"\n", USUAL[:-1], b"", TO_THE_END])
@pytest.mark.parametrize("size", [len(PAGE), 2 * ROOM])
async def test_what_is_wrong_with_a_later_answer_is_left_to_the_library(
    answer: bytes, size: int
) -> None:
    """Two at once, half a one, none at all: the page is asked for again, however long it is."""
    page = lines(0, size)
    usual = OK % (size, page)
    later = answer.replace(USUAL[:-1], usual[:-1]).replace(USUAL[-1:], usual[-1:])

    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for each in (usual, later) if server.connections == 1 else (usual,) * 3:
            await reader.readuntil(END)
            writer.write(each)
            await writer.drain()

    async with raw.serve(handler) as server, fetcher() as fetch:
        got = [await fetch.fetch(aim(server.url), JOB) for _ in range(3)]
    assert [each.body for each in got if isinstance(each, Scrape)] == [page] * 3


async def test_chunks_may_look_like_ended_ones_again_and_again() -> None:
    """What ends the body is known from where it stands."""

    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(END)
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked" + END)
        for _ in range(20):
            writer.write(b"4\r\n#\n\r\n\r\n")
            await writer.drain()
            await asyncio.sleep(0)
        writer.write(b"0\r\n\r\n")
        await reader.read()

    async with raw.serve(handler) as server, fetcher() as fetch:
        answer = await fetch.fetch(aim(server.url), JOB)
    assert isinstance(answer, Scrape)
    assert answer.body == b"#\n\r\n" * 20


async def test_a_target_that_is_asked_no_more_keeps_no_connection() -> None:
    """After five minutes by the clock, when another is asked."""
    ended = asyncio.Event()

    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while await reader.readline():
            await reader.readuntil(END)
            writer.write(USUAL)
        ended.set()

    async with raw.serve(handler) as server, fetcher(tick_s=100.0) as fetch:
        await fetch.fetch(aim(server.url), JOB)
        async with raw.serve(answering(USUAL, USUAL, USUAL)) as other:
            for _ in range(3):
                await fetch.fetch(aim(other.url), JOB)
        assert await ended.wait()


async def test_who_rests_keeps_no_connection() -> None:
    """And asks on a new one when it is time again."""
    ended = asyncio.Event()

    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            while await reader.readuntil(END):
                writer.write(USUAL)
        ended.set()

    async with raw.serve(handler) as server, fetcher() as fetch, asyncio.timeout(30):
        first = await fetch.fetch(aim(server.url), JOB)
        fetch.rest()
        await ended.wait()
        second = await fetch.fetch(aim(server.url), JOB)
        assert reasons([first, second]) == [None, None]
        assert server.connections == 2


async def test_a_new_configuration_is_a_new_request() -> None:
    """On a connection of its own; an equal timeout and job are no new one."""
    requests = []

    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            requests.append(await reader.readuntil(END))
            writer.write(USUAL)

    async with raw.serve(handler) as server, fetcher() as fetch:
        for job, timeout_s in ((JOB, 30.0), (JOB, 20.0), (replace(JOB), 20.0), (JOB, 20.0)):
            await fetch.fetch(aim(server.url, timeout_s), job)
    assert [b"Seconds: 30" in request for request in requests] == [True, False, False, False]
    assert server.connections == 4


@pytest.mark.parametrize(
    ("url", "client", "short"),
    [
        ("http://10.0.0.1:9400/metrics", Client(), True),
        ("http://[fd00::1]:9400/metrics?a=b%20c", Client(), True),
        ("http://10.0.0.1/metrics", Client(), True),
        ("http://node-1:9400/metrics", Client(), False),
        ("https://10.0.0.1:9400/metrics", Client(), False),
        ("http://user:word@10.0.0.1:9400/metrics", Client(), False),
        (
            "http://10.0.0.1:9400/metrics",
            Client(credentials=BasicAuth(Secret("user"), Secret("word"))),
            False,
        ),
        ("http://10.0.0.1:9400/metrics", Client(headers={"X-A": (Secret("b"),)}), False),
    ],
)
def test_what_the_short_way_is_for(url: str, client: Client, short: bool) -> None:  # noqa: FBT001
    """Plain HTTP to an address, with nothing to be kept secret."""
    made = wire.ask(client, url, {"Accept": "*/*"})
    assert (made is not None) is short


def test_a_request_is_written_once() -> None:
    """Path and query as they are, host and port in brackets where they want them."""
    made = wire.ask(Client(), "http://[fd00::1]:9400/metrics?a=b%20c", {"Accept": "*/*"})
    assert made is not None
    assert (made.host, made.port) == ("fd00::1", 9400)
    lines = made.request.decode().split("\r\n")
    assert lines == [
        "GET /metrics?a=b%20c HTTP/1.1",
        "Host: [fd00::1]:9400",
        "Accept: */*",
        "",
        "",
    ]


async def test_a_proxy_is_no_short_way() -> None:
    """It is asked for the page, by the library."""
    requests = []

    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        requests.append(await reader.readuntil(END))
        writer.write(USUAL)
        await reader.read()

    async with raw.serve(handler) as server, fetcher() as fetch:
        proxied = replace(JOB, client=Client(proxy=Proxy(url=f"http://127.0.0.1:{server.port}")))
        answer = await fetch.fetch(aim("http://10.0.0.1:9400/metrics"), proxied)
    assert isinstance(answer, Scrape)
    assert requests[0].startswith(b"GET http://10.0.0.1:9400/metrics HTTP/1.1\r\n")
