"""What is done about DCGM's metrics: from ``cwgpu.dcgm`` to the plan."""

from collections.abc import Collection
from typing import Any

from pydantic import Field

from cwgpu.config import scalar
from cwgpu.config.field import Bool, Duration, String, Whole
from cwgpu.config.nearest import nearest
from cwgpu.config.node import Loc, Node
from cwgpu.config.report import Report
from cwgpu.config.shape import Model
from cwgpu.plan import plan
from cwgpu.prom import duration

_IDLE: Loc = ("cwgpu", "dcgm", "idle")
_PREFER: Loc = ("cwgpu", "dcgm", "prefer")
_LEAST_WINDOW_MS = 60_000
"""A minute: with less, a pod that loads a batch is idle."""
_MOST_WINDOW_MS = 86_400_000
"""A day; whoever asks for longer has a window of CloudWatch's own alarms."""


class Idle(Model):
    """``dcgm.idle``."""

    below: Whole = Field(
        5,
        ge=1,
        le=100,
        description="Percent of utilisation below which a GPU does nothing. Default 5.",
    )
    window_ms: Duration = Field(
        900_000,
        alias="for",
        description="How long it must have been so. Default 15m; 1m at least, 24h at most.",
    )


class Dcgm(Model):
    """``dcgm``, written out."""

    labels: Bool = Field(
        default=True,
        description=(
            "Give labels the names that the usual exporter versions use: `uuid` becomes `UUID`, "
            "`pod_name` becomes `pod` ...; leave `err_code` and `err_msg` out where nothing needs "
            "them."
        ),
    )
    blanks: Bool = Field(
        default=True, description="Treat DCGM's blank values as no value rather than as numbers."
    )
    aliases: Bool = Field(
        default=True,
        description=(
            "Give DCGM 4.6 and 4.7 field names their older names before selectors, and their "
            "values the older units: hertz become MHz, bytes MiB, ratios percent."
        ),
    )
    rates: Bool = Field(
        default=True, description="Never make deltas of DCGM fields that are rates typed counter."
    )
    units: Bool = Field(
        default=False,
        description=(
            "Give DCGM fields that `metric_unit` does not name CloudWatch's units, as in "
            "[gpu.md](gpu.md#units). Default false. CloudWatch keeps the data of another unit "
            "apart: set it before the first graph."
        ),
    )
    bounds: Bool = Field(
        default=False,
        description=(
            "Drop values that the field cannot have, such as a utilisation of 2619 %, as "
            "`implausible`; [gpu.md](gpu.md#bounds) has the ranges. Default false."
        ),
    )
    xid_fatal: Bool = Field(
        default=False,
        description=(
            "Make a gauge `cwgpu_xid_fatal` of each GPU, which declarations may select: 1 while "
            "its last XID error is a [fatal one](gpu.md#cwgpu_xid_fatal). Default false."
        ),
    )
    idle: Idle | None = Field(
        None,
        description=(
            "Make a gauge `cwgpu_gpu_idle` of each GPU, which declarations may select: 1 while a "
            "pod has it and [does nothing with it](gpu.md#cwgpu_gpu_idle). `{}` takes the defaults."
        ),
    )
    frozen_after: Whole | None = Field(
        None,
        ge=2,
        description=(
            "Scrapes in a row after which an exporter counts as [frozen](gpu.md#frozen-values), "
            "when all of them gave the same page, or a GPU's energy counter did not move: the "
            "journal says so. Of several minutes, at least. Default: nobody looks."
        ),
    )
    prefer: list[String] = Field(
        [],
        description=(
            "Where [several targets tell of one GPU](gpu.md#several-exporters-on-a-node): jobs, "
            "the best first. What a target of a better one tells too is dropped, as "
            "`less_preferred`. Default: nothing is dropped."
        ),
    )
    prefer_by: String = Field(
        "job",
        min_length=1,
        description=(
            "The target's label whose values `prefer` lists, such as `Service`, where one job "
            "finds several exporters. Default `job`, the name of the job."
        ),
    )


_ALL = ("labels", "blanks", "aliases", "rates")
"""What there is unless it is switched off; the rest is asked for one by one."""


def switch(value: Any) -> Any:  # noqa: ANN401 - whatever was written
    """Read ``true`` and ``false`` as all of what is on by default, on or off."""
    on = scalar.boolean(value) if isinstance(value, Node) else None
    return value if on is None else dict.fromkeys(_ALL, value)


def dcgm(written: Dcgm, jobs: Collection[str], report: Report) -> plan.Dcgm:
    """Make the plan's part; ``jobs`` are the names of those that were found."""
    return plan.Dcgm(
        labels=written.labels,
        blanks=written.blanks,
        aliases=written.aliases,
        rates=written.rates,
        units=written.units,
        bounds=written.bounds,
        xid_fatal=written.xid_fatal,
        idle=_idle(written.idle, report),
        prefer=_prefer(written, jobs, report),
        frozen_after=written.frozen_after or 0,
    )


def _prefer(written: Dcgm, jobs: Collection[str], report: Report) -> plan.Prefer:
    for index, name in enumerate(written.prefer):
        if jobs and written.prefer_by == "job" and name not in jobs:
            close = nearest(name, jobs)
            advice = f"write {close!r}" if close else f"the jobs are {', '.join(sorted(jobs))}"
            report.warning(
                (*_PREFER, index), "preferred-unknown", f"no job is called {name!r}", advice
            )
    return plan.Prefer(tuple(written.prefer), written.prefer_by)


def _idle(written: Idle | None, report: Report) -> plan.Idle | None:
    if written is None:
        return None
    if not _LEAST_WINDOW_MS <= written.window_ms <= _MOST_WINDOW_MS:
        message = f"for {duration.format(written.window_ms)} is not between 1m and 24h"
        report.error((*_IDLE, "for"), "wrong-value", message, "write 15m, or 1m to 24h")
    return plan.Idle(float(written.below), written.window_ms / 1000)
