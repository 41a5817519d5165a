"""Targets from a Kubernetes API on loopback: they come, change and go, and trouble is told."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cwgpu.agent.intake import Intake
from cwgpu.config import load
from cwgpu.model.event import EmfEvent
from cwgpu.plan.client import Authorization, Client, Secret
from cwgpu.plan.kubernetes import Address, InCluster, KubernetesDiscovery, Server, Shard
from cwgpu.plan.plan import Job, Plan
from cwgpu.prom import relabel
from cwgpu.prom.kubernetes.role import Role
from cwgpu.scrape.fetch import Fetcher
from tests.agent import stage
from tests.agent.stage import Hands, Witness
from tests.digest import kitchen
from tests.fakes import cluster
from tests.fakes.exporter import FakeExporter
from tests.fakes.kubernetes import FakeKubernetes

ROOT = Path(__file__).parents[2]
CALM_S = 5.0
READ: Mapping[str, Sequence[str]] = dict.fromkeys(
    ("pods", "services", "endpoints", "endpointslices", "nodes"), ("list", "watch")
)


class World:
    """An intake at work, beside an API server."""

    def __init__(self, intake: Intake, witness: Witness, hands: Hands) -> None:
        self.intake, self.witness, self.hands = intake, witness, hands
        self.api = FakeKubernetes()

    def server(self, allowed: Mapping[str, Sequence[str]] = READ) -> Server:
        """Give the server, to a user who may do this."""
        token = Secret(self.api.grant("agent", allowed))
        return Address(self.api.url, Client(credentials=Authorization("Bearer", token)))

    def job(self, *discoveries: KubernetesDiscovery, name: str = "dcgm", **more: Any) -> Job:  # noqa: ANN401 - fields of Job
        """Make a job; the interval is longer than a test."""
        return Job(name, 3600.0, 10.0, kubernetes=discoveries, **more)

    def follow(self, *jobs: Job, **more: Any) -> None:  # noqa: ANN401 - fields of Plan
        """Work by a plan of these jobs."""
        self.intake.follow(replace(kitchen.plan(), jobs=jobs, **more))

    @property
    def wanted(self) -> list[str]:
        """The addresses that are wanted."""
        return sorted(target.labels["instance"] for target in self.intake.wanted.values())

    async def wants(self, *addresses: str) -> None:
        """Wait until these are wanted, and let the next change be told."""
        await stage.eventually(lambda: self.wanted == sorted(addresses))
        await stage.eventually(lambda: CALM_S in self.hands.naps)
        self.hands.naps.clear()
        await self.hands.move(CALM_S)

    def asked(self, verb: str = "watch") -> list[tuple[str, str]]:
        """Name resource and namespace of what was asked, in order."""
        return [(each.resource, each.namespace) for each in self.api.requests if each.verb == verb]

    def said(self, event: str = "discovery_failed") -> dict[str, str]:
        """Give the last reason of each job."""
        return {str(one["job"]): str(one["reason"]) for one in self.witness.said(event)}

    @contextlib.asynccontextmanager
    async def working(self) -> AsyncIterator[None]:
        """Have the intake run."""
        task = asyncio.create_task(self.intake.run())
        try:
            yield
            assert not task.done()
        finally:
            task.cancel()
            await asyncio.wait([task])


@pytest.fixture
async def world(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[World]:
    """Give an intake without a plan, outside of any cluster."""
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    monkeypatch.setenv("NODE_NAME", "node-1")
    hands, witness = Hands(), Witness(caplog)
    events: list[EmfEvent] = []
    async with Fetcher(hands.read, hands.read) as fetcher:
        made = World(Intake(fetcher, events.extend, witness.observer, hands.clock), witness, hands)
        async with made.api:
            yield made
            await made.intake.stop()


async def test_pods_come_change_and_go(world: World) -> None:
    """What the API server knows is what is scraped."""
    world.api.put(cluster.pod("a"))
    world.follow(world.job(KubernetesDiscovery(Role.POD, world.server())))
    async with world.working():
        await world.wants("127.0.1.1:8080")
        world.api.put(cluster.pod("b", ip="127.0.1.2"))
        await world.wants("127.0.1.1:8080", "127.0.1.2:8080")
        world.api.put(cluster.pod("a", ip="127.0.1.3"))
        await world.wants("127.0.1.2:8080", "127.0.1.3:8080")
        world.api.put(cluster.pod("b", ip="127.0.1.2", phase="Succeeded"))
        await world.wants("127.0.1.3:8080")
        world.api.delete("pods", "gpu", "a")
        await world.wants()
    assert world.asked() == [("pods", "")]
    assert world.api.watches == []


async def test_a_pod_is_scraped(world: World) -> None:
    """From the object to the page."""
    async with FakeExporter(b"up 1\n") as exporter:
        host, port = exporter.address.split(":")
        world.api.put(cluster.pod("a", cluster.container("x", metrics=int(port)), ip=host))
        world.follow(world.job(KubernetesDiscovery(Role.POD, world.server())))
        world.intake.limit(1)
        async with world.working():
            await world.intake.done.wait()
        assert len(exporter.requests) == 1


@pytest.mark.parametrize("who", cluster.DEPLOYERS)
async def test_the_shipped_configuration_finds_every_exporter_once(world: World, who: str) -> None:
    """One target for each of its pods, among all that a cluster has; none of what is none."""
    deployer = cluster.DEPLOYERS[who]
    for document in (*deployer.documents(), *cluster.BYSTANDERS):
        world.api.put(document)
    shipped = load.load(ROOT / "config/cwagent.json", None, {"CLUSTER_NAME": "lab"}).plan
    world.intake.follow(_led_to(shipped, world.server({"pods": ("list", "watch")})))
    async with world.working():
        await stage.eventually(lambda: not world.intake.unready)
        scheme = "https" if who == "add-on" else "http"
        exports = who != "monitoring-agent"
        assert sorted(target.url for target in world.intake.wanted.values()) == [
            f"{scheme}://127.0.{deployer.number}.{node}:9400/metrics"
            for node in ((1, 2) if exports else ())
        ]
        for target in world.intake.wanted.values():
            assert target.labels["Namespace"] == deployer.namespace
            assert target.labels["NodeName"] in {"node-1", "node-2"}
            assert "dcgm" in target.labels["Service"]


async def test_all_deployers_at_once(world: World) -> None:
    """Each of ten exporters is found once."""
    for deployer in cluster.DEPLOYERS.values():
        for document in deployer.documents():
            world.api.put(document)
    shipped = load.load(ROOT / "config/cwagent.json", None, {"CLUSTER_NAME": "lab"}).plan
    world.intake.follow(_led_to(shipped, world.server()))
    async with world.working():
        await stage.eventually(lambda: not world.intake.unready)
        expected = [f"127.0.{who}.{node}:9400" for who in range(1, 6) for node in (1, 2)]
        assert world.wanted == expected


def _led_to(plan: Plan, server: Server) -> Plan:
    """Have the jobs of a plan ask this server in place of that of our own cluster."""
    jobs = (
        replace(job, kubernetes=tuple(replace(each, server=server) for each in job.kubernetes))
        for job in plan.jobs
    )
    return replace(plan, jobs=tuple(jobs))


@pytest.mark.parametrize("role", [Role.ENDPOINTS, Role.ENDPOINTSLICE])
async def test_services_lead_to_pods(world: World, role: Role) -> None:
    """What a service is annotated with chooses, what its pods are called is known."""
    keep = relabel.rule(
        source_labels=["__meta_kubernetes_service_annotation_prometheus_io_scrape"],
        regex="true",
        action="keep",
    )
    name = relabel.rule(source_labels=["__meta_kubernetes_pod_name"], target_label="pod_name")
    for who in ("operator", "chart"):
        for document in cluster.DEPLOYERS[who].documents():
            world.api.put(document)
    discovery = KubernetesDiscovery(role, world.server())
    world.follow(world.job(discovery, relabel=(keep, name)))
    async with world.working():
        await stage.eventually(lambda: world.wanted == ["127.0.1.1:9400", "127.0.1.2:9400"])
        found = {target.labels["pod_name"] for target in world.intake.wanted.values()}
        assert found == {"nvidia-dcgm-exporter-00000", "nvidia-dcgm-exporter-00001"}


async def test_what_is_not_allowed_is_told_by_name(world: World) -> None:
    """That job has no targets, another one has; nobody is waited for."""
    world.api.put(cluster.pod("a"))
    allowed = world.server({"pods": ("list", "watch"), "endpoints": ("list", "watch")})
    world.follow(
        world.job(KubernetesDiscovery(Role.ENDPOINTS, allowed), name="services"),
        world.job(KubernetesDiscovery(Role.POD, allowed), name="pods"),
    )
    async with world.working():
        await stage.eventually(lambda: not world.intake.unready)
        assert world.wanted == ["127.0.1.1:8080"]
        (reason,) = world.said().values()
        assert world.said().keys() == {"services"}
        assert reason.startswith("services in all namespaces cannot be ")
        assert 'add {apiGroups: [""], resources: [services], verbs: [list, watch]}' in reason
        assert reason.endswith("; until then no targets come of it")
    assert list(world.witness.summary.discovery) == [("services", reason)]


async def test_a_job_of_other_namespaces_than_we_may_read(world: World) -> None:
    """What may be read is."""
    world.api.put(cluster.pod("a", namespace="ours"))
    token = Secret(world.api.grant("agent", {"pods": ("list", "watch")}, namespace="ours"))
    server = Address(world.api.url, Client(credentials=Authorization("Bearer", token)))
    discovery = KubernetesDiscovery(Role.POD, server, namespaces=("ours", "theirs"))
    world.follow(world.job(discovery))
    async with world.working():
        await world.wants("127.0.1.1:8080")
    assert "add " in world.said()["dcgm"]
    assert "in namespace theirs" in world.said()["dcgm"]


async def test_jobs_share_what_they_watch(world: World) -> None:
    """Pods are watched once for three jobs; what another selector chooses is another watch."""
    pod = cluster.pod("a")
    for document in (pod, cluster.service("dcgm"), cluster.endpoints("dcgm", [pod])):
        world.api.put(document)
    server = world.server()
    world.follow(
        world.job(KubernetesDiscovery(Role.POD, server), name="one"),
        world.job(KubernetesDiscovery(Role.POD, server, attach_node=True), name="two"),
        world.job(KubernetesDiscovery(Role.ENDPOINTS, server), name="three"),
        world.job(KubernetesDiscovery(Role.POD, server, namespaces=("gpu",)), name="four"),
    )
    async with world.working():
        await stage.eventually(lambda: not world.intake.unready)
        assert len(world.wanted) == 5  # of endpoints also the port that the service does not have
    assert sorted(world.asked()) == [
        ("endpoints", ""),
        ("nodes", ""),
        ("pods", ""),
        ("pods", "gpu"),
        ("services", ""),
    ]


async def test_a_reload_keeps_what_is_watched(world: World) -> None:
    """A job that stays goes on, one that changes looks at the same watch, the unneeded ends."""
    world.api.put(cluster.pod("a"))
    world.api.put(cluster.node("node-1"))
    server = world.server()
    pods = KubernetesDiscovery(Role.POD, server)
    world.follow(world.job(pods), world.job(KubernetesDiscovery(Role.NODE, server), name="nodes"))
    async with world.working():
        await stage.eventually(lambda: world.wanted == ["127.0.1.1:8080", "node-1"])
        labelled = replace(pods, environment={"__meta_cwgpu_env_X": "y"})
        rule = relabel.rule(source_labels=["__meta_cwgpu_env_X"], target_label="x")
        world.follow(world.job(labelled, relabel=(rule,)), world.job(pods, name="more"))
        await stage.eventually(lambda: world.wanted == ["127.0.1.1:8080"] * 2)
        labels = {target.labels.get("x") for target in world.intake.wanted.values()}
        assert labels == {"y", None}
        assert sorted(world.asked()) == [("nodes", ""), ("pods", "")]
        await stage.eventually(
            lambda: [each.ask.resource.plural for each in world.api.watches] == ["pods"]
        )
        world.follow()
        await stage.eventually(lambda: world.api.watches == [])
        world.follow(world.job(pods))
        await stage.eventually(lambda: world.wanted == ["127.0.1.1:8080"])


async def test_only_our_own_node(world: World) -> None:
    """The API server is asked for its pods alone."""
    for node in (1, 2):
        world.api.put(cluster.pod(f"p{node}", ip=f"127.0.1.{node}", node=f"node-{node}"))
    world.follow(world.job(KubernetesDiscovery(Role.POD, world.server(), node_local=True)))
    async with world.working():
        await world.wants("127.0.1.1:8080")
    assert world.api.requests[0].query["fieldSelector"] == "spec.nodeName=node-1"


async def test_a_server_that_is_gone(world: World) -> None:
    """Targets stay, the journal has a line on it; what changed meanwhile is seen afterwards."""
    for number in (1, 2):
        world.api.put(cluster.pod(f"p{number}", ip=f"127.0.1.{number}"))
    world.follow(world.job(KubernetesDiscovery(Role.POD, world.server())))
    both = ("127.0.1.1:8080", "127.0.1.2:8080")
    async with world.working():
        await world.wants(*both)
        await world.api.stop()
        for _ in range(60):  # an hour, a minute at a time, for connections to be refused in
            await world.hands.move(60.0)
            await asyncio.to_thread(lambda: None)
        await stage.eventually(world.said)
        assert world.wanted == list(both)
        reasons = {str(one["reason"]) for one in world.witness.said("discovery_failed")}
        assert len(reasons) == 1
        (reason,) = reasons
        assert "connection refused; is the API server running?" in reason
        assert reason.endswith("until then the targets that are known stay in use")
        assert len(world.witness.said("discovery_failed")) <= 7  # once in ten minutes
        world.api.delete("pods", "gpu", "p1")
        await world.api.start()
        while world.wanted != ["127.0.1.2:8080"]:
            await world.hands.move(60.0)
            await asyncio.to_thread(lambda: None)


async def test_readiness_says_what_is_waited_for(world: World) -> None:
    """A server that does not answer is waited for, but not for ever."""
    world.api.chaos.delay_s = 3600.0
    world.follow(world.job(KubernetesDiscovery(Role.POD, world.server())))
    world.intake.limit(1)
    async with world.working():
        waits = "waiting for the first answer of kubernetes_sd_configs[0] of job dcgm"
        await stage.eventually(lambda: world.intake.unready == waits)
        while not world.intake.done.is_set():
            await world.hands.move(10.0)
            await asyncio.to_thread(lambda: None)
        assert world.intake.unready == ""
    assert "no answer in " in world.said()["dcgm"]


async def test_outside_of_a_cluster(world: World) -> None:
    """A job of the pod's own cluster finds nothing, which is said once and is no fault."""
    world.follow(world.job(KubernetesDiscovery(Role.POD, InCluster())))
    world.intake.limit(1)
    async with world.working():
        await world.intake.done.wait()
        await stage.settle()
        await world.hands.move(3600.0)
    assert world.said() == {}
    assert world.witness.levels("discovery_idle") == {"INFO"}
    (note,) = world.witness.said("discovery_idle")
    assert str(note["reason"]).startswith("this is no pod of a cluster")


async def test_a_shard_has_its_part(world: World) -> None:
    """Of six pods each of two agents has some; the others are known to be another's."""
    for number in range(1, 7):
        world.api.put(cluster.pod(f"p{number}", ip=f"127.0.1.{number}"))
    job = world.job(KubernetesDiscovery(Role.POD, world.server()))
    parts = []
    async with world.working():
        for index in (0, 1):
            world.follow(job, shard=Shard(2, index))
            await stage.eventually(lambda: not world.intake.unready)
            await stage.eventually(lambda: 0 < len(world.wanted) < 6 and world.wanted not in parts)
            parts.append(world.wanted)
        reasons = {one.reason for one in world.witness.summary.dropped_targets}
        assert reasons == {"another shard's: it is of shard 0 of 2, and this is 1"}
    assert sorted(parts[0] + parts[1]) == [f"127.0.1.{number}:8080" for number in range(1, 7)]
