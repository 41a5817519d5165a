"""Agents that share the targets, as processes: each target has one, and after a rescale, too."""

import contextlib
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from cwgpu.pace import shard
from tests.fakes.exporter import FakeExporter
from tests.ha import agents
from tests.ha.agents import Job, Place

NAMES = "abc"
INTERVAL = "2s"
TARGETS = 8


@dataclass
class World:
    """A place with several exporters."""

    place: Place
    exporters: list[FakeExporter]

    def addresses(self) -> list[str]:
        """Give the targets."""
        return [each.address for each in self.exporters]

    def owned(self, count: int) -> list[str]:
        """Name the agent that has each target, of so many agents."""
        return [NAMES[shard.owner(each, count)] for each in self.addresses()]

    def counts(self) -> list[int]:
        """Count each exporter's requests."""
        return [len(each.requests) for each in self.exporters]

    def asked(self, more: int) -> None:
        """Wait until each exporter was asked so often again."""
        before = self.counts()
        agents.eventually(
            lambda: all(
                now >= then + more for now, then in zip(self.counts(), before, strict=True)
            ),
            f"{more} scrapes of each",
        )

    def names(self, exporter: FakeExporter, since: int = 0) -> list[str]:
        """Name the agents that asked an exporter."""
        return [one.headers["x-agent"] for one in exporter.requests[since:]]


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    """Give exporters."""
    with agents.place(tmp_path) as place, contextlib.ExitStack() as stack:
        body = b"# TYPE util gauge\nutil 1\n"
        yield World(place, [stack.enter_context(FakeExporter(body)) for _ in range(TARGETS)])


def part(name: str, count: int) -> dict[str, int]:
    """Say which agent it is, of so many."""
    return {"count": count, "index": NAMES.index(name)}


def test_a_rescale_gives_every_target_one_new_owner(world: World) -> None:
    """Of two agents become three; for one interval at most a target is asked by two of them."""
    place, job = world.place, Job(world.addresses(), INTERVAL)
    two = [place.start(name, job, shard=part(name, 2)) for name in NAMES[:2]]
    world.asked(2)
    for exporter, owner in zip(world.exporters, world.owned(2), strict=True):
        assert set(world.names(exporter)) == {owner}
    for name in NAMES[:2]:
        place.configure(name, job, shard=part(name, 3))
    third = place.start(NAMES[2], job, shard=part(NAMES[2], 3))
    third.says("targets_changed")
    for agent in two:
        agent.tell(signal.SIGHUP)
    for agent in two:
        agent.says("config_loaded", 2)
    world.asked(1)
    before = world.counts()
    world.asked(2)
    former = world.owned(2)
    for number, owner in enumerate(world.owned(3)):
        names = world.names(world.exporters[number])
        assert set(names[before[number] :]) == {owner}
        if owner != former[number]:
            assert names[names.index(owner) :].count(former[number]) <= 1
    assert all(agent.end() == 0 for agent in (*two, third))
