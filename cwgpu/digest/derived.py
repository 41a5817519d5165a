"""Gauges of our own about a GPU: is its last XID a fatal one, does it do nothing for its pod.

An alarm of CloudWatch can test neither: a set of numbers is no threshold, and a threshold that a
pod was below for a while says nothing of pods that were not there. So the fields are watched, at
every scrape, and what is found is written as a page of ours, which is read as any other.
"""

import math
from collections.abc import Iterable, Iterator, Sequence

from cwgpu.digest.line import Watch
from cwgpu.digest.recipe import Labelled, Series
from cwgpu.gpu import alias, blank, normalise, plausible, xid
from cwgpu.gpu.scale import Scales
from cwgpu.model.drop import DropReason
from cwgpu.model.labels import LabelPairs, Labels, pairs
from cwgpu.model.reading import Watched
from cwgpu.plan.plan import Dcgm, Idle

XID_FATAL = "cwgpu_xid_fatal"
GPU_IDLE = "cwgpu_gpu_idle"

ENERGY = "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION"
"""Of which no gauge is made: it moves as long as anybody measures (``pulse``)."""

_UTILISATION = "DCGM_FI_DEV_GPU_UTIL"
_ENGINE = "DCGM_FI_PROF_GR_ENGINE_ACTIVE"
"""What there is of a MIG slice, for which the utilisation is missing or always 0; a ratio."""
_SLICE = "GPU_I_ID"
_POD = "pod"
_MISSED_SCRAPES = 3
"""After so many nobody knows what the GPU did meanwhile: the time is counted anew."""


def watch(dcgm: Dcgm, series: Series, labelled: Labelled, scales: Scales) -> Watch | None:
    """Say how a series is watched, if it is."""
    field = alias.old_name(series.name)
    exposed = dict(normalise.labels(series.labels)) if _concerns(dcgm, field) else {}
    if not exposed or not _tells(field, exposed):
        return None
    labels = pairs({k: v for k, v in labelled.labels.items() if k not in xid.LABELS})
    convert = plausible.within(field, scales.of(series.name))

    def read(value: float) -> float | None:
        if blank.is_blank(series.name, value) or not math.isfinite(value):
            return None
        found = convert(value) if convert else value
        if isinstance(found, DropReason):
            return None
        return found * 100 if field == _ENGINE else found

    return Watch(field, labels, bool(exposed.get(_POD)), read)


def _concerns(dcgm: Dcgm, field: str) -> bool:
    idle = dcgm.idle is not None and field in {_UTILISATION, _ENGINE}
    asked = {xid.FIELD: dcgm.xid_fatal, ENERGY: dcgm.frozen_after > 0}
    return idle or asked.get(field, False)


def _tells(field: str, exposed: Labels) -> bool:
    """Whether this field is the one to look at: of a MIG slice another than of a whole GPU."""
    return field in {xid.FIELD, ENERGY} or (field == _ENGINE) == bool(exposed.get(_SLICE))


def watched(watches: Iterable[tuple[int, Watch]], numbers: Sequence[float]) -> Iterator[Watched]:
    """Give what the lines at these positions say, among the page's numbers."""
    for position, one in watches:
        value = one.read(float(numbers[position]))
        if value is not None:
            yield Watched(one.field, one.labels, value, one.has_pod)


def gauge(one: Watch) -> str:
    """Name the gauge that is made of what a line says."""
    return XID_FATAL if one.field == xid.FIELD else GPU_IDLE


class Gauges:
    """The gauges of one target's GPUs."""

    def __init__(self, idle: Idle | None, interval_s: float) -> None:
        """``interval_s`` is the time from one scrape to the next.

        Without ``idle`` no utilisation is watched.
        """
        self._idle = idle or Idle()
        self._longest_ms = _MISSED_SCRAPES * interval_s * 1000
        self._since: dict[LabelPairs, tuple[int, int]] = {}
        """Since when each GPU does nothing for its pod, and when that was last seen."""

    def page(self, found: Sequence[Watched], at_ms: int, target: Labels) -> bytes:
        """Write what was found at a scrape as text exposition.

        It is to be read with the target's labels and ``honor_labels``: series that lack one of
        them say so.
        """
        self._since = {
            labels: (since, last)
            for labels, (since, last) in self._since.items()
            if 0 <= at_ms - last <= self._longest_ms
        }
        fatal: dict[LabelPairs, bool] = {}
        idle: dict[LabelPairs, bool] = {}
        for one in found:
            if one.field == xid.FIELD:
                fatal[one.labels] = xid.is_fatal(one.value) or fatal.get(one.labels, False)
            else:
                idle[one.labels] = self._is_idle(one, at_ms)
        lines = [*_family(XID_FATAL, fatal, target), *_family(GPU_IDLE, idle, target)]
        return "".join(lines).encode()

    def _is_idle(self, one: Watched, at_ms: int) -> bool:
        if not one.has_pod or one.value >= self._idle.below:
            self._since.pop(one.labels, None)
            return False
        since, _ = self._since.get(one.labels, (at_ms, at_ms))
        self._since[one.labels] = (since, at_ms)
        return at_ms - since >= self._idle.window_s * 1000


def _family(name: str, values: dict[LabelPairs, bool], target: Labels) -> Iterator[str]:
    if values:
        yield f"# TYPE {name} gauge\n"
    for labels, value in values.items():
        known = dict(labels)
        absent = {key: "" for key, given in target.items() if given and key not in known}
        shown = ",".join(
            f"{_quoted(key)}={_quoted(text)}" for key, text in {**known, **absent}.items()
        )
        yield f"{name}{{{shown}}} {int(value)}\n"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
