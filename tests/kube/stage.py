"""What these tests have around a reflector: clocks that stand still, a user, odd servers."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

import orjson
from aiohttp import web
from multidict import CIMultiDict

from cwgpu.kube.access import Access
from cwgpu.kube.connection import Connection
from cwgpu.kube.reflector import Reflector
from cwgpu.kube.resource import PODS, Resource
from cwgpu.kube.view import View
from cwgpu.plan.kubernetes import Address
from tests.agent.stage import Hands

Json = dict[str, Any]

CHANCE = 0.5
"""Every random number."""


@dataclass
class User:
    """Credentials that can be changed."""

    url: str
    token: str = ""
    next_token: str = ""
    """Taken when the other one is refused."""
    refusals: int = 0
    way: Mapping[str, Any] = field(default_factory=dict)

    async def access(self) -> Access:
        """Give what is carried."""
        bearer = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        return Access(self.url, CIMultiDict(bearer), self.way)

    def refused(self, access: Access) -> None:
        """Count, and be somebody else from now on."""
        assert access.url == self.url
        self.refusals += 1
        self.token = self.next_token or self.token


@dataclass
class Watch:
    """A reflector that runs."""

    view: Reflector[Any]
    connection: Connection
    user: User
    pauses: Hands
    """By which it waits between tries, and tells how long a stream lasted."""
    patience: Hands
    """By which it gives up waiting for the server."""

    @property
    def names(self) -> set[str]:
        """The names of what it knows."""
        return {name for _, name in self.view.objects}

    async def until(self, condition: Callable[[], object]) -> None:
        """Wait until the view makes it true."""
        await shown(self.view, condition)

    async def later(self, condition: Callable[[], object]) -> None:
        """Let time go by until it is true: pauses end, and streams have lasted."""
        async with asyncio.timeout(20):
            while not condition():
                await self.pauses.move(60)
                await asyncio.sleep(0.001)

    async def synced(self) -> None:
        """Wait until all is known, and a while longer, so that no stream is a short one."""
        await self.until(lambda: self.view.synced)
        await self.pauses.move(2)


async def shown(view: View[Any], condition: Callable[[], object]) -> None:
    """Wait until a view makes it true; the limit is only for a test that fails."""
    async with asyncio.timeout(20):
        while not condition():
            await view.wait(view.version)


@contextlib.asynccontextmanager
async def connected(url: str, token: str = "") -> AsyncIterator[tuple[Connection, User, Hands]]:
    """Give a connection, its user, and the hands of the clock by which it loses its patience."""
    user, patience = User(url, token), Hands()
    async with Connection(user, sleep=patience.sleep) as connection:
        yield connection, user, patience


@contextlib.asynccontextmanager
async def reflecting(
    url: str,
    token: str = "",
    resource: Resource[Any] = PODS,
    namespace: str = "",
    *,
    lasting: bool = True,
    labels: str = "",
    fields: str = "",
) -> AsyncIterator[Watch]:
    """Run a reflector; unless ``lasting``, each stream has lasted for no time at all."""
    async with connected(url, token) as (connection, user, patience):
        pauses = Hands()
        view = Reflector(
            connection,
            resource,
            namespace,
            gather_s=0,
            sleep=pauses.sleep,
            monotonic=pauses.read if lasting else lambda: 0.0,
            random=lambda: CHANCE,
            labels=labels,
            fields=fields,
        )
        async with running(view):
            yield Watch(view, connection, user, pauses, patience)


@contextlib.asynccontextmanager
async def running(*views: Reflector[Any]) -> AsyncIterator[None]:
    """Run reflectors; one that ends ends the test."""
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(view.run()) for view in views]
        yield
        for task in tasks:
            task.cancel()


@dataclass
class Script:
    """A server that does what the test says, and writes down what it was asked."""

    url: str = ""
    queries: list[dict[str, str]] = field(default_factory=list)


@contextlib.asynccontextmanager
async def serve(
    answer: Callable[[web.Request, int], Awaitable[web.StreamResponse]],
) -> AsyncIterator[Script]:
    """Answer every request by a function of it and of how many came before."""
    script = Script()

    async def handle(request: web.Request) -> web.StreamResponse:
        script.queries.append(dict(request.query))
        return await answer(request, len(script.queries) - 1)

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", handle)
    runner = web.AppRunner(app, shutdown_timeout=0.1, handler_cancellation=True)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    script.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield script
    finally:
        await runner.cleanup()


async def stream(request: web.Request, *events: bytes) -> web.StreamResponse:
    """Begin a stream with these lines."""
    response = web.StreamResponse()
    response.enable_chunked_encoding()
    await response.prepare(request)
    for event in events:
        await response.write(event + b"\n")
    return response


async def for_ever() -> NoReturn:
    """Wait until the connection is gone."""
    await asyncio.get_running_loop().create_future()
    raise AssertionError


def event(kind: str, document: Json) -> bytes:
    """Write a line of a watch."""
    return orjson.dumps({"type": kind, "object": document})


def bookmark(version: int, *, ends: bool = False) -> bytes:
    """Write a bookmark."""
    metadata: Json = {"resourceVersion": str(version)}
    if ends:
        metadata["annotations"] = {"k8s.io/initial-events-end": "true"}
    return event("BOOKMARK", {"metadata": metadata, "spec": {"containers": None}})


def pod(name: str, version: int = 1, namespace: str = "gpu", **labels: str) -> Json:
    """Make a pod as a server has it."""
    return {
        "kind": "Pod",
        "apiVersion": "v1",
        "metadata": {
            "name": name,
            "namespace": namespace,
            "resourceVersion": str(version),
            "labels": labels,
        },
        "spec": {"nodeName": "a", "containers": [{"name": "main", "image": "x"}]},
        "status": {"phase": "Running", "podIP": "127.0.1.1"},
    }


def broken(name: str, namespace: str = "gpu") -> Json:
    """Make a pod of which one field has a type that it cannot have."""
    made = pod(name, namespace=namespace)
    made["spec"]["containers"][0]["ports"] = [{"containerPort": "nine"}]
    return made


def nobody(address: Address) -> User:
    """Know no address."""
    raise AssertionError(address)
