"""Declarations asked once for each label set: the metrics of a GPU have one, and so has each GPU.

Which declarations match, and which dimension sets a label set has the labels for, depends on the
metric's name only by way of those that select it.
"""

from collections.abc import Sequence
from typing import NamedTuple

from cwgpu.emf import declare
from cwgpu.emf.declare import Declaration, Declared
from cwgpu.model.kind import Kind
from cwgpu.model.labels import LabelPairs, Labels

_MOST = 512
"""Label sets that are remembered. A page has tens, and asks for each of them many times in a row;
the others are of pods that are gone."""
_LONGEST = 1 << 13
"""Characters of one that is remembered: pods have some hundred, and a page may have megabytes."""


class Choice(NamedTuple):
    """What declarations say to a label set."""

    chosen: tuple[Declaration, ...]
    """Those that match."""
    declared: Declared


class Chooser:
    """The declarations that select some metric names."""

    def __init__(self, selecting: Sequence[Declaration], *, dedup: bool) -> None:
        """``dedup`` as for ``declare.directives``."""
        self.selecting = tuple(selecting)
        self._dedup = dedup
        self._known: dict[tuple[Kind, LabelPairs], Choice] = {}

    def choose(self, kind: Kind, labels: LabelPairs, visible: Labels) -> Choice:
        """Ask them; ``visible`` are the labels and the metric's type, which they see as one."""
        found = self._known.get((kind, labels))
        if found is None:
            chosen = declare.matching(self.selecting, visible)
            found = Choice(chosen, declare.directives(chosen, visible, dedup=self._dedup))
            self._remember((kind, labels), found)
        return found

    def _remember(self, key: tuple[Kind, LabelPairs], found: Choice) -> None:
        if len(self._known) >= _MOST:
            self._known.clear()
        _, labels = key
        if sum(len(name) + len(value) for name, value in labels) <= _LONGEST:
            self._known[key] = found
