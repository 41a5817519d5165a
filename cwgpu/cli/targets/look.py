"""Looking for targets ourselves, as the agent would."""

from collections.abc import AsyncGenerator
from dataclasses import replace
from pathlib import Path

from cwgpu.agent.clock import Clock
from cwgpu.agent.roll import Roll, Value
from cwgpu.agent.survey import surveying
from cwgpu.config.ruleset import Jobs
from cwgpu.plan.kubernetes import InCluster, Kubeconfig, KubernetesDiscovery
from cwgpu.plan.plan import Job

# Faults that come and go are no news to the survey, which is of targets.
_LOOK_S = 5.0


async def documents(
    read: Jobs, kubeconfig: Path | None, timeout_s: float, *, every: bool
) -> AsyncGenerator[Value, None]:
    """Give what there is, and then what there is whenever that has changed."""
    jobs = [_led_to(job, kubeconfig) if kubeconfig else job for job in read.jobs]
    roll = Roll(read.shard, read.places(), every=every)
    async with surveying(jobs, Clock()) as survey:
        sights = await survey.first(timeout_s)
        yield roll.document(sights)
        while True:
            former, sights = sights, await survey.next(_LOOK_S)
            if sights != former:
                yield roll.document(sights)


def _led_to(job: Job, kubeconfig: Path) -> Job:
    server = Kubeconfig(str(kubeconfig.absolute()))

    def led(each: KubernetesDiscovery) -> KubernetesDiscovery:
        return replace(each, server=server) if isinstance(each.server, InCluster) else each

    return replace(job, kubernetes=tuple(map(led, job.kubernetes)))
