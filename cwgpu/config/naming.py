"""What the cluster is called, and who needs to know."""

import enum
from collections.abc import Collection, Mapping

from cwgpu.config.agent import AgentFile
from cwgpu.config.metrics import PROMETHEUS, prometheus_of
from cwgpu.config.report import Report
from cwgpu.plan.plan import Emf, Job, Plan
from cwgpu.prom.relabel import Action

VARIABLES = ("K8S_CLUSTER_NAME", "CLUSTER_NAME")
"""Where the environment tells it, the first before the second."""

TASK_VARIABLES = ("ECS_CONTAINER_METADATA_URI_V4", "ECS_CONTAINER_METADATA_URI")
"""Where a task of Amazon ECS finds its metadata, and no other process does.
https://docs.aws.amazon.com/AmazonECS/latest/developerguide/task-metadata-endpoint.html"""

_LABEL, _PLACEHOLDER = "ClusterName", "{ClusterName}"


class Platform(enum.Enum):
    """What the CloudWatch agent's defaults depend on: a namespace, and the parts of a log group."""

    HOST = ("CWAgent/Prometheus", "/aws/containerinsights")
    CLUSTER = ("ContainerInsights/Prometheus", "/aws/containerinsights")
    TASK = ("ECS/ContainerInsights/Prometheus", "/aws/ecs/containerinsights")

    @property
    def namespace(self) -> str:
        """Of metrics, where none is written."""
        return self.value[0]

    def log_group(self, cluster: str) -> str:
        """Give the log group, where none is written."""
        return f"{self.value[1]}/{cluster}/prometheus"


def cluster_name(written: AgentFile, environ: Mapping[str, str]) -> str:
    """Find the cluster's name; empty when nobody tells it."""
    collected = written.logs.metrics_collected if written.logs else None
    kubernetes = collected.kubernetes if collected else None
    candidates = (
        prometheus_of(written).cluster_name,
        kubernetes.cluster_name if kubernetes else None,
        *(environ.get(name) for name in VARIABLES),
    )
    return next((each for each in candidates if each), "")


def check_text(cluster: str, report: Report) -> None:
    """Refuse a name that came from the environment as bytes which are no text."""
    try:
        cluster.encode()
    except UnicodeEncodeError:
        message = f"the cluster's name in the environment is not valid UTF-8: {cluster!a}"
        advice = f"set {' or '.join(VARIABLES)} to a name in UTF-8, or write cluster_name"
        report.error((*PROMETHEUS, "cluster_name"), "wrong-value", message, advice)


def in_task(environ: Mapping[str, str]) -> bool:
    """Tell whether this is a task of Amazon ECS, whose agent sets these in every container."""
    return any(environ.get(name) for name in TASK_VARIABLES)


def platform(cluster: str, environ: Mapping[str, str]) -> Platform:
    """Tell for which platform the defaults are.

    The CloudWatch agent's image sets RUN_IN_CONTAINER; Kubernetes sets the other in every pod.
    """
    if in_task(environ):
        return Platform.TASK
    contained = environ.get("RUN_IN_CONTAINER") == "True"
    contained = contained or bool(environ.get("KUBERNETES_SERVICE_HOST")) or bool(cluster)
    return Platform.CLUSTER if contained else Platform.HOST


def is_missing(plan: Plan) -> bool:
    """Tell whether nobody told the name, and something is to be made of it."""
    if plan.emf.cluster_name:
        return False
    group, stream = plan.cloudwatch.log_group, plan.cloudwatch.log_stream
    return not group or _PLACEHOLDER in group + stream or _wants(plan.emf)


def check(emf: Emf, jobs: Collection[Job], report: Report) -> None:
    """Warn of a dimension that no series will have."""
    if not emf.cluster_name and _wants(emf) and not any(map(_may_give, jobs)):
        message = "the cluster's name is not known, and declarations name the label ClusterName"
        advice = f'write "cluster_name", or set {" or ".join(VARIABLES)} in the environment'
        report.warning((*PROMETHEUS, "cluster_name"), "no-cluster-name", message, advice)


def _wants(emf: Emf) -> bool:
    return any(
        _LABEL in (*each.source_labels, *(name for names in each.dimension_sets for name in names))
        for each in emf.declarations
    )


def _may_give(job: Job) -> bool:
    """Tell whether targets of the job may have the label by themselves."""
    rules = (*job.relabel, *job.metric_relabel)
    return (
        bool(job.files or job.http)
        or any(_LABEL in group.labels for group in job.static)
        or any(rule.target_label == _LABEL or rule.action is Action.LABEL_MAP for rule in rules)
    )
