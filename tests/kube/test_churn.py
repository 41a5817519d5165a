"""Whatever happens, and in which order ever: in the end the view is what the server has."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cwgpu.kube import scope
from cwgpu.kube.connection import Connection
from cwgpu.kube.reflector import Reflector
from cwgpu.kube.resource import PODS
from tests.agent.stage import Hands
from tests.fakes.kubernetes import FakeKubernetes
from tests.kube.stage import User, broken, pod, running, shown

NAMES = st.sampled_from(["a", "b", "c", "d", "e"])
APPS = st.sampled_from(["x", "y"])

Act = tuple[str, ...]
CHURN = st.one_of(
    st.tuples(st.just("put"), NAMES, APPS),
    st.tuples(st.just("break"), NAMES),
    st.tuples(st.just("delete"), NAMES),
)
CHAOS = st.sampled_from(
    [
        ("cut",),
        ("end",),
        ("expire",),
        ("bookmark",),
        ("garble",),
        ("reset",),
        ("compact",),
        ("forget",),
        ("refuse", "500"),
        ("fail", "401"),
        ("fail", "410"),
        ("fail", "429"),
        ("fail", "503"),
        ("pages",),
        ("streams",),
        ("rotate",),
        ("restart",),
        ("look",),
    ]
)
ACTS = st.lists(st.one_of(CHURN, CHURN, CHAOS), max_size=25)


class World:
    """A server, a user of it, and things that happen to both."""

    def __init__(self, api: FakeKubernetes) -> None:
        self.api = api
        self.user = User(api.url, api.admin)

    async def happen(self, act: Act) -> None:
        """Let one thing happen."""
        kind, *rest = act
        if kind in {"put", "break"}:
            made = pod(rest[0], app=rest[1]) if kind == "put" else broken(rest[0])
            self.api.put(made)
        elif kind == "delete":
            if self.api.get("pods", "gpu", rest[0]) is not None:
                self.api.delete("pods", "gpu", rest[0])
        elif kind == "rotate":
            self.user.token = self.api.rotate(self.user.token)
        elif kind == "restart":
            await self.api.restart()
        elif kind == "look":
            for _ in range(50):
                await asyncio.sleep(0)
        else:
            self._chaos(kind, rest)

    def _chaos(self, kind: str, rest: list[str]) -> None:
        chaos = self.api.chaos
        if kind in {"pages", "streams"}:
            chaos.watch_lists = kind == "streams"
            return
        acts: dict[str, Callable[..., Any]] = {
            "cut": chaos.cut,
            "end": chaos.end,
            "expire": chaos.expire,
            "bookmark": chaos.bookmark,
            "garble": chaos.garble,
            "reset": chaos.close_connections,
            "compact": chaos.compact,
            "forget": chaos.expire_continues,
            "refuse": chaos.refuse,
            "fail": chaos.fail_next,
        }
        acts[kind](*map(int, rest))

    def expected(self) -> dict[str, str]:
        """Give the app of every pod that can be read."""
        return {
            found["metadata"]["name"]: found["metadata"]["labels"]["app"]
            for found in self.api.all("pods")
            if "ports" not in found["spec"]["containers"][0]
        }


def apps(view: Reflector[Any]) -> dict[str, str]:
    """Give the app of every pod that is known."""
    return {name: made.metadata.labels["app"] for (_, name), made in view.objects.items()}


async def at_once(seconds: float) -> None:
    """Wait for no time, but let others work."""
    assert seconds <= 60
    await asyncio.sleep(0)


async def live(acts: list[Act], monotonic: Callable[[], float]) -> None:
    """Let things happen to a server while a reflector watches it, and compare."""
    async with FakeKubernetes() as api:
        world = World(api)
        async with Connection(world.user, sleep=Hands().sleep) as connection:
            view = Reflector(
                connection, PODS, gather_s=0, sleep=at_once, monotonic=monotonic, random=lambda: 0.5
            )
            async with running(view):
                for act in acts:
                    await world.happen(act)
                unreadable = len(api.all("pods")) - len(world.expected())
                await shown(
                    view,
                    lambda: (
                        view.synced
                        and apps(view) == world.expected()
                        and len(view.unreadable) == unreadable
                    ),
                )


@settings(max_examples=60)
@given(acts=ACTS, lasts=st.booleans())
def test_the_view_comes_to_be_what_the_server_has(acts: list[Act], *, lasts: bool) -> None:
    """Objects come and go while streams break, versions expire, tokens rotate, servers restart."""
    hands = Hands()

    def monotonic() -> float:
        hands.now += lasts
        return hands.now

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scope, "PAGE", 2)
        asyncio.run(live(acts, monotonic))
    assert hands.naps == []
