"""What is ours in the configuration: the top-level object ``cwgpu``.

The CloudWatch agent ignores it, so that one file serves both.
"""

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from cwgpu.config import dcgm as dcgms
from cwgpu.config.dcgm import Dcgm
from cwgpu.config.events import Events
from cwgpu.config.field import Bool, Bytes, Duration, FileString, String, Whole, as_string
from cwgpu.config.prometheus import ScrapeConfig
from cwgpu.config.shape import Model

Treatment = Annotated[Literal["delta", "rate", "absolute"], BeforeValidator(as_string)]


class Lease(Model):
    """``ha.lease``."""

    name: String = Field("", description="Its name; agents of one name contend for it. Required.")
    namespace: String = Field("", description="Where it is. Default: the pod's own namespace.")
    duration: Duration = Field(
        15_000,
        description=(
            "An agent that stands by takes over when the lease was left alone for this long. "
            "Default 15s; an hour at most."
        ),
    )
    renew_deadline: Duration = Field(
        10_000,
        description=(
            "The agent that scrapes stops when it could not renew the lease for this long. Less "
            "than duration. Default 10s."
        ),
    )
    retry_period: Duration = Field(
        2_000, description="How often the lease is renewed or looked at. Default 2s."
    )


class Ha(Model):
    """``ha``."""

    lease: Lease | None = Field(
        None,
        description=(
            "Of several agents that name the same Lease (coordination.k8s.io), one scrapes and "
            "the others stand by."
        ),
    )


class ShardLease(Model):
    """``shard.lease``."""

    name: String = Field("", description="Its name; the shards of one name share. Required.")
    namespace: String = Field("", description="Where it is. Default: the pod's own namespace.")


class Shard(Model):
    """``shard``."""

    count: Whole = Field(0, ge=1, description="How many agents share the targets. Required.")
    index: Whole | None = Field(
        None,
        ge=0,
        description=(
            "Which of them this is, from 0. Default: the number at the end of the pod's name, as "
            "a StatefulSet gives it; the name is that of POD_NAME or HOSTNAME in the environment."
        ),
    )
    lease: ShardLease | None = Field(
        None,
        description=(
            "A Lease (coordination.k8s.io) in which shard 0 writes its count, and by which all "
            "of them go whatever their own: so that they change it together."
        ),
    )


class Spool(Model):
    """``spool``."""

    dir: FileString | None = Field(
        None,
        min_length=1,
        description=(
            "Directory that batches are written to; one agent's alone. A relative path begins at "
            "the directory of the JSON. Without it everything waits in memory."
        ),
    )
    mode: Annotated[Literal["always", "on_failure", "off"], BeforeValidator(as_string)] = Field(
        "always",
        description=(
            "When batches are written: `always`, before they are sent, so that even kill -9 loses "
            "nothing that was rendered; `on_failure`, when they could not be sent at once, and at "
            "the end; or `off`. Default always."
        ),
    )
    max_bytes: Bytes = Field(
        256 << 20,
        description=(
            "How much may wait, compressed: bytes, or a size such as `256MiB`. Beyond it the "
            "oldest batches go. Default 256MiB; 4MiB at least."
        ),
    )
    max_age: Duration = Field(
        86_400_000,
        description="Events that waited for longer go. Default 24h; 1m at least, 13d at most.",
    )


class Budget(Model):
    """``budget``."""

    metrics: Whole = Field(
        0,
        ge=1,
        description="How many custom metrics there should be in an hour, at most. Required.",
    )
    action: Annotated[Literal["warn", "drop"], BeforeValidator(as_string)] = Field(
        "warn",
        description=(
            "What happens beyond it: `warn` says so in the journal; `drop` lets no metric in that "
            "is not there yet, and counts its samples as `over_budget`. Default warn."
        ),
    )


class Own(Model):
    """The object ``cwgpu``."""

    scrape_configs: list[ScrapeConfig] | None = Field(
        None,
        description=(
            "Jobs, written as in prometheus.yml, so that one file is enough. Excludes "
            "`prometheus_config_path`."
        ),
    )
    report_series: Bool = Field(
        default=False,
        description=(
            "true: `up`, `scrape_duration_seconds`, `scrape_samples_scraped`, "
            "`scrape_samples_post_metric_relabeling` and `scrape_series_added` are series of each "
            "target, which declarations may select. Default false."
        ),
    )
    meta_env: list[String] = Field(
        [],
        description=(
            "Variables of the agent's environment that targets of kubernetes_sd_configs get as "
            "labels `__meta_cwgpu_env_<NAME>`, for relabel_configs to compare with."
        ),
    )
    ha: Ha | None = Field(None, description="A second agent that stands by.")
    shard: Shard | None = Field(
        None,
        description=(
            "Each agent scrapes a part of the targets: those whose address has this agent's index "
            "as hashmod. Excludes `ha.lease`."
        ),
    )
    unselected: Annotated[Literal["drop", "log"], BeforeValidator(as_string)] = Field(
        "drop",
        description=(
            "What becomes of samples that no metric_declaration selects: `drop`, or `log` to send "
            "them as plain log fields, as the CloudWatch agent does. Default drop."
        ),
    )
    untyped: Annotated[Literal["drop", "gauge"], BeforeValidator(as_string)] = Field(
        "drop",
        description="What becomes of metrics without a type: `drop` or `gauge`. Default drop.",
    )
    log_stream_name: String | None = Field(
        None,
        description=(
            "Name of the log stream, with the placeholders of log_group_name. Default "
            "`{JobName}`: the label `job`, or `default` where there is none."
        ),
    )
    log_retention_days: Whole | None = Field(
        None,
        description=(
            "How long CloudWatch keeps events, for log groups that cwgpu creates; one of AWS' "
            "values. Default: for ever."
        ),
    )
    budget: Budget | None = Field(
        None,
        description=(
            "How many custom metrics there should be: each combination of namespace, name and "
            "dimensions' values that had a value within the last hour is one, which CloudWatch "
            "bills. Each agent counts its own."
        ),
    )
    spool: Spool | None = Field(
        None, description="How events wait that CloudWatch does not take yet."
    )
    shutdown_grace: Duration = Field(
        25_000,
        description=(
            "How long the agent may take to end. It sends for 5 seconds less; the rest is spooled, "
            "or lost without a spool. Less than the pod's terminationGracePeriodSeconds. Default "
            "25s; 6s at least, an hour at most."
        ),
    )
    events: Events = Field(
        Events(),
        description=(
            "How samples are packed into log events, which decides what they cost. CloudWatch "
            "makes the same metrics of them, however it is."
        ),
    )
    counters: dict[str, Treatment] = Field(
        {},
        description=(
            "Selector (RE2, matches anywhere in the name) to `delta`, `rate` (per second) or "
            "`absolute`. The first that matches decides; default delta."
        ),
    )
    storage_resolution: dict[str, Whole] = Field(
        {},
        description=(
            "Selector to 1 or 60, the seconds at which CloudWatch stores. The first that matches "
            "decides; default 60. 1 costs the same but needs scrapes more often than once a minute."
        ),
    )
    dcgm: Annotated[Dcgm, BeforeValidator(dcgms.switch)] = Field(
        Dcgm(),
        description=(
            "What is done for metrics whose names begin with DCGM_: true for labels, blanks, "
            "aliases and rates, false for nothing, or an object. Default true."
        ),
    )
