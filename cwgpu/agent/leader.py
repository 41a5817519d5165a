"""Whether this agent is the one of several that scrapes: the rules of ``pace.election``, lived.

Whoever wants to scrape asks ``leads`` right before: a process that was stopped, or a machine that
slept, does not know it until it asks a clock. An answer that does not come, or says no, is a lease
that was not renewed, whatever the reason; with no lease nothing is scraped.
"""

import asyncio
from collections.abc import Callable

from cwgpu.agent.clock import Clock
from cwgpu.agent.observe import Observer
from cwgpu.agent.ports import Leases
from cwgpu.kube import failure
from cwgpu.kube.failure import Failure
from cwgpu.pace.election import Election, Record, Terms, Write
from cwgpu.plan.kubernetes import Lease

# Agents that were started together shall not ask together: rounds come up to this part earlier.
_SPREAD = 0.2
# What one question may take of the time in which the lease has to be renewed: a second one must
# have its turn. Kubernetes' own schedulers have the same.
_PART = 0.5
# At the end there are seconds, and what was scraped has yet to be delivered.
_RELEASE_S = 1.0
# The first try may meet a renewal that was under way.
_RELEASES = 2


class Alone:
    """In place of a leader where nobody else is: it always leads."""

    unready = ""

    def leads(self) -> bool:
        """Tell that we may scrape."""
        return True

    async def run(self, _: Callable[[bool], None]) -> None:
        """Contend with nobody, for ever."""
        await asyncio.Event().wait()

    async def release(self) -> None:
        """Give nothing back."""


class Leader:
    """One agent's part in an election."""

    def __init__(
        self,
        leases: Leases,
        lease: Lease,
        me: str,
        *,
        clock: Clock,
        random: Callable[[], float],
        observer: Observer,
    ) -> None:
        """Begin as one who does not lead. ``me`` is nobody else's, now or earlier."""
        self._leases = leases
        self._lease = lease
        self._clock = clock
        self._random = random
        self._observer = observer
        self._election = Election(me, Terms(lease.duration_s, lease.renew_s))
        self._known: Record | None = None
        """The lease as we wrote it last, which need not be read before it is renewed."""
        self._trouble = f"lease {lease.name} has not been read yet"
        self._began = asyncio.Event()
        self._led = False
        """What was told last."""
        self._holder: str | None = None
        """Whom we stand by, as was told last."""
        self._changed: Callable[[bool], None] = lambda _: None
        observer.contends(self.leads)

    def leads(self) -> bool:
        """Tell whether we may scrape, at this moment."""
        return self._election.leads(self._clock.boottime())

    @property
    def unready(self) -> str:
        """Why we can neither lead nor stand by; empty when we can."""
        return "" if self.leads() else self._trouble

    async def run(self, changed: Callable[[bool], None]) -> None:
        """Contend for ever.

        ``changed`` is called when we begin to lead and when we do no more. It is told whether
        others may have led since we did.
        """
        self._changed = changed
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._mind())
            while True:
                await self._clock.sleep(await self._round())

    async def release(self) -> None:
        """Give the lease back if it is ours, so that nobody waits until it ends.

        For when ``run`` has ended and nothing is scraped any more.
        """
        self._election = self._election.lost()
        self._tell("this agent ends")
        for _ in range(_RELEASES):
            found = await self._leases.read(_RELEASE_S)
            if isinstance(found, Record):
                if found.holder != self._election.me:
                    return
                found = await self._leases.release(found, _RELEASE_S)
            if not isinstance(found, Failure):
                return
            if found.status != failure.CONFLICT:
                self._fail(found)
                return

    async def _mind(self) -> None:
        """Tell of the end when it comes, whatever an answer is waited for."""
        while True:
            ends_s = self._election.ends_s
            if ends_s is None or not self._led:
                self._began.clear()
                await self._began.wait()
                continue
            await self._clock.sleep(max(0.0, ends_s - self._clock.boottime()))
            self._tell()

    async def _round(self) -> float:
        """Renew the lease, take it or look at it; gives the seconds to the next time."""
        found: Record | Failure | None
        found, self._known = self._known, None
        if found is None:
            found = await self._leases.read(self._limit_s)
        if isinstance(found, Failure):
            return self._fail(found)
        self._election, decided = self._election.observe(found, self._clock.boottime())
        holder = found.holder if found is not None else ""
        self._tell(f"{holder or 'nobody'} has the lease now")
        if isinstance(decided, Write):
            return await self._write(decided)
        self._trouble = ""
        self._stand_by(decided.holder)
        # At its end it is taken, and not up to one round later.
        left_s = decided.ends_s - self._clock.boottime()
        return min(self._pause_s(), max(0.0, left_s))

    async def _write(self, write: Write) -> float:
        sent_s = self._clock.boottime()
        me, duration_s = self._election.me, self._lease.duration_s
        answer = await self._leases.write(write, me, duration_s, self._limit_s)
        if isinstance(answer, Failure):
            late = answer.status == failure.CONFLICT
            gone = answer.status == failure.NOT_FOUND and write.version is not None
            # The next round will find out who was faster.
            return self._pause_s() if late or gone else self._fail(answer)
        self._election = self._election.written(answer, sent_s)
        self._known = answer
        self._trouble = ""
        self._tell(anew=write.takes_over)
        return self._pause_s()

    def _pause_s(self) -> float:
        return self._lease.retry_s * (1 - _SPREAD * self._random())

    @property
    def _limit_s(self) -> float:
        return self._lease.renew_s * _PART

    def _fail(self, failed: Failure) -> float:
        self._trouble = failed.sentence
        self._observer.lease_failed(self._lease.name, failed.sentence)
        return max(self._pause_s(), min(failed.retry_after_s, self._limit_s))

    def _stand_by(self, holder: str) -> None:
        if holder != self._holder:
            self._holder = holder
            self._observer.stands_by(self._lease.name, holder)

    def _tell(self, why: str = "", *, anew: bool = False) -> None:
        """Tell that we began or ended to lead, if we did."""
        leads = self.leads()
        if leads == self._led:
            return
        self._led = leads
        if leads:
            self._holder = None
            self._began.set()
            self._observer.lead_began(self._lease.name, self._election.me)
        else:
            self._observer.lead_ended(why if self._election.ends_s is None else self._expired())
        self._changed(anew)

    def _expired(self) -> str:
        because = self._trouble or "the process or the machine stood still"
        return f"the lease was not renewed for {self._lease.renew_s:g} s: {because}"
