"""A client of the fake API server for its own tests: it reads nothing into what it gets."""

import io
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Any

import aiohttp

from tests.fakes.kubernetes.server import FakeKubernetes

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer, read to its end."""

    status: int
    headers: Mapping[str, str]
    text: str

    @property
    def json(self) -> Json:
        """The document."""
        document: Json = json.loads(self.text)
        return document

    @property
    def events(self) -> list[Json]:
        """The events of a watch."""
        return [json.loads(line) for line in self.text.splitlines()]

    @property
    def names(self) -> list[str]:
        """The names in a list."""
        return [item["metadata"]["name"] for item in self.json["items"]]


class Client:
    """Somebody with a token, or without."""

    def __init__(self, api: FakeKubernetes, session: aiohttp.ClientSession, token: str) -> None:
        """Ask this server."""
        self._url = api.url
        self._session = session
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}

    async def ask(
        self, path: str, headers: Mapping[str, str] | None = None, **query: str | int
    ) -> Answer:
        """GET, to the end."""
        async with self.streaming(path, headers, **query) as response:
            return Answer(response.status, response.headers, await response.text())

    def streaming(
        self, path: str, headers: Mapping[str, str] | None = None, **query: str | int
    ) -> AbstractAsyncContextManager[aiohttp.ClientResponse]:
        """GET; ``continue_`` and the like are words of Python."""
        params = {name.rstrip("_"): str(value) for name, value in query.items()}
        sent = {**self._headers, **(headers or {})}
        return self._session.get(self._url + path, params=params, headers=sent)

    async def send(
        self, method: str, path: str, body: object = None, content_type: str = "application/json"
    ) -> Answer:
        """Send a document."""
        headers = {**self._headers, "Content-Type": content_type}
        data = io.BytesIO(body if isinstance(body, bytes) else json.dumps(body).encode())
        async with self._session.request(
            method, self._url + path, data=data, headers=headers
        ) as response:
            return Answer(response.status, response.headers, await response.text())


@asynccontextmanager
async def client(api: FakeKubernetes, token: str | None = None) -> AsyncIterator[Client]:
    """Be the administrator, or somebody with another token; an empty one is none."""
    async with aiohttp.ClientSession() as session:
        yield Client(api, session, api.admin if token is None else token)


def pod(name: str, namespace: str = "gpu-operator", **labels: str) -> Json:
    """Give a running pod."""
    return {
        "kind": "Pod",
        "apiVersion": "v1",
        "metadata": {"name": name, "namespace": namespace, "labels": labels},
        "spec": {"nodeName": "node-a", "containers": [{"name": "main", "image": "x"}]},
        "status": {"phase": "Running", "podIP": "127.0.1.1"},
    }
