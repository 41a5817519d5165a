"""The two plans by which sample pages are read: the article's declaration, and everything."""

from dataclasses import replace

from cwgpu.digest.page import Page
from cwgpu.digest.recipe import Recipe
from cwgpu.emf.declare import declaration
from cwgpu.plan.plan import CloudWatch, Emf, Events, Job, Plan
from cwgpu.prom import regex

TARGET = {
    "job": "kubernetes-service-endpoints",
    "instance": "10.0.12.34:9400",
    "Service": "nvidia-dcgm-exporter",
    "Namespace": "gpu-operator",
}

ARTICLE_METRICS = (
    "DCGM_FI_DEV_GPU_UTIL",
    "DCGM_FI_DEV_DEC_UTIL",
    "DCGM_FI_DEV_ENC_UTIL",
    "DCGM_FI_DEV_MEM_CLOCK",
    "DCGM_FI_DEV_MEM_COPY_UTIL",
    "DCGM_FI_DEV_POWER_USAGE",
    "DCGM_FI_DEV_ROW_REMAP_FAILURE",
    "DCGM_FI_DEV_SM_CLOCK",
    "DCGM_FI_DEV_XID_ERRORS",
    "DCGM_FI_PROF_DRAM_ACTIVE",
    "DCGM_FI_PROF_GR_ENGINE_ACTIVE",
    "DCGM_FI_PROF_PCIE_RX_BYTES",
    "DCGM_FI_PROF_PCIE_TX_BYTES",
    "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE",
)
"""https://aws.amazon.com/blogs/machine-learning/enable-pod-based-gpu-metrics-in-amazon-cloudwatch/"""
ARTICLE_SET = ("Service", "Namespace", "ClusterName", "job", "pod")


def _plan(selectors: str, dimensions: tuple[str, ...]) -> Plan:
    one = declaration(
        ["Service"], regex.searching(".*dcgm.*"), regex.searching(selectors), [dimensions]
    )
    return Plan(
        jobs=(Job("dcgm", 15.0, 10.0),),
        emf=Emf("ContainerInsights/Prometheus", (one,), cluster_name="lab"),
        cloudwatch=CloudWatch("/aws/containerinsights/{ClusterName}/prometheus", "{JobName}"),
    )


PLANS = {
    "article": _plan("|".join(f"^{name}$" for name in ARTICLE_METRICS), ARTICLE_SET),
    "everything": _plan(".", ("ClusterName", "Service")),
}


def page(plan: str) -> Page:
    """A fresh page of the usual target, by the plan of this name."""
    return Page(Recipe(PLANS[plan], PLANS[plan].jobs[0]), TARGET)


def packed(plan: str, events: Events, interval_s: float) -> Plan:
    """The plan of this name, with its samples packed like this and scraped this often."""
    of = PLANS[plan]
    job = replace(of.jobs[0], interval_s=interval_s)
    return replace(of, jobs=(job,), emf=replace(of.emf, events=events))
