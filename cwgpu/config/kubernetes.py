"""Kubernetes discoveries: from their models to the plan's.

``cwgpu.config.cluster`` says what they may ask for.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from cwgpu.config import access, cluster
from cwgpu.config import discovery as written
from cwgpu.config.node import Loc, short
from cwgpu.config.prometheus import ScrapeConfig
from cwgpu.config.report import Report
from cwgpu.config.targets import Setting
from cwgpu.plan import kubernetes as plan
from cwgpu.plan.plan import Job
from cwgpu.prom.kubernetes.role import Role

ENVIRONMENT = "__meta_cwgpu_env_"
"""Labels that begin so are variables of our own environment."""

_META_ENV: Loc = ("cwgpu", "meta_env")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_ROLES = frozenset(each.value for each in Role)


def discoveries(
    job: ScrapeConfig, setting: Setting, loc: Loc
) -> tuple[plan.KubernetesDiscovery, ...]:
    """Make the discoveries of ``kubernetes_sd_configs``; one without a role is left out."""
    made = []
    for index, each in enumerate(job.kubernetes_sd_configs):
        here = (*loc, "kubernetes_sd_configs", index)
        cluster.check(each, setting.report, here)
        _check_local(each, setting, here)
        if each.role in _ROLES:
            made.append(_discovery(each, setting))
    return tuple(made)


def _discovery(each: written.KubernetesDiscovery, setting: Setting) -> plan.KubernetesDiscovery:
    where = each.namespaces or written.Namespaces()
    return plan.KubernetesDiscovery(
        role=Role(each.role),
        server=_server(each, setting),
        namespaces=tuple(dict.fromkeys(where.names)),
        own_namespace=where.own_namespace,
        selectors={one.role: plan.Selector(one.label, one.field) for one in each.selectors},
        attach_node=each.attach_metadata is not None and each.attach_metadata.node,
        node_local=each.node_local,
    )


def _server(each: written.KubernetesDiscovery, setting: Setting) -> plan.Server:
    if each.api_server:
        return plan.Address(each.api_server, access.client(each, setting.directory))
    if each.kubeconfig_file:
        return plan.Kubeconfig(str(setting.directory / each.kubeconfig_file))
    return plan.InCluster()


def _check_local(each: written.KubernetesDiscovery, setting: Setting, loc: Loc) -> None:
    """``node_local`` is ours; a prometheus.yml stays one that Prometheus reads."""
    here, report = (*loc, "node_local"), setting.report
    if setting.environ is None:
        if "node_local" in each.model_fields_set:
            advice = "only jobs in cwgpu.scrape_configs of the agent's JSON may have it"
            report.refuse(here, "unknown-key", "Prometheus has no key node_local", advice)
    elif each.node_local and each.role != Role.POD.value:
        message = f"role {short(each.role)} finds nothing that is of one node"
        report.error(here, "wrong-value", message, "write role: pod, or leave node_local out")


def with_environment(
    jobs: Sequence[Job], names: Sequence[str], environ: Mapping[str, str], report: Report
) -> tuple[Job, ...]:
    """Give the targets of all Kubernetes discoveries the variables of ``cwgpu.meta_env``."""
    labels = {}
    for index, name in enumerate(names):
        if not _VARIABLE.fullmatch(name):
            message = f"{short(name)} is no name of a variable"
            report.error((*_META_ENV, index), "wrong-value", message, "such as NODE_NAME")
        elif name in environ:
            labels[ENVIRONMENT + name] = environ[name]
        else:
            message = f"{name} is not in the environment, so no target has {ENVIRONMENT}{name}"
            report.note((*_META_ENV, index), "variable-not-set", message)
    return tuple(
        replace(job, kubernetes=tuple(replace(each, environment=labels) for each in job.kubernetes))
        for job in jobs
    )
