"""One of several agents leads, by a lease that all of them see and only one can hold.

The rules are those of Kubernetes' own controllers
(https://pkg.go.dev/k8s.io/client-go/tools/leaderelection): nobody reads another's clock. A lease is
abandoned when *we* have seen it unchanged for its duration, by a clock of ours that only goes
forward. A leader gives up earlier than that, when it could not renew: so the next one never begins
before the last one has ended, as long as the two clocks run at nearly the same speed.

A lease that somebody deleted tells nothing of who leads, so it is waited for like one that nobody
renews. Only who has never seen it makes it at once: the first agent of a cluster should not wait.
"""

from dataclasses import dataclass, replace

LONGEST_S = 3600.0
"""No agent has a longer lease. One that says so was written by somebody else, or by hand, and must
not keep everybody waiting for years."""


@dataclass(frozen=True, slots=True)
class Terms:
    """How long things last; all agents of one lease have the same."""

    duration_s: float
    """Nobody takes over before the lease was left alone for this long."""
    renew_s: float
    """Who could not renew for this long leads no more; less than the duration."""


@dataclass(frozen=True, slots=True)
class Record:
    """What a lease says."""

    holder: str
    """Empty when it was given back."""
    duration_s: float
    """The holder's terms, which count for those who wait."""
    version: str
    """Changes with every write; empty: the lease was deleted."""
    transitions: int = 0


@dataclass(frozen=True, slots=True)
class Write:
    """Write the lease with ourselves as its holder, if it is still as it was read."""

    version: str | None
    """Of the lease that this replaces; None creates it."""
    transitions: int
    takes_over: bool
    """False for a renewal."""


@dataclass(frozen=True, slots=True)
class Wait:
    """Somebody else leads."""

    holder: str
    """Of a lease that was given back and then deleted, nobody."""
    ends_s: float
    """When the lease is abandoned, by our clock, unless it changes before."""


@dataclass(frozen=True, slots=True)
class Election:
    """What one agent knows. A value: each step gives the next."""

    me: str
    """Ours alone, also among processes of one pod's name."""
    terms: Terms
    seen: Record | None = None
    seen_at_s: float = 0.0
    """When the lease was first seen as it is, by our clock."""
    renewed_at_s: float | None = None
    """When the write that made or kept us leader was *sent*; None when we do not lead."""

    @property
    def ends_s(self) -> float | None:
        """When we lead no more, unless we renew before; None when we do not lead."""
        return None if self.renewed_at_s is None else self.renewed_at_s + self.terms.renew_s

    def leads(self, now_s: float) -> bool:
        """Tell whether we may work now. To be asked before every piece of work."""
        return self.ends_s is not None and now_s < self.ends_s

    def observe(self, record: Record | None, now_s: float) -> "tuple[Election, Write | Wait]":
        """Take in the lease as it is now (None: there is none) and say what to do."""
        if record is None:
            if self.seen is None:
                return self, Write(None, 0, takes_over=True)
            record = replace(self.seen, version="")
        now = self if record == self.seen else replace(self, seen=record, seen_at_s=now_s)
        version = record.version or None
        if record.holder == self.me and (version or self.leads(now_s)):
            return now, Write(version, record.transitions, takes_over=False)
        waits_s = max(min(record.duration_s, LONGEST_S), self.terms.duration_s)
        ends_s = now.seen_at_s + waits_s
        if (record.holder or not version) and now_s < ends_s:
            return now.lost(), Wait(record.holder, ends_s)
        return now.lost(), Write(version, record.transitions + 1, takes_over=True)

    def written(self, record: Record, sent_s: float) -> "Election":
        """Take in that our write was accepted."""
        return replace(self, seen=record, seen_at_s=sent_s, renewed_at_s=sent_s)

    def lost(self) -> "Election":
        """Lead no more; what was seen of the lease stays known."""
        return replace(self, renewed_at_s=None)
