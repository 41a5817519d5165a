"""How many shards there are, by a lease that shard 0 writes and every shard reads.

The configuration reaches agents one after the other, and each that believed its own would share
the targets with others in a way of its own. So the count in force is what the lease says, to all
of them at nearly the same time. It says so as its holder, for people who look: ``4 shards``.

Shard 0 is there in every count, and of a StatefulSet it is updated last: when it is told of a new
count, the others are there. What the lease says counts until it says something else, whether it
can be read or not: nobody can change it for one agent alone.
"""

import re
from dataclasses import dataclass, replace

from cwgpu.pace.election import Record, Write

WRITER = 0
"""The only shard that writes the lease."""
LASTS_S = 365 * 86_400.0
"""What the lease gives as its duration. Nobody waits for its end; a year says so to people."""

# No whole number of a configuration has more digits; a text of any length is no number.
_HOLDER = re.compile(r"([1-9][0-9]{0,18}) shards?")


def holder(count: int) -> str:
    """Write a count as the holder of the lease."""
    return f"{count} shard" if count == 1 else f"{count} shards"


def count(written: str) -> int | None:
    """Read it; None when it is something else."""
    found = _HOLDER.fullmatch(written)
    return int(found[1]) if found else None


@dataclass(frozen=True, slots=True)
class Division:
    """What one shard knows. A value: each step gives the next."""

    index: int
    configured: int
    """The count that our configuration has."""
    in_force: int | None = None
    """The count that we work by; None: not known yet."""

    def observe(self, record: Record | None) -> "tuple[Division, Write | None]":
        """Take in the lease as it is now (None: there is none) and say what to write, if we are to.

        A lease that is not there or makes no sense changes nothing.
        """
        said = None if record is None else count(record.holder)
        now = self if said is None else replace(self, in_force=said)
        if self.index != WRITER or said == self.configured:
            return now, None
        if record is None:
            return now, Write(None, 0, takes_over=True)
        return now, Write(record.version, record.transitions + 1, takes_over=True)

    def written(self, record: Record) -> "Division":
        """Take in that our write was accepted."""
        return replace(self, in_force=count(record.holder))
