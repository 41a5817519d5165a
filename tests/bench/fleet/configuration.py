"""What the agent under test is configured with: a CloudWatch agent's JSON and a prometheus.yml.

As they are shipped, but for the metrics, which are all selected, and for the targets, which stand
in a file. Another agent that reads these forms can be measured with the same files.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.bench.fleet import page, verify

FLUSH_S = 5
"""As shipped."""
MINUTE_S = 60


@dataclass(frozen=True, slots=True)
class Files:
    """The files, all in one folder."""

    config: Path
    prometheus: Path
    targets: Path


def write(
    folder: Path, addresses: Sequence[str], interval_s: float, document: Mapping[str, Any]
) -> Files:
    """Write the files; ``addresses`` are HOST:PORT, in the order of targets.

    ``document`` is the agent's, but for where its prometheus.yml is.
    """
    files = Files(folder / "cwagent.json", folder / "prometheus.yml", folder / "targets.json")
    groups = [
        {
            "targets": [address],
            "labels": {
                "Service": page.SERVICE,
                "Namespace": page.NAMESPACE,
                "NodeName": page.node(target),
            },
        }
        for target, address in enumerate(addresses)
    ]
    every = f"{round(interval_s * 1000)}ms"
    job = {
        "job_name": page.JOB,
        "scrape_interval": every,
        "scrape_timeout": every,
        "honor_labels": True,
        "file_sd_configs": [{"files": [str(files.targets)]}],
    }
    files.targets.write_text(json.dumps(groups), "utf-8")
    # JSON is YAML.
    files.prometheus.write_text(json.dumps({"scrape_configs": [job]}, indent=1), "utf-8")
    collected = document["logs"]["metrics_collected"]["prometheus"]
    collected["prometheus_config_path"] = str(files.prometheus)
    files.config.write_text(json.dumps(document, indent=1), "utf-8")
    return files


def document(mode: str, emit: str, environ: Mapping[str, str]) -> dict[str, Any]:
    """Give the agent's JSON; ``environ`` says where CloudWatch Logs is, as the AWS SDKs read it."""
    events: dict[str, Any] = {"group_by": mode, "emit": emit}
    events["labels"] = "all" if mode == "labels" else ["NodeName"]
    declaration = {
        "source_labels": ["Service"],
        "label_matcher": ".*dcgm.*",
        "dimensions": verify.SETS,
        "metric_selectors": ["^DCGM_"],
    }
    collected = {
        "cluster_name": page.CLUSTER,
        "emf_processor": {
            "metric_namespace": verify.CLOUDWATCH_NAMESPACE,
            "metric_declaration": [declaration],
        },
    }
    logs = {
        "metrics_collected": {"prometheus": collected},
        "force_flush_interval": FLUSH_S,
        "endpoint_override": environ["AWS_ENDPOINT_URL_CLOUDWATCH_LOGS"],
    }
    agent = {"region": environ["AWS_DEFAULT_REGION"]}
    return {"agent": agent, "logs": logs, "cwgpu": {"events": events}}
