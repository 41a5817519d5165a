"""Agents that share the targets, as processes: each target has one, and after a rescale, too."""

import contextlib
import itertools
import json
import signal
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.request import urlopen

import pytest

from cwgpu.pace import shard
from tests.fakes.exporter import FakeExporter
from tests.ha import agents
from tests.ha.agents import Agent, Job, Place

# Three processes start, and a dozen intervals pass.
pytestmark = pytest.mark.timeout(120)

NAMES = "abc"
INTERVAL_S = 3
INTERVAL = f"{INTERVAL_S}s"
TARGETS = 8
LEASE = {"name": "shards", "namespace": "lab"}


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

    def all_have_some(self) -> bool:
        """Tell whether no agent is idle: whose an address is depends on its port."""
        return all(set(self.owned(count)) == set(NAMES[:count]) for count in (2, 3))

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

    def start(self, name: str, count: int) -> Agent:
        """Start a shard that has this count in its configuration."""
        return self.place.start(name, self.job(), shard=together(name, count))

    def reload(self, agent: Agent, count: int) -> None:
        """Bring another count to an agent, and see that it has read it."""
        loaded = len(agent.said("config_loaded"))
        self.place.configure(agent.name, self.job(), shard=together(agent.name, count))
        agent.tell(signal.SIGHUP)
        agent.says("config_loaded", loaded + 1)
        assert agent.said("reload_failed") == []

    def job(self) -> Job:
        """Give what is scraped."""
        return Job(self.addresses(), INTERVAL)

    def owners(self, since: Sequence[int] = ()) -> list[set[str]]:
        """Name the agents that asked each exporter."""
        pairs = zip(self.exporters, since or [0] * len(self.exporters), strict=True)
        return [set(self.names(each, first)) for each, first in pairs]

    def holder(self) -> str:
        """Read the count in force, as people would."""
        lease = self.place.api.get("leases", "lab", "shards")
        return str(lease["spec"]["holderIdentity"]) if lease else ""

    def names(self, exporter: FakeExporter, since: int = 0) -> list[str]:
        """Name the agents that asked an exporter."""
        return [one.headers["x-agent"] for one in exporter.requests[since:]]


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    """Give exporters."""
    with agents.place(tmp_path) as place, contextlib.ExitStack() as stack:
        body = b"# TYPE util gauge\nutil 1\n"
        world = World(place, [])
        while len(world.exporters) < TARGETS or not world.all_have_some():
            world.exporters.append(stack.enter_context(FakeExporter(body)))
        yield world


def part(name: str, count: int) -> dict[str, int]:
    """Say which agent it is, of so many."""
    return {"count": count, "index": NAMES.index(name)}


def together(name: str, count: int) -> dict[str, object]:
    """Say which agent it is, of as many as the lease says."""
    return {**part(name, count), "lease": LEASE}


def page(agent: Agent, path: str) -> str:
    """Read what an agent serves."""
    address = agent.says("listening")["address"]
    with urlopen(f"http://{address}{path}") as answer:
        return str(answer.read().decode())


def slots(exporter: FakeExporter, since: int) -> list[int]:
    """Count the intervals from each request to the next, whoever asked."""
    times = [one.at_s for one in exporter.requests[since:]]
    return [round((then - now) / INTERVAL_S) for now, then in itertools.pairwise(times)]


def test_a_rescale_gives_every_target_one_new_owner(world: World) -> None:
    """Of two agents become three; for one interval at most a target is asked by two of them."""
    place, job = world.place, world.job()
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


@pytest.mark.parametrize(("former", "count"), [(2, 3), (3, 2)], ids=["more", "fewer"])
def test_shards_switch_together(world: World, former: int, count: int) -> None:
    """However long a new count takes to reach each of them; shard 0, which is last, decides.

    From one interval after that on nobody asks a target that another has, and between any two
    requests are two intervals at most.
    """
    three = [world.start(name, former) for name in NAMES]
    for agent in three:
        agent.says("shards_changed")
    # The first time each is asked at once, whatever its offset, and then at that.
    world.asked(2)
    steady = [count - 1 for count in world.counts()]
    for agent in reversed(three[1:]):
        world.reload(agent, count)
    world.asked(1)
    assert world.owners() == [{name} for name in world.owned(former)]
    assert world.holder() == f"{former} shards"
    switched = world.counts()
    world.reload(three[0], count)
    for agent in three:
        assert agent.says("shards_changed", 2)["count"] == count
    assert world.holder() == f"{count} shards"
    world.asked(3)
    owned = zip(world.owned(former), world.owned(count), strict=True)
    for number, (old, new) in enumerate(owned):
        exporter = world.exporters[number]
        names = world.names(exporter, switched[number])
        assert set(names) <= {old, new}
        assert old == new or names[names.index(new) :].count(old) <= 1
        gaps = slots(exporter, steady[number])
        assert max(gaps) <= 2
        assert gaps.count(0) <= 1
    assert page(three[2], "/readyz") == "ready\n"
    (told,) = json.loads(page(three[2], "/api/targets"))["jobs"]
    reasons = {group["reason"] for group in told["groups"]}
    assert reasons == {
        f"another shard's: it is of shard {NAMES.index(owner)} of {count}, and this is 2"
        for owner in world.owned(count)
        if owner != NAMES[2]
    }
    assert told["active"] == world.owned(count).count(NAMES[2])
    assert f"\ncwgpu_shards {count}.0" in page(three[2], "/metrics")
    assert [agent.end() for agent in three] == [0, 0, 0]


def test_without_an_api_server_nothing_changes(world: World) -> None:
    """Shards go on by the count that they know; one that starts meanwhile knows none and waits."""
    two = [world.start(name, 2) for name in NAMES[:2]]
    for agent in two:
        agent.says("shards_changed")
    world.place.api.chaos.outage()
    third = world.start(NAMES[2], 3)
    third.says("lease_failed")
    for agent in reversed(two):
        world.reload(agent, 3)
    with pytest.raises(OSError, match="503"):
        page(third, "/readyz")
    world.asked(2)
    assert world.owners() == [{name} for name in world.owned(2)]
    world.place.api.chaos.heal()
    for agent in (*two, third):
        agent.says("shards_changed", 1 if agent is third else 2)
    world.asked(2)
    switched = world.counts()
    world.asked(1)
    assert world.owners(switched) == [{name} for name in world.owned(3)]
    assert [agent.end() for agent in (*two, third)] == [0, 0, 0]


def test_a_lease_that_is_deleted_changes_nothing(world: World) -> None:
    """Shard 0 stands still, so that the other sees it; then it makes the lease anew."""
    zero, one = (world.start(name, 2) for name in NAMES[:2])
    for agent in (zero, one):
        agent.says("shards_changed")
    zero.tell(signal.SIGSTOP)
    world.place.api.delete("leases", "lab", "shards")
    assert one.says("lease_failed")["reason"].startswith("there is no such lease")
    mine = world.owned(2).index(NAMES[1])
    before = world.counts()[mine]
    agents.eventually(lambda: world.counts()[mine] >= before + 2, "scrapes without a lease")
    zero.tell(signal.SIGCONT)
    agents.eventually(lambda: world.holder() == "2 shards", "another lease")
    world.asked(1)
    assert world.owners() == [{name} for name in world.owned(2)]
    for agent in (zero, one):
        assert len(agent.said("shards_changed")) == 1
    assert zero.end() == one.end() == 0
