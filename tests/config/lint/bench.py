"""Configuration as text, and what the rules say about it."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from cwgpu.config import complaint, document
from cwgpu.config.complaint import Complaint
from cwgpu.config.document import Form
from cwgpu.config.lint import judge
from cwgpu.config.where import Found

HERE = Path("/etc/cwgpu")
Json: TypeAlias = dict[str, Any]
UTIL = "^DCGM_FI_DEV_GPU_UTIL$"


def jobs(text: str) -> Found:
    """Read scrape jobs."""
    read = document.read(text.encode(), "jobs.yaml", Form.YAML)
    assert read.complaints == ()
    return Found(read.root, (), HERE)


def agent(value: Mapping[str, Any]) -> Found:
    """Read an agent's file, indented as one writes it."""
    read = document.read(json.dumps(value, indent=2).encode(), "agent.json", Form.JSON)
    assert read.complaints == ()
    return Found(read.root, (), HERE)


def declaring(*declarations: Mapping[str, Any], **cwgpu: Any) -> Found:  # noqa: ANN401 - JSON
    """Read an agent's file with these declarations, and this in the object ``cwgpu``."""
    processor = {"metric_declaration": declarations}
    prometheus = {"cluster_name": "lab", "emf_processor": processor}
    own = {"cwgpu": cwgpu} if cwgpu else {}
    return agent({"logs": {"metrics_collected": {"prometheus": prometheus}}, **own})


def declaration(
    *dimensions: Sequence[str],
    source: Sequence[str] = ("job",),
    matcher: str = ".*",
    selectors: Sequence[str] = (UTIL,),
) -> Json:
    """Write a declaration."""
    return {
        "source_labels": list(source),
        "label_matcher": matcher,
        "dimensions": [list(names) for names in dimensions or (["ClusterName"],)],
        "metric_selectors": list(selectors),
    }


def said(agent: Found | None = None, jobs: Found | None = None) -> list[Complaint]:
    """Give what the rules say, in the order of places."""
    return list(complaint.ordered(judge.complaints(agent, jobs)))


def codes(agent: Found | None = None, jobs: Found | None = None) -> list[str]:
    """Give the codes alone."""
    return [each.code for each in said(agent, jobs)]


def excerpt(each: Complaint) -> str:
    """Give what a complaint points at."""
    start = each.column - 1
    return each.excerpt[start : start + each.width]


def rule(role: str, **keys: Any) -> Found:  # noqa: ANN401 - whatever a rule may hold
    """Read a job for Kubernetes objects of a role, with one rule."""
    job = {
        "job_name": "gpu",
        "kubernetes_sd_configs": [{"role": role}],
        "relabel_configs": [keys],
    }
    return jobs(json.dumps({"scrape_configs": [job]}))
