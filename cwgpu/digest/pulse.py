"""Whether an exporter still measures, or gives the numbers of long ago.

An exporter whose DCGM hangs goes on to answer, and well (https://github.com/NVIDIA/go-dcgm/issues/38
is of one). A GPU always uses energy, so that its counter tells: DCGM reads it every 30 seconds
unless it is told otherwise. Where a page has no such counter, there is the page as a whole; on a
GPU that does nothing it may be the same for a while.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from cwgpu.digest import derived
from cwgpu.digest.line import Watch
from cwgpu.gpu import part
from cwgpu.model.reading import Pulse

_FIELD = "DCGM_"
PAGE = ""
"""What stands still if all of the page does, beside GPUs by their UUIDs."""


@dataclass(frozen=True, slots=True)
class Sensor:
    """Where on a page of GPUs to feel."""

    counters: tuple[tuple[int, str, Watch], ...]
    """The positions of energy counters, each with its GPU and how it is read."""

    def feel(self, body: bytes, numbers: Sequence[float]) -> Pulse:
        """Take a scrape's page, whose values these are."""
        found = [(gpu, one.read(float(numbers[at]))) for at, gpu, one in self.counters]
        # A counter of 0 is one that the GPU has not.
        return Pulse(hash(body), tuple([(gpu, value) for gpu, value in found if value]))


def sensor(names: Iterable[str], watches: Iterable[tuple[int, Watch]]) -> Sensor | None:
    """Give where to feel on a page with these metrics; None if it is no exporter's."""
    if not any(name.startswith(_FIELD) for name in names):
        return None
    energies = [(at, one) for at, one in watches if one.field == derived.ENERGY]
    found = [(at, part.of(one.labels), one) for at, one in energies]
    return Sensor(tuple([(at, gpu[0], one) for at, gpu, one in found if gpu]))


@dataclass(slots=True)
class _Stand:
    value: float
    since_ms: int
    times: int = 0


class Stillness:
    """What has stood still on one target's page, and since when.

    Scrapes that gave no sample say nothing either way.
    """

    def __init__(self, after: int) -> None:
        """``after`` so many equal values in a row something stands still."""
        self._after = after
        self._stands: dict[str, _Stand] = {}

    def take(self, pulse: Pulse, at_ms: int) -> Mapping[str, int]:
        """Take a scrape; gives what stands still, and since when: GPUs, or the page alone."""
        values = {PAGE: pulse.page, **dict(pulse.energies)}
        former, self._stands = self._stands, {}
        for key, value in values.items():
            stand = former.get(key)
            if stand is None or stand.value != value:
                stand = _Stand(value, at_ms)
            stand.times += 1
            self._stands[key] = stand
        still = {key: one.since_ms for key, one in self._stands.items() if one.times >= self._after}
        return {PAGE: still[PAGE]} if PAGE in still else still
