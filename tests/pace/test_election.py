"""Never two leaders, whatever happens to messages, clocks and processes."""

from dataclasses import dataclass, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cwgpu.pace.election import Election, Record, Terms, Wait, Write

TERMS = Terms(duration_s=15, renew_s=10)


def _record(holder: str, version: str = "1", transitions: int = 0) -> Record:
    return Record(holder, TERMS.duration_s, version, transitions)


def test_a_lease_that_is_not_there_is_created() -> None:
    """The first agent of a cluster leads at once."""
    election, decided = Election("a", TERMS).observe(None, 100)
    assert decided == Write(None, 0, takes_over=True)
    assert not election.leads(100)
    assert election.written(_record("a"), 100).leads(100)


def test_a_leader_renews_and_keeps_the_count_of_changes() -> None:
    """A renewal is no change of leader."""
    election = Election("a", TERMS).written(_record("a", "7", 3), 100)
    _, decided = election.observe(_record("a", "7", 3), 102)
    assert decided == Write("7", 3, takes_over=False)


@pytest.mark.parametrize(("now_s", "leads"), [(100, True), (109.9, True), (110, False)])
def test_who_could_not_renew_leads_no_more(now_s: float, leads: bool) -> None:  # noqa: FBT001 - a column of the table
    """The renewal counts from when it was sent, and not from its answer."""
    assert Election("a", TERMS).written(_record("a"), 100).leads(now_s) is leads


@pytest.mark.parametrize(("now_s", "takes"), [(214.9, False), (215, True)], ids=["within", "after"])
def test_a_lease_is_abandoned_when_it_was_seen_unchanged_for_its_duration(
    now_s: float,
    takes: bool,  # noqa: FBT001 - a column of the table
) -> None:
    """How old it was when it was first seen does not count: clocks are not compared."""
    election, decided = Election("b", TERMS).observe(_record("a"), 200)
    assert decided == Wait("a", 215)
    _, decided = election.observe(_record("a"), now_s)
    assert decided == (Write("1", 1, takes_over=True) if takes else Wait("a", 215))


def test_every_change_of_the_lease_begins_the_wait_anew() -> None:
    """A leader that renews is not abandoned."""
    election, _ = Election("b", TERMS).observe(_record("a", "1"), 200)
    election, _ = election.observe(_record("a", "2"), 214)
    _, decided = election.observe(_record("a", "2"), 228)
    assert decided == Wait("a", 229)


def test_the_longer_of_two_durations_counts() -> None:
    """While terms are being changed, agents of the old and the new ones meet."""
    election, _ = Election("b", TERMS).observe(replace(_record("a"), duration_s=60), 200)
    _, decided = election.observe(replace(_record("a"), duration_s=60), 259)
    assert decided == Wait("a", 260)


@pytest.mark.parametrize(
    ("written_s", "counts_s"), [(-5.0, 15), (0.0, 15), (3600.0, 3600), (2.0**31, 3600)]
)
def test_no_lease_is_waited_for_longer_than_an_hour(written_s: float, counts_s: float) -> None:
    """Whatever a stranger's hand has written into it, and also when it is deleted then."""
    stranger = Record("x", written_s, "1")
    election, decided = Election("b", TERMS).observe(stranger, 200)
    assert decided == Wait("x", 200 + counts_s)
    _, decided = election.observe(None, 210)
    assert decided == Wait("x", 210 + counts_s)


def test_a_lease_that_was_given_back_is_taken_at_once() -> None:
    """A rolling update has no gap."""
    _, decided = Election("b", TERMS).observe(_record(""), 200)
    assert decided == Write("1", 1, takes_over=True)


def test_a_leader_that_sees_another_holder_leads_no_more() -> None:
    """It does not wait for its own deadline."""
    election = Election("a", TERMS).written(_record("a"), 100)
    election, decided = election.observe(_record("b", "2"), 101)
    assert decided == Wait("b", 116)
    assert not election.leads(101)


def test_a_leader_that_sees_its_lease_given_away_leads_no_more() -> None:
    """Whoever takes it next does so at once."""
    election = Election("a", TERMS).written(_record("a"), 100)
    election, decided = election.observe(_record("", "2"), 101)
    assert decided == Write("2", 1, takes_over=True)
    assert not election.leads(101)


def test_a_leader_makes_a_deleted_lease_anew() -> None:
    """It goes on leading: those who wait do not know yet that it is gone, or wait."""
    election = Election("a", TERMS).written(_record("a", "1", 3), 100)
    election, decided = election.observe(None, 102)
    assert decided == Write(None, 3, takes_over=False)
    assert election.leads(102)


@pytest.mark.parametrize("holder", ["a", "b", ""])
def test_a_deleted_lease_is_waited_for(holder: str) -> None:
    """Its holder, ourselves of old or somebody whom we never saw may not have heard of it yet."""
    election, _ = Election("b", TERMS).observe(_record("a"), 200)
    election, _ = election.observe(_record(holder, "2", 3), 205)
    election, decided = election.lost().observe(None, 300)
    assert decided == Wait(holder, 315)
    assert election.observe(None, 314.9)[1] == Wait(holder, 315)
    assert election.observe(None, 315)[1] == Write(None, 4, takes_over=True)


def test_lost_is_lost_until_it_is_won_again() -> None:
    """What was seen of the lease is still known."""
    election = Election("a", TERMS).written(_record("a"), 100).lost()
    assert not election.leads(100)
    assert election.ends_s is None
    assert election.seen == _record("a")


def test_the_end_is_known() -> None:
    """Who works has to stop by then."""
    assert Election("a", TERMS).written(_record("a"), 100).ends_s == 110


@dataclass
class _Agent:
    """One agent, its clock, and how far it is with its present round."""

    election: Election
    offset_s: float
    rate: float
    read: Record | str | None = ""
    sent: tuple[Write, float] | None = None
    accepted: tuple[Record, float] | None = None

    def now_s(self, true_s: float) -> float:
        return self.offset_s + true_s * self.rate


@dataclass
class _Server:
    """The lease, with the API server's rule: a write of an old version is refused."""

    record: Record | None = None
    writes: int = 0

    def write(self, write: Write, me: str) -> Record | None:
        version = None if self.record is None else self.record.version
        if write.version != version:
            return None
        self.writes += 1
        self.record = Record(me, TERMS.duration_s, str(self.writes), write.transitions)
        return self.record


def _step(agent: _Agent, server: _Server, true_s: float, *, fails: bool) -> None:
    """Go one message further; ``fails`` loses it."""
    if agent.accepted is not None:
        if not fails:
            agent.election = agent.election.written(*agent.accepted)
        agent.accepted = None
    elif agent.sent is not None:
        write, sent_s = agent.sent
        agent.sent = None
        record = None if fails else server.write(write, agent.election.me)
        agent.accepted = (record, sent_s) if record else None
    elif agent.read != "":
        assert not isinstance(agent.read, str)
        now_s = agent.now_s(true_s)
        agent.election, decided = agent.election.observe(agent.read, now_s)
        agent.sent = (decided, now_s) if isinstance(decided, Write) else None
        agent.read = ""
    elif not fails:
        agent.read = server.record


@settings(max_examples=300)
@given(
    clocks=st.lists(st.tuples(st.floats(-1e6, 1e6), st.floats(0.9, 1.1)), min_size=2, max_size=4),
    steps=st.lists(
        st.tuples(st.integers(0, 3), st.sampled_from([0, 0, 0.1, 1, 4, 9, 16]), st.booleans()),
        max_size=120,
    ),
    deleted=st.none() | st.integers(0, 100),
)
def test_there_are_never_two_leaders(
    clocks: list[tuple[float, float]],
    steps: list[tuple[int, float, bool]],
    deleted: int | None,
) -> None:
    """Messages are lost, processes stand still, clocks run 10 % apart, the lease is deleted."""
    # Who never saw a lease may make one at once. Where it can be deleted, all have seen it.
    record = None if deleted is None else _record("", "0")
    server = _Server(record)
    agents = [
        _Agent(Election(str(index), TERMS, record), offset, rate)
        for index, (offset, rate) in enumerate(clocks)
    ]
    true_s = 0.0
    for number, (index, pause_s, fails) in enumerate(steps):
        true_s += pause_s
        if number == deleted:
            server.record = None
        _step(agents[index % len(agents)], server, true_s, fails=fails)
        leaders = [each for each in agents if each.election.leads(each.now_s(true_s))]
        assert len(leaders) <= 1
