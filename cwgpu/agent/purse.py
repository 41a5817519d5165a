"""The budget at work: one count for all pages, told to the self metrics and, once, to the journal.

``digest.budget`` decides; who hears of it is decided here.
"""

from cwgpu.agent.clock import Clock
from cwgpu.agent.observe import Observer
from cwgpu.digest.budget import Budget, Identity
from cwgpu.plan import plan


class Purse:
    """What is known of the budget, over all reloads."""

    def __init__(self, observer: Observer, clock: Clock) -> None:
        """Count nothing until ``follow`` brings a budget."""
        self._observer = observer
        self._budget = Budget()
        self._limit: plan.Budget | None = None
        self._told = False
        observer.metrics.counts(lambda: self._count(clock.wall_ms()), lambda: self._budget.refusals)

    def follow(self, limit: plan.Budget | None) -> Budget | None:
        """Work by this limit; gives the count, for recipes, if there is one to be kept."""
        self._limit = limit
        self._budget.follow(limit)
        return None if limit is None else self._budget

    def look(self, now_ms: int) -> None:
        """Say that it is exceeded, when it has become so."""
        limit = self._limit
        if limit is None:
            return
        exceeded = self._budget.exceeded
        if exceeded and not self._told:
            found, refused = self._budget.count(now_ms), self._budget.refused
            self._observer.budget_exceeded(found, limit.metrics, _words(refused) if refused else "")
        self._told = exceeded

    def _count(self, now_ms: int) -> int:
        return self._budget.count(now_ms) if self._limit is not None else 0


def _words(one: Identity) -> str:
    (_, dimensions), name = one
    return f"{name} of {', '.join(f'{key}={value}' for key, value in dimensions) or 'all'}"
