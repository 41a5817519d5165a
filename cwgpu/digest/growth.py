"""The counters of a page, as long as they do what counters do: grow.

Nearly all do at nearly every scrape. Asking each line for its last total, and leaving the next one
there, is most of what counters cost; so here their totals stand in a row. Their lines have none
meanwhile: ``settle`` gives them back before anybody asks.
"""

import math
from collections.abc import Sequence
from operator import ge, sub

from cwgpu.digest.line import Line
from cwgpu.digest.pick import picker
from cwgpu.digest.values import Values


class Growth:
    """What counters whose increase is sent stood at."""

    __slots__ = ("_at_rest", "_counters", "_most", "_pick", "_since_ms", "_totals", "positions")

    def __init__(self, counters: Sequence[tuple[int, Line, float]]) -> None:
        """Each has the position of its value and what this is below, if it needs no second look."""
        self._counters = tuple(counters)
        # A page that is not kept is read once: what its lines know stays with them.
        self._at_rest = True
        self.positions: Sequence[int] = ()
        """Of those counters whose totals are here."""
        self._pick = picker(())
        self._most: Sequence[float] = ()
        self._totals: Sequence[float] = ()
        self._since_ms = 0

    def take(self, values: Values, at_ms: int) -> list[float] | None:
        """Take a scrape; gives the increase at each of ``positions``.

        It is what ``delta.step`` would say of each, without its many questions. None where one of
        them has to be asked: then nothing is here any more, and nothing of the scrape was taken.
        """
        if not self.positions:
            self._gather()
        totals = list(map(float, self._pick(values.numbers)))
        finite = values.finite or all(map(math.isfinite, totals))
        if finite and self._since_ms < at_ms and not any(map(ge, totals, self._most)):
            increases = list(map(sub, totals, self._totals))
            if not increases or min(increases) >= 0:
                self._totals, self._since_ms = totals, at_ms
                return increases
        self.settle()
        return None

    def settle(self) -> None:
        """Give the totals back to their lines."""
        lines = {position: line for position, line, _ in self._counters}
        for position, total in zip(self.positions, self._totals, strict=True):
            lines[position].baseline = (total, self._since_ms)
        self.positions, self._totals = (), ()

    def _gather(self) -> None:
        """Take the totals of the last scrape from their lines."""
        rested, self._at_rest = self._at_rest, False
        if rested:
            return
        known = [(one, one[1].baseline) for one in self._counters]
        times = [baseline[1] for _, baseline in known if baseline]
        self._since_ms = max(times, default=0)
        taken = [
            (*one, baseline[0])
            for one, baseline in known
            # From a total far below 0 the increase may be more than can be sent.
            if baseline and baseline[0] >= 0 and baseline[1] == self._since_ms
        ]
        self.positions = tuple([position for position, _, _, _ in taken])
        self._pick = picker(self.positions)
        self._most = [most for _, _, most, _ in taken]
        self._totals = [total for _, _, _, total in taken]
        for _, line, _, _ in taken:  # a thousand pages have ten thousands of them
            line.baseline = None
