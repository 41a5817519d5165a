"""An agent's file with a job of Kubernetes discoveries in it, and whatever else is ours."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cwgpu.config import document, load
from cwgpu.config.document import Form
from cwgpu.config.load import Examined
from cwgpu.config.where import Found

HERE = Path("/etc/gpu")
"""Where the file is, and relative names begin."""


def examined(
    *discoveries: Mapping[str, Any],
    environ: Mapping[str, str] | None = None,
    **own: Any,  # noqa: ANN401 - JSON
) -> Examined:
    """Examine an agent's file with one job of these discoveries."""
    job = {"job_name": "gpu", "kubernetes_sd_configs": discoveries}
    selects = {
        "source_labels": ["job"],
        "dimensions": [["job"]],
        "metric_selectors": [".*"],
    }
    prometheus = {"cluster_name": "lab", "emf_processor": {"metric_declaration": [selects]}}
    logs = {"metrics_collected": {"prometheus": prometheus}}
    text = json.dumps({"logs": logs, "cwgpu": {"scrape_configs": [job], **own}})
    read = document.read(text.encode(), "agent.json", Form.JSON)
    return load.translated(Found(read.root, read.complaints, HERE), None, environ or {})
