"""What prometheus.yml may hold, as Prometheus 3.0.1 reads it (the CloudWatch agent embeds it).

https://prometheus.io/docs/prometheus/latest/configuration/configuration/
"""

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from cwgpu.config.client import Client
from cwgpu.config.discovery import Discoveries
from cwgpu.config.field import (
    Count,
    Duration,
    Flag,
    Free,
    Listed,
    Mapped,
    Section,
    Size,
    Text,
    as_text,
)
from cwgpu.config.shape import Model, Use

Protocol = Annotated[
    Literal[
        "PrometheusProto",
        "PrometheusText0.0.4",
        "PrometheusText1.0.0",
        "OpenMetricsText0.0.1",
        "OpenMetricsText1.0.0",
    ],
    BeforeValidator(as_text),
]

Scheme = Annotated[Literal["", "legacy", "utf8"], BeforeValidator(as_text)]


class RelabelRule(Model):
    """One entry of ``relabel_configs`` or ``metric_relabel_configs``."""

    source_labels: Listed[Text] = Field(
        [], description="Labels whose values are joined and compared; an absent one is empty."
    )
    separator: Text = Field(";", description="What stands between the joined values. Default `;`.")
    regex: Text = Field(
        "(.*)",
        description="RE2, must match all of it, `.` matches newlines too. Default `(.*)`.",
    )
    modulus: Count = Field(0, description="For hashmod: how many parts.")
    target_label: Text = Field("", description="The label that is written.")
    replacement: Text = Field(
        "$1", description="What is written; `$1` and `${name}` are groups. Default `$1`."
    )
    action: Text = Field(
        "replace",
        description=(
            "replace, keep, drop, keepequal, dropequal, hashmod, labelmap, labeldrop, labelkeep, "
            "lowercase or uppercase. Default replace."
        ),
    )


class Limits(Model):
    """The limits, which stand both in ``global`` and in a job. 0 is no limit."""

    body_size_limit: Size = Field(
        0, description="An uncompressed page of this size or more fails the scrape, e.g. `10MB`."
    )
    sample_limit: Count = Field(
        0, description="More samples after metric relabelling fail the scrape."
    )
    target_limit: Annotated[Count, Use.LATER] = Field(
        0, description="More targets after relabelling fail the job."
    )
    label_limit: Annotated[Count, Use.LATER] = Field(
        0, description="More labels on a sample fail the scrape."
    )
    label_name_length_limit: Annotated[Count, Use.LATER] = Field(
        0, description="A longer label name fails the scrape."
    )
    label_value_length_limit: Annotated[Count, Use.LATER] = Field(
        0, description="A longer label value fails the scrape."
    )
    keep_dropped_targets: Annotated[Count, Use.LATER] = Field(
        0, description="How many dropped targets are remembered for display."
    )
    scrape_protocols: Annotated[Section[list[Protocol]], Use.LATER] = Field(
        None, description="Formats to ask for, best first."
    )
    metric_name_validation_scheme: Annotated[Scheme, Use.LATER] = Field(
        "", description="`legacy` or `utf8`: which metric names are valid."
    )
    scrape_failure_log_file: Annotated[Text, Use.LATER] = Field(
        "", description="File that failed scrapes are written to."
    )


class Global(Limits):
    """``global``: what holds for every job that does not say otherwise."""

    scrape_interval: Duration = Field(0, description="How often. Default 1m.")
    scrape_timeout: Duration = Field(
        0, description="How long a scrape may take. Default 10s, or the interval if shorter."
    )
    external_labels: Annotated[Mapped[Text], Use.ELSEWHERE] = Field(
        {}, description="Labels for alerts and remote storage; samples do not get them."
    )
    evaluation_interval: Annotated[Duration, Use.ELSEWHERE] = Field(
        0, description="How often rules are evaluated."
    )
    rule_query_offset: Annotated[Duration, Use.ELSEWHERE] = Field(
        0, description="How far back rules look."
    )
    query_log_file: Annotated[Text, Use.ELSEWHERE] = Field(
        "", description="File that queries are written to."
    )


class ScrapeConfig(Limits, Discoveries, Client):
    """One entry of ``scrape_configs``: a job."""

    job_name: Text = Field(
        "", description="Name of the job, each once; becomes the label `job`. Required."
    )
    scrape_interval: Duration = Field(0, description="How often. Default: the global one.")
    scrape_timeout: Duration = Field(
        0, description="How long a scrape may take. Default: the global one, at most the interval."
    )
    metrics_path: Text = Field("/metrics", description="Path of the page. Default `/metrics`.")
    scheme: Text = Field("http", description="`http` or `https`. Default http.")
    params: Mapped[Listed[Text]] = Field({}, description="Parameters of the query, lists each.")
    honor_labels: Flag = Field(
        default=False,
        description=(
            "true: a label of the page wins over the target's; false: it becomes "
            "`exported_<name>`. Default false."
        ),
    )
    honor_timestamps: Flag = Field(
        default=True, description="Take the timestamps of the page. Default true."
    )
    enable_compression: Flag = Field(default=True, description="Ask for gzip. Default true.")
    fallback_scrape_protocol: Protocol | None = Field(
        None,
        description=(
            "How a page without a usable Content-Type is read: PrometheusText0.0.4 (the default "
            "here; Prometheus has none), OpenMetricsText1.0.0 ..."
        ),
    )
    relabel_configs: Listed[RelabelRule] = Field([], description="Rules for targets.")
    metric_relabel_configs: Listed[RelabelRule] = Field([], description="Rules for samples.")
    strict: Flag = Field(
        default=False,
        description=(
            "Only here, not in Prometheus. true: one bad line fails the whole scrape, as in "
            "Prometheus; false: a bad line costs itself. Default false."
        ),
    )
    track_timestamps_staleness: Annotated[Flag, Use.LATER] = Field(
        default=False, description="Staleness of series with timestamps; nothing is stored here."
    )
    always_scrape_classic_histograms: Annotated[Flag, Use.LATER] = Field(
        default=False, description="Read classic histograms beside native ones."
    )
    convert_classic_histograms_to_nhcb: Annotated[Flag, Use.LATER] = Field(
        default=False, description="Turn classic histograms into native ones."
    )
    native_histogram_bucket_limit: Annotated[Count, Use.LATER] = Field(
        0, description="Most buckets of a native histogram."
    )
    native_histogram_min_bucket_factor: Annotated[Text, Use.LATER] = Field(
        "", description="Least growth from bucket to bucket of a native histogram."
    )
    metric_name_escaping_scheme: Annotated[Text, Use.LATER] = Field(
        "", description="How names beyond ASCII are asked for."
    )


class PrometheusFile(Model):
    """The whole file."""

    global_: Section[Global] = Field(
        None, alias="global", description="What holds for every job that does not say otherwise."
    )
    scrape_configs: Listed[ScrapeConfig] = Field([], description="The jobs.")
    scrape_config_files: Annotated[Listed[Text], Use.LATER] = Field(
        [], description="Further files of jobs."
    )
    runtime: Annotated[Free, Use.ELSEWHERE] = Field(None, description="Prometheus' runtime.")
    alerting: Annotated[Free, Use.ELSEWHERE] = Field(None, description="Alertmanagers.")
    rule_files: Annotated[Free, Use.ELSEWHERE] = Field(None, description="Files of rules.")
    storage: Annotated[Free, Use.ELSEWHERE] = Field(None, description="Prometheus' storage.")
    tracing: Annotated[Free, Use.ELSEWHERE] = Field(None, description="Prometheus' traces.")
    remote_write: Annotated[Free, Use.ELSEWHERE] = Field(None, description="Remote storage.")
    remote_read: Annotated[Free, Use.ELSEWHERE] = Field(None, description="Remote storage.")
    otlp: Annotated[Free, Use.ELSEWHERE] = Field(None, description="Reception of OTLP.")
