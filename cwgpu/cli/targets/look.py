"""Looking for targets ourselves, as the agent would."""

from collections.abc import AsyncGenerator
from dataclasses import replace
from pathlib import Path

from cwgpu.agent.clock import Clock
from cwgpu.agent.roll import Roll, Value
from cwgpu.agent.survey import Sight, surveying
from cwgpu.config.ruleset import Jobs
from cwgpu.discovery.question import NO_CLUSTER
from cwgpu.kube import failure
from cwgpu.kube.failure import Failure
from cwgpu.model.errors import ConfigurationError
from cwgpu.pace import rescale
from cwgpu.plan.kubernetes import InCluster, Kubeconfig, KubernetesDiscovery, Shard
from cwgpu.plan.plan import Job

# Faults that come and go are no news to the survey, which is of targets.
_LOOK_S = 5.0
_ELSEWHERE = f"{NO_CLUSTER}; to look in one now, add --kubeconfig ~/.kube/config"


async def documents(
    read: Jobs, kubeconfig: Path | None, timeout_s: float, *, every: bool
) -> AsyncGenerator[Value, None]:
    """Give what there is, and then what there is whenever that has changed."""
    jobs = [_led_to(job, kubeconfig) if kubeconfig else job for job in read.jobs]
    places = read.places()
    async with surveying(jobs, Clock()) as survey:
        former: object = None
        sights = await survey.first(timeout_s)
        while True:
            shard, fault = await _in_force(read.shard, kubeconfig, timeout_s)
            if (sights, shard, fault) != former:
                roll = Roll(shard, places, every=every)
                yield roll.document(_advised(_with(each, fault)) for each in sights)
            former = (sights, shard, fault)
            sights = await survey.next(_LOOK_S)


async def _in_force(
    shard: Shard | None, kubeconfig: Path | None, limit_s: float
) -> tuple[Shard | None, Failure | None]:
    """Give the shard by the count that agents work by, as far as that can be known."""
    if shard is None or shard.lease is None:
        return shard, None
    # It brings what speaks to the API, which most configurations ask nothing here.
    from cwgpu.agent.contend import reaching  # noqa: PLC0415

    try:
        async with reaching(shard.lease, Clock(), kubeconfig=str(kubeconfig or "")) as leases:
            found = await leases.read(limit_s)
    except ConfigurationError as error:
        return shard, Failure(_doubt(str(error)))
    if isinstance(found, Failure):
        return shard, replace(found, sentence=_doubt(found.sentence))
    count = None if found is None else rescale.count(found.holder)
    if count is None:
        return shard, Failure(_doubt(f"lease {shard.lease.name} has none"))
    return replace(shard, count=count), None


def _doubt(why: str) -> str:
    return f"the count of shards in force is not known, so the configuration's is taken: {why}"


def _with(sight: Sight, fault: Failure | None) -> Sight:
    if fault is None:
        return sight
    denied = sight.denied or fault.status in (failure.UNAUTHORIZED, failure.FORBIDDEN)
    return replace(sight, faults=(*sight.faults, fault.sentence), denied=denied)


def _advised(sight: Sight) -> Sight:
    """Name the flag where a note advises keys of the configuration alone."""
    notes = (_ELSEWHERE if note == NO_CLUSTER else note for note in sight.notes)
    return replace(sight, notes=tuple(notes))


def _led_to(job: Job, kubeconfig: Path) -> Job:
    server = Kubeconfig(str(kubeconfig.absolute()))

    def led(each: KubernetesDiscovery) -> KubernetesDiscovery:
        return replace(each, server=server) if isinstance(each.server, InCluster) else each

    return replace(job, kubernetes=tuple(map(led, job.kubernetes)))
