"""A changed configuration is taken up without a restart; a broken one leaves the last good one."""

import asyncio
import contextlib
import glob
import hashlib
from collections.abc import Callable
from pathlib import Path

from cwgpu.agent import aside, pause
from cwgpu.agent.clock import Clock
from cwgpu.agent.observe import Observer
from cwgpu.model.errors import ConfigurationError
from cwgpu.plan.kubernetes import ShardLease
from cwgpu.plan.plan import Plan

# Kubernetes brings a changed ConfigMap into the pod within about a minute; looking more often
# than this would not make it faster for a person.
_LOOK_S = 5.0
_MOST_S = 60.0
"""For the files to be read: more than a hundred of them take."""


class Reload:
    """Looks at the files of the plan that is at work."""

    def __init__(
        self,
        plan: Plan,
        load: Callable[[], Plan],
        follow: Callable[[Plan], None],
        *,
        observer: Observer,
        clock: Clock,
    ) -> None:
        """``load`` reads everything again; ``follow`` takes up what it gives."""
        self._plan = plan
        self._load = load
        self._follow = follow
        self._observer = observer
        self._clock = clock
        self._seen = _fingerprint(plan.files)
        self.asked = asyncio.Event()
        """Set it to have the files read at once, changed or not."""

    async def run(self) -> None:
        """Watch for ever. Contents are compared, so a ConfigMap's swapped links are seen too."""
        while True:
            await pause.until(self.asked, self._clock.sleep(_LOOK_S))
            asked = self.asked.is_set()
            self.asked.clear()
            seen = await aside.run(lambda: _fingerprint(self._plan.files))
            if asked or seen != self._seen:
                self._seen = seen
                await self._reload()

    async def _reload(self) -> None:
        try:
            plan = await self._read()
        except ConfigurationError as error:
            self._observer.reloaded(str(error))
            return
        except Exception as error:  # noqa: BLE001 - ours, and what is at work is as good as before
            self._observer.reload_broke(error)
            return
        if plan.cloudwatch.access != self._plan.cloudwatch.access:
            self._observer.warned("region, role_arn and endpoint_override change at a restart")
        for name, old, new in (
            ("cwgpu.ha.lease", self._plan.lease, plan.lease),
            ("cwgpu.shard.lease", _shard_lease(self._plan), _shard_lease(plan)),
            ("cwgpu.spool", self._plan.spool, plan.spool),
        ):
            if new != old:
                self._observer.warned(f"{name} changes at a restart")
        self._plan = plan
        # What changed while it was read has been seen in its old form, and is read once more.
        now = await aside.run(lambda: _fingerprint(plan.files))
        self._seen = {name: self._seen.get(name, digest) for name, digest in now.items()}
        self._follow(plan)
        self._observer.reloaded()

    async def _read(self) -> Plan:
        """Read everything. Raises ConfigurationError, also where that takes too long."""
        reading = asyncio.ensure_future(aside.run(self._load))
        over = asyncio.ensure_future(self._clock.sleep(_MOST_S))
        try:
            await asyncio.wait((reading, over), return_when=asyncio.FIRST_COMPLETED)
            if reading.done():
                return reading.result()
        finally:
            reading.cancel()
            over.cancel()
        raise ConfigurationError(
            f"the configuration could not be read in {_MOST_S:g} seconds: one of its files is a "
            "pipe that nobody writes to, or on a file system that does not answer"
        )


def _shard_lease(plan: Plan) -> ShardLease | None:
    return None if plan.shard is None else plan.shard.lease


def _fingerprint(files: tuple[str, ...]) -> dict[str, bytes]:
    return {name: _digest(Path(name)) for name in files}


def _digest(path: Path) -> bytes:
    """Digest a file's content; of a pattern, the names that it finds.

    A pipe's is never looked at: who opens one waits for somebody who writes to it.
    """
    with contextlib.suppress(OSError):
        if path.is_file():
            return hashlib.sha256(path.read_bytes()).digest()
    names = sorted(glob.glob(str(path), include_hidden=True)) if "*" in path.name else ()  # noqa: PTH207 - absolute
    return hashlib.sha256("\0".join(names).encode(errors="surrogateescape")).digest()
