"""Where the lease lies in these tests, and each agent's way to it, good or bad."""

import enum
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from cwgpu.kube import failure
from cwgpu.kube.failure import Failure
from cwgpu.pace.election import Record, Write

AWAY = Failure("leases gpu in namespace gpu cannot be read: 10.0.0.1:443: connection refused")
GONE = Failure("leases gpu in namespace gpu cannot be written: HTTP status 404", failure.NOT_FOUND)
LATE = Failure("leases gpu in namespace gpu cannot be written: HTTP status 409", failure.CONFLICT)
FORBIDDEN = Failure("leases gpu in namespace gpu cannot be read: not allowed; add ...", 403)


class Trouble(enum.Enum):
    """What may happen to a question on its way."""

    REFUSED = enum.auto()
    """It does not arrive, and that is known at once."""
    LOST = enum.auto()
    """It is done, and the answer does not come back."""
    SILENT = enum.auto()
    """Nothing comes back until the limit, and nothing was done."""
    SLOW = enum.auto()
    """It arrives a second later."""
    DELAYED = enum.auto()
    """It is done at once, and the answer comes a second later."""


@dataclass
class Shelf:
    """One lease with the API server's rule: a write of an old version is refused."""

    record: Record | None = None
    versions: int = 0

    def put(self, version: str | None, holder: str, duration_s: float, transitions: int) -> bool:
        """Write, if the lease is of this version."""
        if version != (None if self.record is None else self.record.version):
            return False
        self.versions += 1
        self.record = Record(holder, duration_s, str(self.versions), transitions)
        return True

    def delete(self) -> None:
        """Have no lease."""
        self.record = None

    def touch(self) -> None:
        """Write something into it that is nobody's business."""
        assert self.record is not None
        self.put(
            self.record.version,
            self.record.holder,
            self.record.duration_s,
            self.record.transitions,
        )


@dataclass
class Way:
    """One agent's way to the shelf; what an agent knows as ``Leases``."""

    shelf: Shelf
    sleep: Callable[[float], Awaitable[None]]
    trouble: Trouble | Failure | None = None
    """Of every question from now on."""
    asked: list[str] = field(default_factory=list)
    crossing: int = 0
    """Renewals that arrive right before a release."""

    async def read(self, limit_s: float) -> Record | Failure | None:
        """Give the lease."""
        failed = await self._go("read", limit_s)
        return failed or await self._answer(self.shelf.record)

    async def write(
        self, write: Write, holder: str, duration_s: float, limit_s: float
    ) -> Record | Failure:
        """Write the lease."""
        failed = await self._go("write", limit_s)
        return failed or await self._put(write.version, holder, duration_s, write.transitions)

    async def release(self, record: Record, limit_s: float) -> Record | Failure:
        """Give the lease back."""
        failed = await self._go("release", limit_s)
        if self.crossing:
            self.crossing -= 1
            self.shelf.touch()
        return failed or await self._put(record.version, "", 1.0, record.transitions)

    async def _go(self, what: str, limit_s: float) -> Failure | None:
        self.asked.append(what)
        if isinstance(self.trouble, Failure):
            return self.trouble
        if self.trouble in (Trouble.SILENT, Trouble.SLOW):
            silent = self.trouble is Trouble.SILENT
            await self.sleep(limit_s if silent else 1.0)
            return AWAY if silent else None
        return AWAY if self.trouble is Trouble.REFUSED else None

    async def _put(
        self, version: str | None, holder: str, duration_s: float, transitions: int
    ) -> Record | Failure:
        done = self.shelf.put(version, holder, duration_s, transitions)
        missing = version is not None and self.shelf.record is None
        answer = self.shelf.record if done else GONE if missing else LATE
        return await self._answer(answer) or LATE

    async def _answer(self, given: Record | Failure | None) -> Record | Failure | None:
        if self.trouble is Trouble.DELAYED:
            await self.sleep(1.0)
        return AWAY if self.trouble is Trouble.LOST else given
