"""How often targets were scraped, for a run that ends when each has been often enough."""

import asyncio
from collections import Counter
from collections.abc import Collection

from cwgpu.model.target import Identity


class Quota:
    """Scrapes of each target: so many and no more, or any number of them."""

    def __init__(self) -> None:
        """Set no limit."""
        self.most: int | None = None
        """Scrapes of each target; set it before the first."""
        self.met = asyncio.Event()
        """Set when all targets have been scraped so often."""
        self._visits: Counter[Identity] = Counter()

    def keep(self, wanted: Collection[Identity]) -> None:
        """Forget the others."""
        self._visits = Counter({key: self._visits[key] for key in wanted if key in self._visits})

    def is_met(self, identity: Identity) -> bool:
        """Tell whether this one has been scraped often enough."""
        return self.most is not None and self._visits[identity] >= self.most

    def count(self, identity: Identity) -> None:
        """Count a scrape, however it went."""
        if self.most is not None:
            self._visits[identity] += 1

    def check(self, wanted: Collection[Identity]) -> None:
        """See whether all of them have been; where there is none, there is nothing to wait for."""
        if self.most is not None and all(map(self.is_met, wanted)):
            self.met.set()
