"""A source that waits for news of what is watched, and says what keeps it from knowing."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from cwgpu.discovery.findings import Findings
from cwgpu.discovery.kubernetes import KubernetesSource
from cwgpu.kube.decode import Unreadable
from cwgpu.plan.kubernetes import KubernetesDiscovery
from cwgpu.prom.kubernetes.role import Role
from tests.agent import stage
from tests.discovery import sight
from tests.discovery.sight import Sight
from tests.fakes import cluster

PODS = KubernetesDiscovery(Role.POD)
DENIED = "pods in all namespaces cannot be listed: not allowed; add a rule"


@pytest.fixture
def seen() -> Sight:
    """Give views without an object."""
    return Sight()


@contextlib.asynccontextmanager
async def reading(source: KubernetesSource) -> AsyncIterator[asyncio.Task[Findings]]:
    """Have the source read, up to where it waits."""
    task = asyncio.create_task(source.read())
    await stage.settle()
    try:
        yield task
    finally:
        task.cancel()
        await asyncio.wait([task])


async def test_the_first_answer_has_all(seen: Sight) -> None:
    """It waits until everything was seen once; half a list is none."""
    async with reading(seen.source(PODS)) as answer:
        seen.put(cluster.pod("a"), cluster.pod("b", ip="127.0.1.2"))
        await stage.settle()
        assert not answer.done()
        seen.sync()
        found = await answer
    assert sight.addresses(found) == ["127.0.1.1:8080", "127.0.1.2:8080"]
    assert (found.faults, found.notes) == ((), ())


async def test_then_it_waits_for_news(seen: Sight) -> None:
    """Nothing new is no answer; what changed meanwhile is in one."""
    source = seen.source(PODS)
    seen.put(cluster.pod("a"))
    seen.sync()
    first = await source.read()
    async with reading(source) as answer:
        assert not answer.done()
        seen.put(cluster.pod("b", ip="127.0.1.2"))
        second = await answer
    seen.drop(cluster.pod("a"))
    seen.put(cluster.pod("c", ip="127.0.1.3"))
    third = await source.read()
    assert sight.addresses(third) == ["127.0.1.2:8080", "127.0.1.3:8080"]
    assert second.groups[0] is first.groups[0]
    assert third.groups[0] is second.groups[1]


async def test_the_first_trouble_is_an_answer(seen: Sight) -> None:
    """So that nobody waits for ever; when it is over, targets come."""
    source = seen.source(PODS)
    async with reading(source) as answer:
        seen.of("pod").grieve("list", DENIED)
        found = await answer
    assert found == Findings((), (f"{DENIED}; until then no targets come of it",))
    seen.put(cluster.pod("a"))
    seen.of("pod").grieve("list", "")
    seen.sync()
    assert len((await source.read()).groups) == 1


async def test_a_refusal_is_told_from_other_trouble(seen: Sight) -> None:
    """As long as it lasts."""
    source = seen.source(PODS)
    seen.of("pod").grieve("list", DENIED, denied=True)
    assert (await source.read()).denied
    seen.of("pod").grieve("list", "no answer")
    found = await source.read()
    assert not found.denied
    assert found.faults


async def test_all_that_targets_are_made_of_is_waited_for(seen: Sight) -> None:
    """Without services a rule would judge endpoints by labels that are missing."""
    source = seen.source(KubernetesDiscovery(Role.ENDPOINTS))
    pod = cluster.pod("a")
    seen.put(pod, cluster.endpoints("dcgm", [pod]))
    for kind in ("endpoints", "pod"):
        view = seen.of(kind)
        view.complete(view.objects.keys())
    async with reading(source) as answer:
        assert not answer.done()
        seen.of("service").grieve("list", "services cannot be listed")
        found = await answer
    assert found.groups == ()
    assert found.faults == ("services cannot be listed; until then no targets come of it",)


async def test_one_namespace_does_not_wait_for_another(seen: Sight) -> None:
    """What we may not read there costs nobody here."""
    source = seen.source(KubernetesDiscovery(Role.POD, namespaces=("ours", "theirs")))
    seen.put(cluster.pod("a", namespace="ours"))
    view = seen.of("pod", "ours")
    view.complete(view.objects.keys())
    seen.of("pod", "theirs").grieve("list", "pods in namespace theirs cannot be listed")
    found = await source.read()
    assert sight.addresses(found) == ["127.0.1.1:8080"]
    assert found.faults == (
        "pods in namespace theirs cannot be listed; until then no targets come of it",
    )


async def test_targets_stay_when_the_server_goes(seen: Sight) -> None:
    """And it is said that they do."""
    source = seen.source(PODS)
    seen.put(cluster.pod("a"))
    seen.sync()
    first = await source.read()
    seen.of("pod").grieve("watch", "pods cannot be watched")
    second = await source.read()
    assert second.groups == first.groups
    assert second.faults == (
        "pods cannot be watched; until then the targets that are known stay in use",
    )


async def test_what_stays_wrong_is_told_again(seen: Sight) -> None:
    """Seldom, and though nothing has changed."""
    source = seen.source(PODS)
    seen.of("pod").grieve("list", DENIED)
    first = await source.read()
    async with reading(source) as answer:
        assert seen.naps == [600.0]
        seen.alarm.set()
        assert await answer == first


async def test_an_object_that_cannot_be_read(seen: Sight) -> None:
    """One is named, and how many more there are."""
    source = seen.source(PODS)
    seen.put(cluster.pod("a"))
    for name in ("x", "y"):
        seen.of("pod").put(Unreadable(("gpu", name), "7", "Expected `str`"))
    seen.sync()
    found = await source.read()
    assert len(found.groups) == 1
    assert found.faults == ("the object gpu/x cannot be read, nor 1 more: Expected `str`",)


async def test_outside_of_a_cluster_there_is_nothing(seen: Sight) -> None:
    """That is no fault: it is noted, at once."""
    source = seen.source(PODS, {"KUBERNETES_SERVICE_HOST": ""})
    assert source.questions == ()
    found = await source.read()
    assert (found.groups, found.faults) == ((), ())
    assert len(found.notes) == 1
    async with reading(source) as answer:
        assert not answer.done()


async def test_what_cannot_be_asked_is_a_fault(seen: Sight, tmp_path: Path) -> None:
    """Beside the targets that there are all the same."""
    discovery = KubernetesDiscovery(Role.POD, namespaces=("gpu",), own_namespace=True)
    source = seen.source(discovery, folder=tmp_path)
    seen.put(cluster.pod("a"))
    seen.sync()
    found = await source.read()
    assert len(found.groups) == 1
    assert found.faults[0].startswith("own_namespace: ")


def test_each_question_is_asked_once(seen: Sight) -> None:
    """Nodes of two namespaces are the same nodes."""
    discovery = KubernetesDiscovery(Role.POD, namespaces=("a", "b"), attach_node=True)
    asked = [(one.kind, one.namespace) for one in seen.source(discovery).questions]
    assert asked == [("pod", "a"), ("node", ""), ("pod", "b")]
