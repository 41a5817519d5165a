"""Counting the samples that go nowhere, by reason, with the first few names of each."""

from collections.abc import Iterable

from cwgpu.model.drop import DropReason
from cwgpu.model.reading import Drop

MOST_NAMES = 5
"""Names kept for each reason: enough to recognise the cause, few enough to read."""
_LONGEST = 255
"""Characters of a name that are kept: more is no metric to CloudWatch, and may be megabytes."""


class Tally:
    """A running account. ``drops()`` gives it as a value, in the order of ``DropReason``."""

    def __init__(self, drops: Iterable[Drop] = ()) -> None:
        """Begin with what is already known, in the order of ``DropReason``."""
        self._known = tuple(drops)
        self._counts: dict[DropReason, int] = {}
        self._names: dict[DropReason, list[str]]
        self._details: dict[DropReason, str]

    def add(
        self,
        reason: DropReason,
        name: str,
        count: int = 1,
        *,
        position: int | None = None,
        detail: str = "",
    ) -> None:
        """Count samples of the metric ``name``; ``detail`` is the rule that decided.

        ``position`` is that of a single one among the page's. It makes no difference here; an
        explanation keeps it (``explain.Ledger``).
        """
        del position
        if not self._counts:  # most pages have nothing to add to what their shape drops
            self._counts = {drop.reason: drop.count for drop in self._known}
            self._names = {drop.reason: list(drop.names) for drop in self._known}
            self._details = {drop.reason: drop.detail for drop in self._known if drop.detail}
        if detail:
            self._details.setdefault(reason, detail)
        self._counts[reason] = self._counts.get(reason, 0) + count
        names = self._names.setdefault(reason, [])
        shown = name if len(name) <= _LONGEST else f"{name[:_LONGEST]}..."
        if len(names) < MOST_NAMES and shown not in names:
            names.append(shown)

    def drops(self) -> tuple[Drop, ...]:
        """Give the account as values."""
        if not self._counts:
            return self._known
        return tuple(
            Drop(
                reason,
                self._counts[reason],
                tuple(self._names[reason]),
                self._details.get(reason, ""),
            )
            for reason in DropReason
            if reason in self._counts
        )
