"""Targets whose exporter gives old numbers: who stands still, and who hears of it.

``digest.pulse`` feels; it is told here, once when it begins and once when it is over.
"""

from collections.abc import Collection

from cwgpu.agent.observe import Observer
from cwgpu.digest.pulse import PAGE, Stillness
from cwgpu.model.reading import Pulse
from cwgpu.model.target import Identity, Target


class Frost:
    """What is known of who stands still, over all reloads."""

    def __init__(self, observer: Observer) -> None:
        """Look at nothing until ``follow`` says so."""
        self._observer = observer
        self._after = 0
        self._felt: dict[Identity, Stillness] = {}
        self._still: dict[Identity, frozenset[str]] = {}
        """What the journal has been told of."""

    def follow(self, after: int) -> None:
        """Let targets stand still after so many scrapes."""
        if after != self._after:
            self._after = after
            self.keep(())

    def keep(self, wanted: Collection[Identity]) -> None:
        """Forget all targets but these."""
        self._felt = {key: one for key, one in self._felt.items() if key in wanted}
        self._still = {key: what for key, what in self._still.items() if key in wanted}
        self._count()

    def feel(self, target: Target, pulse: Pulse | None, at_ms: int) -> None:
        """Take a page that was scraped at ``at_ms``; without a pulse it says nothing."""
        if pulse is None:
            return
        identity = target.identity
        felt = self._felt.get(identity)
        if felt is None:
            felt = self._felt[identity] = Stillness(self._after)
        still = felt.take(pulse, at_ms)
        former = self._still.pop(identity, frozenset())
        if still:
            self._still[identity] = frozenset(still)
        new = still.keys() - former
        if new:
            since_ms = min(still[what] for what in new)
            self._observer.frozen(target, sorted(new - {PAGE}), self._after, since_ms)
        elif former and not still:
            self._observer.moves(target)
        if new or former:
            self._count()

    def _count(self) -> None:
        self._observer.metrics.frozen(job for job, _, _ in self._still)
