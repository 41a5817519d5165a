"""Targets that tell of the same GPUs, at work: who hears of it, and when one is heard no more.

``digest.tellers`` decides; what has become of a target is known here.
"""

from collections import Counter
from collections.abc import Collection, Iterable

from cwgpu.agent.observe import Observer
from cwgpu.digest.tellers import Share, Teller, Tellers
from cwgpu.model.reading import Reading
from cwgpu.model.target import Identity, Target
from cwgpu.plan.plan import Prefer

_MOST_MISSED = 3
"""Scrapes in a row without a sample after which a target tells of nothing any more: one may be lost
to a restart, and an exporter that reloads gives an empty page."""
_MOST_SAID = 10
"""Pairs that the journal names at a time. Of a thousand nodes with two exporters ten are enough."""


class Chorus:
    """What is known of who tells what, over all reloads."""

    def __init__(self, observer: Observer) -> None:
        """Begin with nobody."""
        self._observer = observer
        self._tellers = Tellers()
        self._missed: Counter[Identity] = Counter()
        self._said: dict[frozenset[Identity], Share] = {}
        observer.metrics.tells_twice(lambda: self._tellers.twice)

    def follow(self, prefer: Prefer) -> None:
        """Work by this plan, by which all pages are learnt anew."""
        self._say(self._tellers.follow(prefer))

    def voice(self, target: Target) -> Teller:
        """Give who stands for a target on its page."""
        return self._tellers.of(target.identity)

    def keep(self, wanted: Collection[Identity]) -> None:
        """Forget all targets but these."""
        self._say(self._tellers.keep(wanted))
        self._missed = Counter({key: n for key, n in self._missed.items() if key in wanted})

    def silence(self) -> None:
        """Forget what targets told: who leads is another, or was."""
        self._tellers.silence()
        self._missed.clear()
        self._said.clear()

    def heard(self, target: Target, reading: Reading) -> None:
        """Take a page that was read."""
        if reading.told is not None:
            self._say(self._tellers.take(target.identity, reading.told))
        if not reading.samples:
            self.missed(target)
        elif self._missed:
            self._missed.pop(target.identity, None)

    def missed(self, target: Target) -> None:
        """Take a scrape that gave nothing."""
        self._missed[target.identity] += 1
        if self._missed[target.identity] == _MOST_MISSED:
            self._say(self._tellers.forget(target.identity))

    def _say(self, shares: Iterable[Share]) -> None:
        """Tell the journal of pairs that are new, that are decided otherwise, and that are over."""
        for share in shares:
            pair = frozenset((share.first, share.second))
            former = self._said.get(pair)
            if not share.gpus and former is not None:
                del self._said[pair]
                self._observer.told_once(share.first, share.second)
            elif share.gpus and self._is_news(former, share):
                self._said[pair] = share
                self._observer.told_twice(share)

    def _is_news(self, former: Share | None, share: Share) -> bool:
        return len(self._said) < _MOST_SAID if former is None else former.decided != share.decided
