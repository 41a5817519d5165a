"""A Kubernetes API server on loopback, with a real log of versions, for tests.

In a test's own event loop, or in a thread of its own for tests that start processes::

    async with FakeKubernetes() as api: ...
    with FakeKubernetes() as api: ...

``api.put({...})`` and ``api.delete("pods", "default", "name")`` change objects, ``api.grant``
gives tokens, ``api.requests`` tells what was asked, ``api.chaos`` says what goes wrong. Written
from the recorded answers of a real server, and independently of the program.
"""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import orjson
from aiohttp import web

from tests.fakes.kubernetes import access, credentials, door, writing
from tests.fakes.kubernetes.chaos import Chaos, Order
from tests.fakes.kubernetes.door import Door, Open, Request
from tests.fakes.kubernetes.resources import BY_KIND, RESOURCES, Ask
from tests.fakes.kubernetes.store import Store

Json = dict[str, Any]

BODY_BYTES = 3 * 1024 * 1024
"""k8s.io/apiserver's MaxRequestBodyBytes."""
WINDOW = 10_000
"""Changes of a kind that can be watched from."""


class FakeKubernetes:
    """The server."""

    def __init__(
        self,
        *,
        tls: bool = False,
        window: int = WINDOW,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        """``sleep`` measures the time of watches (``timeoutSeconds``) and of slow answers."""
        self.port = 0
        self.store = Store(window)
        self.authority = credentials.Authority() if tls else None
        self.chaos = Chaos(self.store, self._order, self._abort, self._call)
        self._access = access.Access()
        self._door = Door(self.store, self._access, self.chaos, sleep)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._runner: web.AppRunner | None = None
        self.away = True
        """It does not listen."""
        for name in ("default", "kube-node-lease", "kube-public", "kube-system"):
            writing.ensure_namespace(self.store, name)
        self.admin = self._access.token(access.ADMIN)
        """A token that may do everything."""

    @property
    def url(self) -> str:
        """Where it is."""
        return f"{'https' if self.authority else 'http'}://127.0.0.1:{self.port}"

    @property
    def ca(self) -> bytes:
        """The certificate of its authority, as PEM; empty without TLS."""
        return self.authority.pem if self.authority else b""

    @property
    def environ(self) -> dict[str, str]:
        """What a pod's environment says of the server; clients expect TLS there."""
        port = str(self.port)
        return {"KUBERNETES_SERVICE_HOST": "127.0.0.1", "KUBERNETES_SERVICE_PORT": port}

    # ---- objects

    @property
    def version(self) -> int:
        """The newest resource version."""
        return self.store.version

    def put(self, document: Mapping[str, Any]) -> Json:
        """Let an object be so, status and all; its namespace is made if need be."""
        copy: Json = orjson.loads(orjson.dumps(document))
        return writing.put(self.store, copy, BY_KIND[copy["kind"]]).document

    def delete(self, plural: str, namespace: str, name: str) -> None:
        """Delete an object; ``namespace`` is empty for kinds without."""
        writing.delete(self.store, Ask("delete", RESOURCES[plural], namespace, name))

    def get(self, plural: str, namespace: str, name: str) -> Json | None:
        """Give an object; it must not be changed."""
        resource = RESOURCES[plural]
        stored = self.store.get(resource, resource.key(namespace, name))
        return None if stored is None else stored.document

    def all(self, plural: str) -> list[Json]:
        """Give the objects of a kind, in the order of their keys; they must not be changed."""
        return [stored.document for stored in self.store.all(RESOURCES[plural])[1]]

    # ---- who may

    def grant(
        self,
        user: str,
        allowed: Mapping[str, Sequence[str]] | Sequence[Mapping[str, Any]] = (),
        namespace: str | None = None,
    ) -> str:
        """Allow a user plurals with verbs, or the rules of a role; give a new token.

        ``namespace`` None is a ClusterRoleBinding. ``system:anonymous`` is who brings no token.
        """
        self._access.allow(user, access.rules_of(allowed, namespace))
        return self._access.token(user)

    def revoke(self, user: str) -> None:
        """Allow a user nothing any more; its tokens still say who it is."""
        self._access.rules.pop(user, None)

    def rotate(self, token: str) -> str:
        """Give the user of a token a new one; the old one is no longer good."""
        return self._access.rotate(token)

    def kubeconfig(self, path: Path, token: str, namespace: str = "default") -> Path:
        """Write a kubeconfig that leads here."""
        return credentials.kubeconfig(path, self.url, self.ca, token=token, namespace=namespace)

    def service_account(self, folder: Path, token: str, namespace: str = "default") -> Path:
        """Write token, ca.crt and namespace as they are in a pod, or write them anew."""
        return credentials.service_account(folder, self.ca, token=token, namespace=namespace)

    # ---- what came

    @property
    def requests(self) -> list[Request]:
        """Every request that came."""
        return self._door.requests

    @property
    def watches(self) -> list[Open]:
        """The watches that are under way."""
        return list(self._door.open)

    def wait(self, until: Callable[[], object], timeout_s: float = 10.0) -> None:
        """Block this thread until a request or a watch makes it true; TimeoutError otherwise."""
        with self._door.came:
            if not self._door.came.wait_for(until, timeout_s):
                asked = [(each.verb, each.resource, each.status) for each in self.requests[-20:]]
                raise TimeoutError(f"not in {timeout_s} s; the last requests were {asked}")

    async def until(self, condition: Callable[[], object], timeout_s: float = 10.0) -> None:
        """Wait in the loop that serves until a request or a watch makes it true."""
        await asyncio.to_thread(self.wait, condition, timeout_s)

    # ---- life

    async def start(self) -> None:
        """Listen, on the same port as before if there was one."""
        self._loop = asyncio.get_running_loop()
        app = web.Application(client_max_size=BODY_BYTES)
        app.router.add_route("*", "/{path:.*}", self._door.answer)
        self._runner = web.AppRunner(
            app, access_log=None, shutdown_timeout=0.1, handler_cancellation=True
        )
        await self._runner.setup()
        context = self.authority.context if self.authority else None
        await web.TCPSite(self._runner, "127.0.0.1", self.port, ssl_context=context).start()
        self.port = self._runner.addresses[0][1]
        self.away = False

    async def stop(self) -> None:
        """Break all connections and listen no more; ``start`` takes the port again."""
        self.away = True
        if self._runner is not None:
            self.chaos.flowing.set()
            self._abort()
            await self._runner.cleanup()

    async def restart(self, *, new_ca: bool = False) -> None:
        """Be away for a moment; the log and the lists that were being paged are forgotten."""
        await self.stop()
        if new_ca:
            self.authority = credentials.Authority()
        self.store.compact()
        self.store.forget_lists()
        await self.start()

    def run(self, act: Coroutine[Any, Any, None]) -> None:
        """Do ``api.stop()`` and the like from a thread that does not serve."""
        assert self._loop is not None
        asyncio.run_coroutine_threadsafe(act, self._loop).result()

    async def __aenter__(self) -> Self:
        """Serve in the running event loop."""
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        """Stop serving."""
        await self.stop()

    def __enter__(self) -> Self:
        """Serve in a thread of its own."""
        ready = threading.Event()
        self._thread = threading.Thread(target=asyncio.run, args=(self._serve(ready),))
        self._thread.start()
        ready.wait()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop the thread."""
        self._call(self._closing.set)
        self._thread.join()

    async def _serve(self, ready: threading.Event) -> None:
        self._closing = asyncio.Event()
        async with self:
            ready.set()
            await self._closing.wait()

    # ---- for chaos

    def _call(self, act: Callable[[], None]) -> None:
        if self._loop is not None:
            self._loop.call_soon_threadsafe(act)

    def _order(self, order: Order) -> None:
        for watch in self.watches:
            watch.order(order)

    def _abort(self) -> None:
        if self._runner is not None and self._runner.server is not None:
            for connection in list(self._runner.server.connections):
                door.abort(connection.transport)
