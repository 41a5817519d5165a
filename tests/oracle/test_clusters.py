"""What is discovered in clusters is what Prometheus discovers there, and what vmagent does."""

import asyncio
import contextlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import pytest

from cwgpu.model.labels import Labels
from cwgpu.model.target import Target
from cwgpu.prom.outcome import outcome
from tests.oracle import apart, clusters, rows, server, vmagent
from tests.oracle.clusters import Cluster, Served

Json = dict[str, Any]
Pairs = frozenset[tuple[str, str]]

_RECORDED = clusters.recorded()
_GROUPS = {row["id"]: row["groups"] for row in rows.read("kubernetes_sd")}


class Seen(NamedTuple):
    """What somebody makes of one cluster."""

    active: frozenset[tuple[Pairs, Pairs]]
    """Labels before the rules, and those that samples get."""
    dropped: frozenset[Pairs]
    """Labels before the rules."""


# ---- Prometheus


def _written(targets: list[Labels]) -> list[str]:
    return sorted(json.dumps(dict(labels), sort_keys=True) for labels in targets)


def _wanted(name: str) -> dict[str, list[str]]:
    """Give the recorded targets by their group's source, as we want them."""
    if name in apart.ENDED:
        return {}
    return {each["source"]: _written(each["targets"]) for each in _GROUPS[name] if each["targets"]}


@pytest.mark.parametrize("cluster", _RECORDED, ids=[each.name for each in _RECORDED])
async def test_groups_are_those_of_prometheus(cluster: Cluster, tmp_path: Path) -> None:
    """Namespaces and selectors are the server's to apply; the groups are whole, label for label."""
    async with clusters.served([cluster], tmp_path) as [served]:
        _, groups = await served.found()
    found = {
        group.source.removeprefix("kubernetes/0/"): _written(
            [_without_own({**group.labels, **target}) for target in group.targets]
        )
        for group in groups
    }
    assert found == _wanted(cluster.name)


def _without_own(labels: Labels) -> Labels:
    own = apart.LACKING[0]
    return {name: value for name, value in labels.items() if not own.has("pod", name)}


# ---- vmagent


def _left(role: str, labels: Labels, apart_by: tuple[apart.Meta, ...]) -> Pairs:
    """Give what there is to compare of some labels."""
    return frozenset(
        (name, value)
        for name, value in labels.items()
        if value and name not in apart.TIMES and not any(meta.has(role, name) for meta in apart_by)
    )


async def _ours(served: Served) -> Seen:
    """Give what we find, as vmagent would."""
    job, groups = await served.found()
    role = served.cluster.role
    active, dropped = set(), set()
    for labels in ({**group.labels, **target} for group in groups for target in group.targets):
        told = outcome(job, labels)
        before = _left(role, told.discovered, apart.LACKING)
        if isinstance(told.target, Target):
            active.add((before, _left(role, _public(told.target), apart.LACKING)))
        else:
            dropped.add(before)
    return Seen(frozenset(active), frozenset(dropped))


def _public(target: Target) -> Labels:
    url = urlsplit(target.url)
    instance = target.labels["instance"]
    if instance == url.netloc:
        instance = apart.with_port(instance, url.scheme)
    return {**target.labels, "instance": instance}


def _theirs(role: str, active: list[Json], dropped: list[Json]) -> Seen:
    return Seen(
        frozenset(
            (
                _left(role, each["discoveredLabels"], apart.ADDED),
                _left(role, each["labels"], apart.ADDED),
            )
            for each in active
        ),
        frozenset(_left(role, each["discoveredLabels"], apart.ADDED) for each in dropped),
    )


def _all_theirs(agent: vmagent.Vmagent, roles: Mapping[str, str]) -> dict[str, Seen]:
    """Give what it has by now, by job."""
    active, dropped = agent.targets()
    return {
        name: _theirs(role, list(_of(name, active)), list(_of(name, dropped)))
        for name, role in roles.items()
    }


def _of(job: str, targets: list[Json]) -> Iterator[Json]:
    return (each for each in targets if each["discoveredLabels"]["job"] == job)


def _compared() -> list[Cluster]:
    """Give the clusters in which nothing listens anywhere else than on loopback."""
    every = [*(each for each in _RECORDED if each.name not in apart.ELSEWISE), *clusters.own()]
    return [replace(each, objects=clusters.loopback(each.objects)) for each in every]


@pytest.mark.oracle("vmagent")
@pytest.mark.timeout(120)
async def test_vmagent_finds_the_same(tmp_path: Path) -> None:
    """The same job, the same objects: the same targets before and after the rules."""
    # Nothing is scraped in so short a time; if it were, it would be asked of this.
    proxy = f"http://127.0.0.1:{server.free_port()}"
    compared = _compared()
    async with clusters.served(compared, tmp_path) as served:
        wanted = {each.cluster.name: await _ours(each) for each in served}
        jobs = [{**each.cluster.job(**each.access()), "proxy_url": proxy} for each in served]
        roles = {each.name: each.role for each in compared}
        with vmagent.running(tmp_path / "vmagent", jobs) as agent:
            with contextlib.suppress(TimeoutError):
                await asyncio.to_thread(agent.wait, lambda _: _all_theirs(agent, roles) == wanted)
            assert _all_theirs(agent, roles) == wanted
    assert sum(len(seen.active) for seen in wanted.values()) > 100
    assert sum(len(seen.dropped) for seen in wanted.values()) > 30


def test_no_difference_is_listed_for_nothing() -> None:
    """Each of Prometheus' labels that vmagent lacks is among the recorded ones."""
    recorded = {
        (cluster.role, name)
        for cluster in _RECORDED
        for group in _GROUPS[cluster.name]
        for target in group["targets"]
        for name in target
    }
    _, *lacking = apart.LACKING
    for meta in lacking:
        assert any(meta.has(role, name) for role, name in recorded), meta
    assert apart.ELSEWISE.keys() < _GROUPS.keys()
