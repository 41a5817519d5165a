"""Declarations asked once for each label set: the metrics of a GPU have one, and so has each GPU.

Which declarations match, and which dimension sets a label set has the labels for, depends on the
metric's name only by way of those that select it.
"""

from collections.abc import Sequence
from typing import NamedTuple

from cwgpu.digest.line import Dropped
from cwgpu.emf import declare
from cwgpu.emf.declare import Declaration, Declared, DimensionSet
from cwgpu.model.drop import DropReason
from cwgpu.model.kind import Kind
from cwgpu.model.labels import LabelPairs, Labels

_MOST = 512
"""Label sets that are remembered. A page has tens, and asks for each of them many times in a row;
the others are of pods that are gone."""
_LONGEST = 1 << 13
"""Characters of one that is remembered: pods have some hundred, and a page may have megabytes."""


_LONGEST_TOLD = 100
"""Characters of a value that are told: enough to recognise it."""
_UNSELECTED = Dropped(DropReason.UNSELECTED)
"""One for all names that no declaration selects: of a page it may be most."""


class Choice(NamedTuple):
    """What declarations say to a label set."""

    declared: Declared
    lost: Dropped | None
    """Why there is no dimension set for it; None: there is one."""


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
            declared = declare.directives(chosen, visible, dedup=self._dedup)
            lost = None if declared.sets else self._lost(chosen, declared, visible)
            found = Choice(declared, lost)
            self._remember((kind, labels), found)
        return found

    def _lost(self, chosen: Sequence[Declaration], declared: Declared, visible: Labels) -> Dropped:
        if not self.selecting:
            return _UNSELECTED
        if not chosen:
            return Dropped(DropReason.UNSELECTED, _unmatched(self.selecting, visible))
        if declared.invalid:
            return Dropped(DropReason.DIMENSION_INVALID, declared.invalid[0][1])
        missing = "; ".join(_lacking(names, visible) for names in declared.missing)
        return Dropped(DropReason.DIMENSION_MISSING, missing)

    def _remember(self, key: tuple[Kind, LabelPairs], found: Choice) -> None:
        if len(self._known) >= _MOST:
            self._known.clear()
        _, labels = key
        if sum(len(name) + len(value) for name, value in labels) <= _LONGEST:
            self._known[key] = found


def _unmatched(declarations: Sequence[Declaration], labels: Labels) -> str:
    """Say which matchers find nothing in which labels."""
    told = dict.fromkeys(
        f'label_matcher "{one.matches.pattern}" finds nothing in {_compared(one, labels)}'
        for one in declarations
    )
    return f"selected by name, but {' and '.join(told)}"


def _compared(declaration: Declaration, labels: Labels) -> str:
    value = declaration.compared(labels)
    shown = value if len(value) <= _LONGEST_TOLD else f"{value[:_LONGEST_TOLD]}..."
    return f'{declaration.separator.join(declaration.source_labels)} = "{shown}"'


def _lacking(names: DimensionSet, labels: Labels) -> str:
    missing = [name for name in names if not labels.get(name)]
    return f"[{', '.join(names)}] needs {' and '.join(missing)}"
