"""What the CloudWatch agent's JSON may hold, as far as Prometheus metrics go.

Everything that the agent knows on this path keeps its place and meaning; its other sections are
known by name only.
https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/ContainerInsights-Prometheus-Setup-configure.html
"""

from typing import Annotated

from pydantic import ConfigDict, Field

from cwgpu.config.field import Bool, FileString, Free, String, Whole
from cwgpu.config.own import Own
from cwgpu.config.shape import Model, Use

Elsewhere = Annotated[Free, Use.ELSEWHERE]

# The bounds are those of the agent's JSON schema, translator/config/schema.json.
_REGION_MAX = 64
_ARN_MIN, _ARN_MAX = 20, 2048
_ENDPOINT_MIN, _ENDPOINT_MAX = 4, 2048
_INTERVAL_MAX = 172_800


class Credentials(Model):
    """``credentials`` of the agent or of its logs."""

    role_arn: String | None = Field(
        None,
        min_length=_ARN_MIN,
        max_length=_ARN_MAX,
        description="ARN of the IAM role to assume; the one under `logs` wins.",
    )


class Agent(Model):
    """The section ``agent``."""

    region: String | None = Field(
        None,
        min_length=1,
        max_length=_REGION_MAX,
        description="AWS region. Default: AWS_REGION, the profile, or the instance's own.",
    )
    credentials: Credentials | None = Field(None, description="Whose rights are used.")
    metrics_collection_interval: Elsewhere = Field(
        None, description="No effect on scraping, here as in the agent: see scrape_interval."
    )
    debug: Elsewhere = Field(None, description="The agent's log level.")
    quiet: Elsewhere = Field(None, description="The agent's log level.")
    logfile: Elsewhere = Field(None, description="The agent's log file.")
    aws_sdk_log_level: Elsewhere = Field(None, description="Log level of the agent's AWS SDK.")
    user_agent: Elsewhere = Field(None, description="User-Agent of the agent's requests.")
    run_as_user: Elsewhere = Field(None, description="User that the agent runs as.")
    omit_hostname: Elsewhere = Field(None, description="cwgpu never adds a label `host`.")
    internal: Elsewhere = Field(None, description="The agent's own switch.")
    mode: Elsewhere = Field(None, description="Where the agent runs.")
    usage_data: Elsewhere = Field(None, description="The agent's usage data.")
    use_dualstack_endpoint: Elsewhere = Field(None, description="AWS_USE_DUALSTACK_ENDPOINT.")
    service_name: Elsewhere = Field(None, alias="service.name", description="Entity name.")
    deployment_environment: Elsewhere = Field(
        None, alias="deployment.environment", description="Entity environment."
    )


class Declaration(Model):
    """One entry of ``metric_declaration``: which metrics are sent, with which dimensions."""

    source_labels: list[String] | None = Field(
        None,
        description="Labels whose values are joined and compared; without them it does nothing.",
    )
    label_matcher: String = Field(
        ".*", description="RE2, matches anywhere in the joined values. Default `.*`."
    )
    label_separator: String = Field(
        ";", description="What stands between the joined values. Default `;`."
    )
    metric_selectors: list[String] | None = Field(
        None,
        description="RE2 each, matches anywhere in the name; without them it does nothing.",
    )
    dimensions: list[list[String]] | None = Field(
        None,
        description=(
            "Dimension sets: lists of label names. A set is left out of a sample that lacks one "
            "of its labels. At most 30 names each."
        ),
    )


class EmfProcessor(Model):
    """``emf_processor``: from samples to CloudWatch metrics."""

    metric_namespace: String | None = Field(
        None,
        description=(
            "CloudWatch namespace. Default ContainerInsights/Prometheus in a container or where a "
            "cluster is known, else CWAgent/Prometheus."
        ),
    )
    metric_unit: dict[str, String] = Field({}, description="Metric name to CloudWatch unit.")
    metric_declaration_dedup: Bool = Field(
        default=True,
        description=(
            "false: a metric that several declarations select is sent once for each. Default true."
        ),
    )
    metric_declaration: list[Declaration] = Field(
        [], description="Which metrics are sent, and how."
    )


class Prometheus(Model):
    """``logs.metrics_collected.prometheus``."""

    cluster_name: String | None = Field(
        None,
        description=(
            "Value of the label ClusterName. Default: logs.metrics_collected.kubernetes."
            "cluster_name, then the environment's K8S_CLUSTER_NAME and CLUSTER_NAME, then the tags "
            "of the EC2 instance, or the metadata of the ECS task."
        ),
    )
    log_group_name: String | None = Field(
        None,
        description=(
            "Log group, with placeholders such as `{ClusterName}`. Default "
            "`/aws/containerinsights/CLUSTER/prometheus`."
        ),
    )
    prometheus_config_path: FileString | None = Field(
        None,
        description=(
            "File of the scrape jobs: a path, `file:PATH`, or `env:NAME` for the content of a "
            "variable. Default /etc/cwagentconfig/prometheus.yaml."
        ),
    )
    disable_metric_extraction: Bool = Field(
        default=False, description="true: everything is logged, nothing becomes a metric."
    )
    ecs_service_discovery: Elsewhere = Field(None, description="Targets on Amazon ECS.")
    emf_processor: EmfProcessor | None = Field(
        None, description="From samples to CloudWatch metrics."
    )


class Kubernetes(Model):
    """``logs.metrics_collected.kubernetes``: Container Insights, of which one key matters."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    cluster_name: String | None = Field(None, description="Where prometheus.cluster_name is not.")


class MetricsCollected(Model):
    """``logs.metrics_collected``."""

    prometheus: Prometheus | None = Field(None, description="Prometheus metrics: what we do.")
    kubernetes: Kubernetes | None = Field(None, description="Container Insights.")
    ecs: Elsewhere = Field(None, description="Container Insights on Amazon ECS.")
    emf: Elsewhere = Field(None, description="The agent's EMF listener.")
    structuredlog: Elsewhere = Field(None, description="Old name of `emf`.")
    app_signals: Elsewhere = Field(None, description="Application Signals.")
    application_signals: Elsewhere = Field(None, description="Application Signals.")
    otlp: Elsewhere = Field(None, description="The agent's OTLP listener.")


class Logs(Model):
    """The section ``logs``."""

    metrics_collected: MetricsCollected | None = Field(None, description="Metrics sent as logs.")
    force_flush_interval: Whole = Field(
        5,
        ge=1,
        le=_INTERVAL_MAX,
        description="Seconds after which held events are sent. Default 5.",
    )
    endpoint_override: String | None = Field(
        None,
        min_length=_ENDPOINT_MIN,
        max_length=_ENDPOINT_MAX,
        description="Endpoint of CloudWatch Logs. Default: the region's.",
    )
    credentials: Credentials | None = Field(None, description="Whose rights are used.")
    logs_collected: Elsewhere = Field(None, description="Log files.")
    log_stream_name: Elsewhere = Field(
        None, description="No effect on Prometheus metrics: see cwgpu.log_stream_name."
    )
    concurrency: Elsewhere = Field(None, description="Of the agent's log files.")
    service_name: Elsewhere = Field(None, alias="service.name", description="Entity name.")
    deployment_environment: Elsewhere = Field(
        None, alias="deployment.environment", description="Entity environment."
    )


class AgentFile(Model):
    """The whole file."""

    agent: Agent | None = Field(None, description="What holds for everything.")
    logs: Logs | None = Field(None, description="What goes to CloudWatch Logs.")
    cwgpu: Own | None = Field(None, description="What only cwgpu reads.")
    metrics: Elsewhere = Field(None, description="Host metrics.")
    traces: Elsewhere = Field(None, description="Traces.")
    opentelemetry: Elsewhere = Field(None, description="OpenTelemetry.")
    csm: Elsewhere = Field(None, description="SDK metrics.")
    schema_: Free = Field(None, alias="$schema", description="For editors.")
