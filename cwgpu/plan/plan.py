"""The Plan and its parts. ``config.translate`` makes it; everything that runs reads it."""

import enum
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from cwgpu.emf.declare import Declaration
from cwgpu.emf.delta import Treatment
from cwgpu.model.target import TargetGroup
from cwgpu.plan.client import Client
from cwgpu.plan.kubernetes import KubernetesDiscovery, Lease, Shard
from cwgpu.prom.exposition import Format
from cwgpu.prom.relabel import Rule

NameMatch = Callable[[str], bool]
"""Does this selector find its regex anywhere in the metric name?"""


@dataclass(frozen=True, slots=True)
class FileDiscovery:
    """One file_sd_configs entry."""

    patterns: tuple[str, ...]
    """Absolute paths; the last part may hold one star."""
    refresh_s: float


@dataclass(frozen=True, slots=True)
class HttpDiscovery:
    """One http_sd_configs entry."""

    url: str = field(repr=False)
    """May hold a password or a token."""
    refresh_s: float
    client: Client = field(default_factory=Client)


FORMATS = (
    "OpenMetricsText1.0.0",
    "OpenMetricsText0.0.1",
    "PrometheusText1.0.0",
    "PrometheusText0.0.4",
)
"""scrape_protocols where none are written, config/config.go of Prometheus 3.0.1."""


@dataclass(frozen=True, slots=True)
class Job:
    """One scrape configuration; see docs/configuration.md for each key."""

    name: str
    interval_s: float
    timeout_s: float
    metrics_path: str = "/metrics"
    scheme: str = "http"
    params: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    honor_labels: bool = False
    honor_timestamps: bool = True
    enable_compression: bool = True
    client: Client = field(default_factory=Client)
    formats: tuple[str, ...] = FORMATS
    """What the Accept header asks for, best first, in the words of scrape_protocols."""
    relabel: tuple[Rule, ...] = ()
    metric_relabel: tuple[Rule, ...] = ()
    sample_limit: int = 0
    """Most samples after metric relabelling; 0 is no limit."""
    body_size_limit_bytes: int = 0
    """A decompressed body of this size or more fails the scrape; 0 takes the built-in bound."""
    target_limit: int = 0
    """More targets after relabelling fail the job: none of them is scraped; 0 is no limit."""
    label_limit: int = 0
    """Most labels of a sample after metric relabelling, its name among them; 0 is no limit."""
    label_name_length_limit: int = 0
    """Bytes; 0 is no limit."""
    label_value_length_limit: int = 0
    """Bytes; the metric's name is such a value; 0 is no limit."""
    keep_dropped_targets: int = 0
    """How many dropped targets are remembered for display; 0 is all."""
    report_series: bool = False
    """True: ``up``, ``scrape_duration_seconds`` and the like are series of each target."""
    legacy_names: bool = False
    """True: a metric or label name with other than letters, digits, ``_`` and ``:`` fails the
    scrape, as with metric_name_validation_scheme ``legacy``."""
    strict: bool = False
    """True: one bad line fails the scrape, as in Prometheus."""
    fallback_format: Format | None = Format.TEXT
    """How a page of unknown or missing Content-Type is read; None fails the scrape."""
    static: tuple[TargetGroup, ...] = ()
    unset: tuple[str, ...] = ()
    """Variables that are not set, so that static targets are missing."""
    files: tuple[FileDiscovery, ...] = ()
    http: tuple[HttpDiscovery, ...] = ()
    kubernetes: tuple[KubernetesDiscovery, ...] = ()
    unsupported: tuple[str, ...] = ()
    """Discovery keys that were read but that nothing acts on."""


@dataclass(frozen=True, slots=True)
class Idle:
    """When a GPU that a pod has counts as idle."""

    below: float = 5.0
    """Percent of utilisation."""
    window_s: float = 900.0
    """It must have been below all the time for so long."""


@dataclass(frozen=True, slots=True)
class Prefer:
    """Of which target is taken what several tell of one GPU."""

    order: tuple[str, ...] = ()
    """The best first; others come after all of these."""
    by: str = "job"
    """The label that has these values; ``job`` is the job's name."""


@dataclass(frozen=True, slots=True)
class Dcgm:
    """What is done for metrics whose name begins with ``DCGM_``."""

    labels: bool = True
    """Give labels the names of the usual exporter versions (uuid -> UUID ...)."""
    blanks: bool = True
    """Treat DCGM's blank values as no value."""
    aliases: bool = True
    """Give DCGM 4.6 and 4.7 field names their older names before selectors run, and their values
    the units of those."""
    rates: bool = True
    """Never make deltas of DCGM fields that are rates though typed counter."""
    units: bool = False
    """Give fields without a unit in ``Emf.units`` CloudWatch's."""
    bounds: bool = False
    """Drop values that the field cannot have."""
    xid_fatal: bool = False
    """Make a gauge of whether a GPU's last XID is a fatal one."""
    idle: Idle | None = None
    """Make a gauge of whether a pod has a GPU and does nothing with it; None: none."""
    prefer: Prefer = field(default_factory=Prefer)
    frozen_after: int = 0
    """Scrapes in a row with the same numbers after which a page counts as frozen; 0: none."""


class GroupBy(enum.Enum):
    """Which samples share a log event."""

    LABELS = "labels"
    """Those with all labels in common."""
    DIMENSIONS = "dimensions"
    """Those of one metric identity: with the labels in common that their dimension sets name."""


Kept: TypeAlias = Literal["all", "dimensions"] | tuple[str, ...]
"""Labels that an event keeps beside those that its dimension sets name; ``dimensions``: none."""


@dataclass(frozen=True, slots=True)
class Events:
    """How samples are packed into log events. The datapoints are the same, however it is."""

    group_by: GroupBy = GroupBy.LABELS
    window_s: float | None = None
    """Samples of so much time, as the clock divides it, are one event; None: each scrape has its
    own."""
    labels: Kept = "all"
    decimals: int | None = None
    """Digits that are kept behind the decimal point; None: all."""

    @property
    def arrays(self) -> bool:
        """Whether a metric of an event may have several values."""
        return self.window_s is not None or self.group_by is GroupBy.DIMENSIONS


@dataclass(frozen=True, slots=True)
class Emf:
    """From samples to log events."""

    namespace: str
    declarations: tuple[Declaration, ...]
    cluster_name: str = ""
    dedup: bool = True
    """True: a metric that several declarations select is sent once, with all their sets."""
    log_unselected: bool = False
    """True: samples that no declaration selects are sent too, as plain log fields."""
    untyped_as_gauge: bool = False
    units: Mapping[str, str] = field(default_factory=dict)
    """Metric name -> CloudWatch unit."""
    counters: tuple[tuple[NameMatch, Treatment], ...] = ()
    """The first selector that matches a counter's name decides; none: ``Treatment.DELTA``."""
    resolutions: tuple[tuple[NameMatch, int], ...] = ()
    """The first selector that matches decides on 1 or 60 seconds; none: unsaid, which is 60."""
    events: Events = field(default_factory=Events)


@dataclass(frozen=True, slots=True)
class CloudWatch:
    """Where the log events go. Group and stream may hold placeholders such as ``{ClusterName}``."""

    log_group: str
    log_stream: str
    region: str | None = None
    role_arn: str | None = None
    endpoint_url: str | None = None
    retention_days: int | None = None
    """Set on log groups that we create; None keeps events for ever."""

    @property
    def access(self) -> tuple[str | None, str | None, str | None]:
        """What a connection is made of, and cannot change while it is there."""
        return (self.region, self.role_arn, self.endpoint_url)


@dataclass(frozen=True, slots=True)
class Budget:
    """How many custom metrics there should be, each counted for an hour after its last value."""

    metrics: int
    drops: bool = False
    """True: beyond it no metric is let in that is not there yet. False: it is said."""


class SpoolMode(enum.Enum):
    """When batches are written to the spool's directory."""

    ALWAYS = "always"
    """Before they are sent: nothing that was rendered is lost, even by kill -9."""
    ON_FAILURE = "on_failure"
    """When they could not be delivered at once, and at the end."""
    OFF = "off"
    """Never: what waits is held in memory."""


@dataclass(frozen=True, slots=True)
class Spool:
    """How batches wait that CloudWatch does not take yet."""

    directory: str | None = None
    """Absolute; None holds everything in memory, with the same bounds."""
    mode: SpoolMode = SpoolMode.ALWAYS
    most_bytes: int = 256 << 20
    """Of ready batches, compressed; the oldest go when there are more."""
    most_age_s: float = 86_400.0
    """Older ones go; 13 days at most, because CloudWatch takes 14."""


@dataclass(frozen=True, slots=True)
class Plan:
    """All that a running agent needs to know."""

    jobs: tuple[Job, ...]
    emf: Emf
    cloudwatch: CloudWatch
    dcgm: Dcgm = field(default_factory=Dcgm)
    flush_interval_s: float = 5.0
    lease: Lease | None = None
    """None: nobody else scrapes what we scrape."""
    shard: Shard | None = None
    """None: all targets are ours."""
    budget: Budget | None = None
    """None: nobody counts."""
    spool: Spool = field(default_factory=Spool)
    shutdown_grace_s: float = 25.0
    """From SIGTERM to the end of the process; sending has 5 seconds less."""
    warnings: tuple[str, ...] = ()
    """What the configuration asks for and will not get, one sentence each."""
    files: tuple[str, ...] = ()
    """Every file that was read, and patterns with a star for those that may come: a change of a
    file, or of the names that a pattern finds, is a reason to read all again."""
