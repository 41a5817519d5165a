"""A cluster in which much goes wrong for a minute, and an agent that looks for targets in it.

The minute is one of a clock that the play moves, and what happens follows from a seed; how sockets
and tasks take turns does not. Then all is well again, and in time the targets that the agent wants
are those that the server's objects make, which is worked out here once more, from the documents.
"""

import asyncio
import contextlib
import random
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias
from unittest import mock

from cwgpu.agent.intake import Intake
from cwgpu.agent.observe import Observer
from cwgpu.kube import scope
from cwgpu.plan.client import Authorization, Client, Secret
from cwgpu.plan.kubernetes import Address, KubernetesDiscovery, Server
from cwgpu.plan.plan import Job
from cwgpu.prom import relabel
from cwgpu.prom.kubernetes.role import Role
from cwgpu.scrape.fetch import Fetcher
from cwgpu.telemetry.metrics import Metrics
from cwgpu.telemetry.summary import Summary
from tests.agent.stage import Hands
from tests.digest import kitchen
from tests.fakes import cluster
from tests.fakes.kubernetes import FakeKubernetes

Json: TypeAlias = dict[str, Any]
Found: TypeAlias = set[tuple[str, ...]]
"""Job, address, the pod's app, the zone of its node, the service's class."""

MINUTE_S = 60.0
HEALS_S = 900.0
"""A watch that is half open is found out after its time, up to ten minutes, and half a minute."""
_STEP_S = 0.5
_REAL_S = 0.001
"""For sockets, between two moves of the hands."""
PAGE = 3
PORT = 9400
NAMESPACES = ("a", "b")
NAMES = tuple("pqrstu")
NODES = ("node-1", "node-2")
SERVICES = ("x", "y")
READ: Mapping[str, Sequence[str]] = dict.fromkeys(
    ("pods", "services", "endpoints", "nodes"), ("list", "watch")
)
_LABELS = {
    "__meta_kubernetes_pod_label_app": "app",
    "__meta_kubernetes_node_label_zone": "zone",
    "__meta_kubernetes_service_label_class": "class",
}


@dataclass
class User:
    """An account of the agent's, and the file that holds its token."""

    api: FakeKubernetes
    name: str
    file: Path
    allowed: Mapping[str, Sequence[str]]
    namespace: str | None = None
    token: str = ""

    def __post_init__(self) -> None:
        """Begin with rights and a token."""
        self.token = self.grant()
        self.tell()

    def grant(self) -> str:
        """Allow all there is to be allowed."""
        self.api.revoke(self.name)
        return self.api.grant(self.name, self.allowed, self.namespace)

    def rotate(self) -> None:
        """Have the server know another token; the file still has the old one."""
        self.token = self.api.rotate(self.token)

    def tell(self) -> None:
        """Write the token that the server knows."""
        self.file.write_text(self.token)

    @property
    def server(self) -> Server:
        """The server, as this user."""
        bearer = Authorization("Bearer", Secret(file=str(self.file)))
        return Address(self.api.url, Client(credentials=bearer))


@dataclass
class Stage:
    """All who play."""

    api: FakeKubernetes
    users: Sequence[User]
    intake: Intake
    hands: Hands
    dice: random.Random
    made: int = 0
    """Objects that were put, which makes each different from the one before."""
    acts: list[str] = field(default_factory=list)
    """What happened, for a seed that fails."""

    async def act(self) -> None:
        """Let one thing happen."""
        happening = self.dice.choice(_CHURN if self.dice.random() < _CHURN_SHARE else _TROUBLE)
        self.acts.append(happening.__name__)
        lasting = happening(self)
        if lasting is not None:
            await lasting

    async def pass_by(self, seconds: float) -> None:
        """Let time go by, and sockets have their turns."""
        await self.hands.move(seconds)
        await asyncio.sleep(_REAL_S)

    async def heal(self) -> None:
        """Let all be well from now on."""
        if self.api.away:
            await self.api.start()
        self.api.chaos.heal()
        for user in self.users:
            user.grant()
            user.tell()

    @property
    def wanted(self) -> Found:
        """What the agent wants to scrape."""
        return {
            (target.job, target.labels["instance"], *(target.labels.get(n, "") for n in _SHOWN))
            for target in self.intake.wanted.values()
        }


_SHOWN = tuple(_LABELS.values())


# ---- what happens


def _pod(stage: Stage) -> None:
    dice = stage.dice
    stage.made += 1
    made = cluster.pod(
        dice.choice(NAMES),
        cluster.container("x", metrics=PORT),
        namespace=dice.choice(NAMESPACES),
        ip=f"127.1.{stage.made >> 8}.{stage.made & 255}",
        node=dice.choice(NODES),
        phase=dice.choice(("Running", "Running", "Running", "Pending", "Succeeded", "Failed")),
        labels={"app": dice.choice("efg")},
    )
    if dice.random() < 0.1:
        made["spec"]["containers"][0]["ports"][0]["containerPort"] = "nine"
    if dice.random() < 0.1:
        made["status"]["podIP"] = ""
    stage.api.put(made)


def _service(stage: Stage) -> None:
    name, namespace = stage.dice.choice(SERVICES), stage.dice.choice(NAMESPACES)
    stage.api.put(cluster.service(name, namespace, labels={"class": stage.dice.choice("klm")}))


def _endpoints(stage: Stage) -> None:
    namespace = stage.dice.choice(NAMESPACES)
    pods = [each for each in stage.api.all("pods") if each["metadata"]["namespace"] == namespace]
    addressed = [each for each in pods if each["status"]["podIP"]]
    chosen = stage.dice.sample(addressed, min(len(addressed), 3))
    stage.api.put(cluster.endpoints(stage.dice.choice(SERVICES), chosen, namespace, PORT))


def _node(stage: Stage) -> None:
    stage.api.put(cluster.node(stage.dice.choice(NODES), zone=stage.dice.choice("vwz")))


def _delete(stage: Stage) -> None:
    plural = stage.dice.choice(("pods", "pods", "pods", "services", "endpoints", "nodes"))
    there = stage.api.all(plural)
    if there:
        gone = stage.dice.choice(there)["metadata"]
        stage.api.delete(plural, gone.get("namespace", ""), gone["name"])


def _fail(stage: Stage) -> None:
    status = stage.dice.choice((401, 403, 404, 410, 410, 429, 429, 500, 502, 503, 504))
    stage.api.chaos.fail_next(
        status,
        times=stage.dice.randint(1, 5),
        retry_after_s=stage.dice.choice((1, 7)) if status in {429, 503} else None,
        verb=stage.dice.choice((None, "list", "watch")),
        resource=stage.dice.choice((None, *READ)),
    )


def _outage(stage: Stage) -> None:
    stage.api.chaos.outage(stage.dice.choice((429, 500, 503)))


def _well(stage: Stage) -> None:
    stage.api.chaos.heal()


def _slow(stage: Stage) -> None:
    stage.api.chaos.delay_s = stage.dice.choice((0.0, 2.0, 40.0))


def _pages(stage: Stage) -> None:
    stage.api.chaos.watch_lists = False


def _refuse(stage: Stage) -> None:
    stage.api.chaos.refuse(stage.dice.choice((403, 410, 429, 500, 504)))


def _revoke(stage: Stage) -> None:
    stage.api.revoke(stage.dice.choice(stage.users).name)


def _narrow(stage: Stage) -> None:
    """Leave only some of the rights."""
    user = stage.dice.choice(stage.users)
    stage.api.revoke(user.name)
    verbs = stage.dice.choice((("list",), ("watch",), ("list", "watch")))
    kinds = stage.dice.sample(list(user.allowed), 1)
    stage.api.grant(user.name, dict.fromkeys(kinds, verbs), user.namespace)


def _grant(stage: Stage) -> None:
    stage.dice.choice(stage.users).grant()


def _rotate(stage: Stage) -> None:
    stage.dice.choice(stage.users).rotate()


def _tell(stage: Stage) -> None:
    stage.dice.choice(stage.users).tell()


async def _restart(stage: Stage) -> None:
    if not stage.api.away:
        await stage.api.restart()


async def _go(stage: Stage) -> None:
    if not stage.api.away:
        await stage.api.stop()
        stage.api.store.compact()


async def _come(stage: Stage) -> None:
    if stage.api.away:
        await stage.api.start()


def _by_chaos(name: str) -> Callable[[Stage], None]:
    def act(stage: Stage) -> None:
        getattr(stage.api.chaos, name)()

    act.__name__ = name
    return act


Act: TypeAlias = Callable[[Stage], Any]

_CHURN_SHARE = 0.7
_LEFT_SHARE = 0.2
"""So often the last that happens is that watches are half open, which takes minutes to find out."""
_CHURN: Sequence[Act] = (*[_pod] * 4, _delete, _endpoints, _service, _node)
_SUDDEN = (
    "cut",
    "end",
    "expire",
    "bookmark",
    "garble",
    "close_connections",
    "compact",
    "expire_continues",
    "abandon",
)
_TROUBLE: Sequence[Act] = (
    *map(_by_chaos, _SUDDEN * 2),
    *(_fail, _refuse, _restart, _pages),
    *(_by_chaos("stall"), *[_by_chaos("resume")] * 3),
    *(_outage, _slow, *[_well] * 4),
    *(_revoke, _narrow, *[_grant] * 4),
    *(_rotate, *[_tell] * 4),
    *(_go, *[_come] * 3),
)
"""What lasts comes less often than what ends it."""


# ---- what is to come of it


def expected(api: FakeKubernetes) -> Found:
    """Work out the targets of the server's objects."""
    pods = {_key(each): each for each in api.all("pods") if _readable(each)}
    zones = {
        each["metadata"]["name"]: each["metadata"]["labels"]["zone"] for each in api.all("nodes")
    }
    return {*_of_pods(pods, zones), *_of_endpoints(api, pods)}


def _of_pods(pods: Mapping[tuple[str, str], Json], zones: Mapping[str, str]) -> Found:
    found: Found = set()
    for (namespace, _), pod in pods.items():
        ip, app = pod["status"]["podIP"], pod["metadata"]["labels"]["app"]
        if not ip or pod["status"]["phase"] in {"Succeeded", "Failed"}:
            continue
        found.add(("pods", f"{ip}:{PORT}", app, zones.get(pod["spec"]["nodeName"], ""), ""))
        if namespace == "b":
            found.add(("narrow", f"{ip}:{PORT}", app, "", ""))
    return found


def _of_endpoints(api: FakeKubernetes, pods: Mapping[tuple[str, str], Json]) -> Found:
    classes = {_key(each): each["metadata"]["labels"]["class"] for each in api.all("services")}
    found: Found = set()
    for each in api.all("endpoints"):
        for address in each["subsets"][0].get("addresses") or ():
            reference = address["targetRef"]
            pod = pods.get((reference["namespace"], reference["name"]))
            app = pod["metadata"]["labels"]["app"] if pod else ""
            labels = (app, "", classes.get(_key(each), ""))
            found.add(("endpoints", f"{address['ip']}:{PORT}", *labels))
    return found


def _key(document: Json) -> tuple[str, str]:
    return document["metadata"]["namespace"], document["metadata"]["name"]


def _readable(pod: Json) -> bool:
    return bool(pod["spec"]["containers"][0]["ports"][0]["containerPort"] == PORT)


# ---- the play


class End(NamedTuple):
    """How a play ended."""

    wanted: Found
    """By the agent."""
    expected: Found
    acts: Sequence[str]
    """What happened."""


async def play(seed: int, folder: Path) -> End:
    """Play a minute, and wait for the agent as long as it may take."""
    random.seed(seed)  # for the pauses between tries
    with mock.patch.object(scope, "PAGE", PAGE):
        async with _staged(random.Random(seed), folder) as stage:  # noqa: S311 - a play
            await _havoc(stage)
            await stage.heal()
            await _peace(stage)
            return End(stage.wanted, expected(stage.api), stage.acts)


async def _havoc(stage: Stage) -> None:
    ends_s = stage.hands.now + MINUTE_S
    while stage.hands.now < ends_s:
        for _ in range(stage.dice.randint(1, 3)):
            await stage.act()
        await stage.pass_by(stage.dice.choice((0.0, 0.1, _STEP_S, 2.0)))
    if stage.dice.random() < _LEFT_SHARE:
        stage.api.chaos.abandon()
        await stage.pass_by(0.0)
        _pod(stage)


async def _peace(stage: Stage) -> None:
    """Wait for the agent, by its clock, while a server does what servers do each minute."""
    ends_s, marks_s = stage.hands.now + HEALS_S, stage.hands.now + MINUTE_S
    while stage.wanted != expected(stage.api) and stage.hands.now < ends_s:
        if stage.hands.now >= marks_s:
            marks_s += MINUTE_S
            stage.api.chaos.bookmark()
        await stage.pass_by(_STEP_S)


@contextlib.asynccontextmanager
async def _staged(dice: random.Random, folder: Path) -> AsyncIterator[Stage]:
    hands = Hands()
    observer = Observer(Metrics(hands.read), Summary())
    async with (
        Fetcher(hands.read, hands.read) as fetcher,
        FakeKubernetes(window=50, sleep=hands.sleep) as api,
    ):
        intake = Intake(fetcher, lambda _: None, observer, hands.clock, leads=lambda: False)
        users = (
            User(api, "wide", folder / "wide", READ),
            User(api, "narrow", folder / "narrow", {"pods": READ["pods"]}, "b"),
        )
        intake.follow(replace(kitchen.plan(), jobs=_jobs(*users)))
        running = asyncio.create_task(intake.run())
        try:
            yield Stage(api, users, intake, hands, dice)
            assert not running.done()
        finally:
            running.cancel()
            await asyncio.wait([running])
            await intake.stop()


def _jobs(wide: User, narrow: User) -> tuple[Job, ...]:
    rules = tuple(
        relabel.rule(source_labels=[source], target_label=target)
        for source, target in _LABELS.items()
    )
    discoveries = {
        "pods": KubernetesDiscovery(Role.POD, wide.server, attach_node=True),
        "endpoints": KubernetesDiscovery(Role.ENDPOINTS, wide.server),
        "narrow": KubernetesDiscovery(Role.POD, narrow.server, namespaces=("b",)),
    }
    return tuple(
        Job(name, 3600.0, 10.0, kubernetes=(each,), relabel=rules)
        for name, each in discoveries.items()
    )
