"""What prometheus.yml may hold, as Prometheus 3.0.1 reads it (the CloudWatch agent embeds it).

https://prometheus.io/docs/prometheus/latest/configuration/configuration/
"""

from typing import Annotated, Literal, TypeAlias

from pydantic import BeforeValidator, Field

from cwgpu.config.client import Client
from cwgpu.config.discovery import Discoveries
from cwgpu.config.field import (
    Count,
    Duration,
    FileText,
    Flag,
    Free,
    Listed,
    Mapped,
    Real,
    Section,
    Size,
    Text,
    as_text,
)
from cwgpu.config.shape import Model, Use

Format: TypeAlias = Literal[
    "PrometheusProto",
    "PrometheusText0.0.4",
    "PrometheusText1.0.0",
    "OpenMetricsText0.0.1",
    "OpenMetricsText1.0.0",
]
Protocol = Annotated[Format, BeforeValidator(as_text)]
Fallback = Annotated[Format | None, BeforeValidator(lambda value: as_text(value) or None)]


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
    target_limit: Count = Field(
        0, description="More targets after relabelling: none of them is scraped."
    )
    label_limit: Count = Field(
        0, description="More labels on a sample, its name among them, fail the scrape."
    )
    label_name_length_limit: Count = Field(
        0, description="A label name of more bytes fails the scrape."
    )
    label_value_length_limit: Count = Field(
        0, description="A label value, or metric name, of more bytes fails the scrape."
    )
    keep_dropped_targets: Count = Field(
        0, description="How many dropped targets are remembered for display; 0 is all."
    )
    scrape_protocols: Section[list[Protocol]] = Field(
        None,
        description=(
            "Formats to ask for, best first: OpenMetricsText1.0.0, OpenMetricsText0.0.1, "
            "PrometheusText1.0.0, PrometheusText0.0.4 (all four by default). PrometheusProto is "
            "not read here, and not asked for."
        ),
    )
    metric_name_validation_scheme: Text = Field(
        "",
        description=(
            "`legacy`: a metric or label name with other than letters, digits, `_` and `:` fails "
            "the scrape. `utf8`, the default, takes any."
        ),
    )
    scrape_failure_log_file: Annotated[Text, Use.ELSEWHERE] = Field(
        "", description="File of failed scrapes; here the journal has them."
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
    fallback_scrape_protocol: Fallback = Field(
        None,
        description=(
            "How a page without a usable Content-Type is read: PrometheusText0.0.4, "
            "OpenMetricsText1.0.0 ... Default PrometheusText0.0.4; with `strict` none, so that "
            "such a page fails, as in Prometheus."
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
    track_timestamps_staleness: Annotated[Flag, Use.ELSEWHERE] = Field(
        default=False, description="Staleness of series with timestamps; nothing is stored here."
    )
    always_scrape_classic_histograms: Annotated[Flag, Use.ELSEWHERE] = Field(
        default=False, description="Read classic histograms beside native ones."
    )
    convert_classic_histograms_to_nhcb: Annotated[Flag, Use.ELSEWHERE] = Field(
        default=False, description="Turn classic histograms into native ones."
    )
    native_histogram_bucket_limit: Annotated[Count, Use.ELSEWHERE] = Field(
        0, description="Most buckets of a native histogram."
    )
    native_histogram_min_bucket_factor: Annotated[Real, Use.ELSEWHERE] = Field(
        0.0, description="Least growth from bucket to bucket of a native histogram."
    )
    metric_name_escaping_scheme: Annotated[Text, Use.ELSEWHERE] = Field(
        "", description="How names beyond ASCII are asked for."
    )


class PrometheusFile(Model):
    """The whole file."""

    global_: Section[Global] = Field(
        None, alias="global", description="What holds for every job that does not say otherwise."
    )
    scrape_configs: Listed[ScrapeConfig] = Field([], description="The jobs.")
    scrape_config_files: Listed[FileText] = Field(
        [],
        description=(
            "Further files that hold scrape_configs; the last part of a path may hold a star. A "
            "relative path begins at the directory of this file."
        ),
    )
    runtime: Annotated[Free, Use.ELSEWHERE] = Field(None, description="Prometheus' runtime.")
    alerting: Annotated[Free, Use.ELSEWHERE] = Field(None, description="Alertmanagers.")
    rule_files: Annotated[Free, Use.ELSEWHERE] = Field(None, description="Files of rules.")
    storage: Annotated[Free, Use.ELSEWHERE] = Field(None, description="Prometheus' storage.")
    tracing: Annotated[Free, Use.ELSEWHERE] = Field(None, description="Prometheus' traces.")
    remote_write: Annotated[Free, Use.ELSEWHERE] = Field(None, description="Remote storage.")
    remote_read: Annotated[Free, Use.ELSEWHERE] = Field(None, description="Remote storage.")
    otlp: Annotated[Free, Use.ELSEWHERE] = Field(None, description="Reception of OTLP.")


class FurtherFile(Model):
    """A file that ``scrape_config_files`` names."""

    scrape_configs: Listed[ScrapeConfig] = Field([], description="The jobs.")
