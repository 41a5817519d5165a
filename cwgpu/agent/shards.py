"""By how many shards the targets are divided: the rules of ``pace.rescale``, lived.

The count that is in force stays in force when the lease cannot be read: whoever changes it needs
the same API server, so that as a rule nobody else hears of another one meanwhile.
"""

import asyncio
from collections.abc import Callable
from dataclasses import replace

from cwgpu.agent.clock import Clock
from cwgpu.agent.observe import Observer
from cwgpu.agent.ports import Leases
from cwgpu.kube import failure
from cwgpu.kube.failure import Failure
from cwgpu.pace import rescale
from cwgpu.pace.election import Record, Write
from cwgpu.pace.rescale import Division
from cwgpu.plan.kubernetes import Shard, ShardLease
from cwgpu.plan.plan import Plan

# For so long some shards may have a new count and others the old one: well below any interval that
# targets are scraped at. A look is one small GET, and shards are few.
_LOOK_S = 2.0
# Agents that were started together shall not ask together: looks come up to this part earlier.
_SPREAD = 0.2
# The API server answers such a question in milliseconds; an answer this late is none.
_LIMIT_S = 5.0
# Of a holder that is none, so much is enough to be known again.
_SHOWN = 60


class Settled:
    """In place of shards where the configuration says it all."""

    unready = ""

    def follow(self, plan: Plan) -> Plan:
        """Give the plan as it is."""
        return plan

    async def run(self, _: Callable[[Shard], None]) -> None:
        """Ask nobody, for ever."""
        await asyncio.Event().wait()


class Shards:
    """One shard's part in keeping the count, and its part of the targets."""

    def __init__(
        self,
        leases: Leases,
        shard: Shard,
        lease: ShardLease,
        *,
        clock: Clock,
        random: Callable[[], float],
        observer: Observer,
    ) -> None:
        """Begin as one who does not know the count; ``shard`` is what is configured."""
        self._leases = leases
        self._lease = lease
        self._clock = clock
        self._random = random
        self._observer = observer
        self._division = Division(shard.index, shard.count)
        self._trouble = f"lease {lease.name} has not been read yet"
        self._told: Shard | None = None

    @property
    def part(self) -> Shard:
        """Which part of the targets is ours now."""
        division = self._division
        return Shard(division.in_force or 0, division.index, self._lease)

    @property
    def unready(self) -> str:
        """Why our part is not known; empty when it is, or when only shard 0 is waited for."""
        return "" if self._division.in_force else self._trouble

    def follow(self, plan: Plan) -> Plan:
        """Take in what is configured now; gives the plan with the part that is in force.

        A plan without our lease has to wait for a restart.
        """
        shard = plan.shard
        if shard is not None and shard.lease == self._lease:
            division = self._division
            self._division = replace(division, index=shard.index, configured=shard.count)
        return replace(plan, shard=self.part)

    async def run(self, changed: Callable[[Shard], None]) -> None:
        """Keep the count for ever; ``changed`` is told of our part when it is another."""
        while True:
            pause_s = await self._look()
            self._tell(changed)
            await self._clock.sleep(pause_s)

    async def _look(self) -> float:
        """Read the lease, or write it if we are to; gives the seconds to the next time."""
        found = await self._leases.read(_LIMIT_S)
        if isinstance(found, Failure):
            return self._fail(found)
        self._division, decided = self._division.observe(found)
        fault = self._fault(found)
        if fault:
            self._observer.lease_failed(self._lease.name, fault)
        if decided is not None:
            return await self._write(decided)
        self._trouble = ""
        return self._pause_s()

    async def _write(self, write: Write) -> float:
        configured = rescale.holder(self._division.configured)
        answer = await self._leases.write(write, configured, rescale.LASTS_S, _LIMIT_S)
        if isinstance(answer, Record):
            self._division = self._division.written(answer)
            self._trouble = ""
            return self._pause_s()
        late = answer.status == failure.CONFLICT
        gone = answer.status == failure.NOT_FOUND and write.version is not None
        # The next look will find out what is there now.
        return self._pause_s() if late or gone else self._fail(answer)

    def _fault(self, found: Record | None) -> str:
        """Say what is wrong with the lease that was read."""
        if found is not None and rescale.count(found.holder) is None:
            holder = found.holder[:_SHOWN]
            return f"holder {holder!r} is no number of shards; shard 0 writes it anew"
        if found is None and self._division.index != rescale.WRITER:
            return "there is no such lease; shard 0 makes it when it begins"
        return ""

    def _pause_s(self) -> float:
        return _LOOK_S * (1 - _SPREAD * self._random())

    def _fail(self, failed: Failure) -> float:
        self._trouble = failed.sentence
        self._observer.lease_failed(self._lease.name, failed.sentence)
        return max(self._pause_s(), min(failed.retry_after_s, _LIMIT_S))

    def _tell(self, changed: Callable[[Shard], None]) -> None:
        """Tell of our part if it is another than before."""
        part = self.part
        if part == self._told or not part.count:
            return
        self._told = part
        self._observer.shards_changed(part.count, part.index)
        changed(part)
