"""Two agents and one lease, as processes: killed, stopped, cut off, with clocks two hours apart."""

import signal
from collections.abc import Iterator
from pathlib import Path
from urllib.request import urlopen

import pytest

from tests.ha import agents
from tests.ha.agents import Agent, Job, Place

HA = {"lease": agents.LEASE}
# Looks that fit into the lease's duration, the one at its end, and one that had begun before.
MOST_LOOKS = agents.DURATION_S / (agents.RETRY_S * agents.LEAST_PART) + 2


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    """Give what agents need."""
    with agents.place(tmp_path) as place:
        yield place


def two(place: Place, targets: int = 1, interval: str = "200ms") -> tuple[Agent, Agent]:
    """Start one that leads and one that stands by, and see the first scrapes."""
    job = Job([place.exporter.address] * targets, interval)
    a = place.start("a", job, ha=HA)
    a.says("leader_began")
    b = place.start("b", job, ha=HA)
    b.says("standby")
    place.scraped("a", 3 * targets)
    return a, b


def page(agent: Agent, path: str) -> str:
    """Read what an agent serves."""
    address = agent.says("listening")["address"]
    with urlopen(f"http://{address}{path}") as answer:
        return str(answer.read().decode())


def test_a_leader_that_ends_hands_over(place: Place) -> None:
    """The other takes over at its next look; nothing that was scraped is lost or sent twice."""
    a, b = two(place, interval="500ms")
    assert page(b, "/readyz") == page(a, "/readyz") == "ready\n"
    assert "\ncwgpu_leader 1.0" in page(a, "/metrics")
    assert "\ncwgpu_leader 0.0" in page(b, "/metrics")
    assert a.end() == 0
    released = max(number for number, one in enumerate(place.api.requests) if one.user == "a")
    b.says("leader_began")
    assert place.looks("b", released) <= 2
    place.scraped("b", 3)
    # Who is to scrape but once waits for its turn, too.
    c = place.start("c", Job([place.exporter.address]), "--once", ha=HA)
    assert "b_" in c.says("standby")["holder"]
    assert b.end() == 0
    assert c.process.wait(agents.AMPLE_S) == 0
    assert place.holder() == ""
    assert place.order() == "abc"
    assert len(place.scrapes("c")) == 1
    delivered = place.delivered()
    assert len(delivered) == len(set(delivered))
    for name in "abc":
        # The last one may have been under way.
        assert len(place.pages(name) - set(delivered)) <= 1
    counted = [one for one in place.cloudwatch.datapoints if one.name == "energy"]
    assert {one.value for one in counted} == {1.0}


def test_a_leader_that_is_killed_is_followed(place: Place) -> None:
    """After the lease's duration and no later than one look after that."""
    a, b = two(place)
    a.tell(signal.SIGKILL)
    a.process.wait()
    killed = max(number for number, one in enumerate(place.api.requests) if one.user == "a")
    b.says("leader_began")
    assert 1 < place.looks("b", killed) <= MOST_LOOKS
    place.scraped("b", 3)
    assert place.order() == "ab"
    assert b.end() == 0


def test_a_leader_that_stood_still_sends_nothing_more(place: Place) -> None:
    """It had twenty targets to scrape five times a second, and knows nothing of the other."""
    a, b = two(place, targets=20)
    failed = len(a.said("scrape_failed"))
    a.tell(signal.SIGSTOP)
    b.says("leader_began")
    place.scraped("b", 40)
    a.tell(signal.SIGCONT)
    assert b.name in a.says("standby")["holder"]
    place.scraped("b", 40)
    assert place.order() == "ab"
    assert len(a.said("leader_ended")) == 1
    assert len(a.said("scrape_failed")) == failed
    assert "\ncwgpu_leader 0.0" in page(a, "/metrics")
    # And back again.
    assert b.end() == 0
    a.says("leader_began", 2)
    place.scraped("a", 20)
    assert place.order() == "aba"


def test_without_an_api_server_nobody_scrapes(place: Place) -> None:
    """The leader cannot know whether it is followed. When the server is back there is one again."""
    a, b = two(place)
    place.api.chaos.outage()
    assert "not renewed for 3 s" in a.says("leader_ended")["reason"]
    place.asked(4)  # a scrape that was sent just before has arrived by now
    ended = len(place.scrapes())
    # By both, for longer than the lease lasts.
    place.asked(round(2 * MOST_LOOKS))
    assert len(place.scrapes()) == ended
    place.api.chaos.heal()
    agents.eventually(lambda: len(place.scrapes()) > ended + 3, "scrapes after the outage")
    assert place.order() in {"a", "ab"}
    assert b.end() == a.end() == 0


def test_a_leader_that_is_cut_off_ends_before_another_begins(place: Place) -> None:
    """Only one of them may not write any more; the reason names the rule that it lacks."""
    a, b = two(place)
    place.api.revoke("a")
    reason = a.says("leader_ended")["reason"]
    assert "resources: [leases]" in reason
    b.says("leader_began")
    place.scraped("b", 5)
    assert place.order() == "ab"
    with pytest.raises(OSError, match="503"):
        page(a, "/readyz")
    assert a.process.poll() is None
    place.api.grant("a", agents.VERBS, "lab")
    a.says("standby")
    assert page(a, "/readyz") == "ready\n"
