"""Clusters, as recorded and of our own, and what the agent's discovery finds in them.

Each is served by a fake API server of its own, over TLS, and discovered as a pod does: the API
server, who we are and our own namespace are known from the pod's environment and files.
"""

import asyncio
import contextlib
import json
import re
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from cwgpu.agent.clock import Clock
from cwgpu.agent.watches import Watches
from cwgpu.client.clients import Clients
from cwgpu.model.target import TargetGroup
from cwgpu.plan.plan import Job
from tests.fakes import cluster
from tests.fakes.kubernetes import FakeKubernetes
from tests.oracle import ours, rows

Json = dict[str, Any]

_ROOT = Path(__file__).parents[2]
_IPV4 = re.compile(r"\b\d+\.(\d+\.\d+\.\d+)\b(?=[\"/:])")
ROLES = ("pod", "service", "endpoints", "endpointslice", "node", "ingress")
EVERY = [{"action": "labelmap", "regex": "__meta_kubernetes_(.+)"}]
"""Makes every meta label a target's, so that no two targets look alike."""


@dataclass(frozen=True, slots=True)
class Cluster:
    """Objects, and a job that discovers some of them."""

    name: str
    objects: Sequence[Json]
    discovery: Json
    """An entry of kubernetes_sd_configs."""
    rules: Sequence[Json] = field(default_factory=lambda: EVERY)
    own_namespace: str = ""

    @property
    def role(self) -> str:
        """What is discovered."""
        return str(self.discovery["role"])

    def job(self, **access: object) -> Json:
        """Write the job, with what is to be said of the API server."""
        discoveries = [{**self.discovery, **access}]
        return {
            "job_name": self.name,
            "scrape_interval": "1d",  # and so nothing is scraped while a test lasts
            "kubernetes_sd_configs": discoveries,
            "relabel_configs": list(self.rules),
        }


@dataclass(frozen=True, slots=True)
class Served:
    """A cluster and its API server."""

    cluster: Cluster
    api: FakeKubernetes
    account: Path
    """A folder, as a pod has it."""

    def access(self) -> Json:
        """Say how the server is reached by somebody who is in no pod."""
        return {
            "api_server": self.api.url,
            "tls_config": {"ca_file": str(self.account / "ca.crt")},
            "bearer_token_file": str(self.account / "token"),
        }

    async def found(self) -> tuple[Job, tuple[TargetGroup, ...]]:
        """Give the job, and the groups that the agent's discovery finds."""
        [job] = ours.jobs([self.cluster.job()])
        async with Clients(time.monotonic, environ={}) as clients:
            watches = Watches(clients, Clock(), environ=self.api.environ, folder=self.account)
            [source] = [watches.source(each, 0) for each in job.kubernetes]
            watches.follow([source])
            watching = asyncio.create_task(watches.run())
            try:
                findings = await source.read()
            finally:
                watching.cancel()
                await asyncio.wait([watching])
        assert findings.faults == ()
        return job, findings.groups


def loopback(document: Any) -> Any:  # noqa: ANN401 - any JSON
    """Have every IPv4 address in a document be one of loopback."""
    return json.loads(_IPV4.sub(r"127.\1", json.dumps(document)))


def recorded() -> list[Cluster]:
    """Give those of the recorded rows."""
    return [
        Cluster(
            row["id"],
            row["objects"],
            row["sd_config"],
            row.get("relabel_configs", EVERY),
            row["own_namespace"],
        )
        for row in rows.read("kubernetes_sd")
    ]


def own() -> Iterator[Cluster]:
    """Give one with everybody who deploys the exporter: every role, and jobs that choose."""
    objects = [cluster.node("node-1", zone="a"), cluster.node("node-2"), *cluster.BYSTANDERS]
    for deployer in cluster.DEPLOYERS.values():
        objects += deployer.documents()
    for role in ROLES:
        yield Cluster(f"deployers_{role}", objects, {"role": role})
    for name, [job] in (("shipped", _shipped()), ("article", _article())):
        [discovery] = job["kubernetes_sd_configs"]
        yield Cluster(f"deployers_{name}", objects, discovery, job["relabel_configs"])


@contextlib.asynccontextmanager
async def served(clusters: Sequence[Cluster], folder: Path) -> AsyncIterator[list[Served]]:
    """Serve each, to somebody who may list and watch what there is."""
    async with contextlib.AsyncExitStack() as stack:
        yield [
            await stack.enter_async_context(_serving(each, folder / each.name)) for each in clusters
        ]


@contextlib.asynccontextmanager
async def _serving(one: Cluster, folder: Path) -> AsyncIterator[Served]:
    async with FakeKubernetes(tls=True) as api:
        for document in one.objects:
            api.put(document)
        token = api.grant("agent", {"*": ("list", "watch")})
        namespace = one.own_namespace or "default"
        yield Served(one, api, api.service_account(folder, token, namespace))


def _shipped() -> list[Json]:
    text = (_ROOT / "config/cwagent.json").read_text("utf-8")
    return [
        job for job in json.loads(text)["cwgpu"]["scrape_configs"] if "kubernetes_sd_configs" in job
    ]


def _article() -> list[Json]:
    text = (_ROOT / "tests/data/article/prometheus-dcgm-job.yaml").read_text("utf-8")
    jobs: list[Json] = yaml.safe_load(text)["scrape_configs"]
    return jobs
