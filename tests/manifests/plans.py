"""What the agent of each overlay makes of the configuration that it would find."""

import json
from pathlib import Path

import msgspec

from cwgpu.config import load, review
from cwgpu.config.complaint import Complaint
from cwgpu.model import objects
from cwgpu.model.target import DroppedTarget, Target, TargetGroup
from cwgpu.plan.plan import Job, Plan
from cwgpu.prom import targeting
from cwgpu.prom.kubernetes import group
from cwgpu.prom.kubernetes.role import Role
from tests.manifests import rendered
from tests.manifests.rendered import Json

_JOBS = "/etc/prometheusconfig"
"""Where AWS' manifest mounts the jobs; its JSON says so."""


def files(name: str, folder: Path) -> tuple[Path, Path | None]:
    """Write the configuration; give the agent's folder, and the file of jobs if there is one."""
    written = rendered.write(name, folder)
    jobs = written.get(_JOBS)
    return written["/etc/cwagentconfig"], jobs and jobs / "prometheus.yaml"


def plan(name: str, folder: Path) -> Plan:
    """Load it."""
    agent, jobs = files(name, folder)
    return load.load(agent, jobs, rendered.environment(name)).plan


def complaints(name: str, folder: Path) -> tuple[Complaint, ...]:
    """Check it."""
    agent, jobs = files(name, folder)
    return review.review([agent], rendered.environment(name), prometheus=jobs)


def written(name: str) -> Json:
    """Give the JSON that stands in the place of the default."""
    text = rendered.mounted(name)["/etc/cwagentconfig"]["cwagent.json"]
    found: Json = json.loads(text)
    return found


def discovered(job: Job, name: str) -> list[Target]:
    """Give what a job scrapes of a running pod of this overlay."""
    made = group.group(Role.POD, _running(name), _Nobody())
    return _kept(job, made)


def static(job: Job) -> list[Target]:
    """Give what a job scrapes of its static targets."""
    return [each for one in job.static for each in _kept(job, one)]


def _kept(job: Job, found: TargetGroup) -> list[Target]:
    every = list(targeting.targets(job, found))
    return [each for each in every if not isinstance(each, DroppedTarget)]


class _Nobody:
    """A cluster in which nothing but our pod is known."""

    def pod(self, namespace: str, name: str) -> None:
        """Give no pod."""

    def service(self, namespace: str, name: str) -> None:
        """Give no service."""

    def node(self, name: str) -> None:
        """Give no node."""


def _running(name: str) -> objects.Pod:
    """Make a pod as the API would have it."""
    found = rendered.workload(name)
    template = found["spec"]["template"]
    names = {
        "name": f"{found['metadata']['name']}-x",
        "namespace": found["metadata"]["namespace"],
    }
    whole = {
        "metadata": {**template["metadata"], **names},
        "spec": {**template["spec"], "nodeName": "node-7"},
        "status": {"phase": "Running", "podIP": "10.0.0.7"},
    }
    return msgspec.convert(whole, objects.Pod)
