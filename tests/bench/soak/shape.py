"""How large a soak is, how fast things change in it, and the configuration of its agent."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Shape:
    """Sizes and paces. The usual ones leave a machine of two cores mostly idle."""

    targets: int = 60
    """That answer well; 25 samples of each of their four GPUs."""
    slow: int = 4
    """More that answer too late, every second of them byte by byte."""
    dead: int = 4
    """More that accept and never answer, or refuse, by turns."""
    interval_s: float = 5.0
    timeout_s: float = 3.0
    minute_s: float = 60.0
    """What is said to happen in a minute happens in this time."""
    refusals: int = 5
    """Calls in a row that CloudWatch does not take; after three the agent takes it to be away."""
    flush_s: int = 5
    look_s: float = 10.0
    """Between two looks at the agent."""

    @property
    def pod_s(self) -> float:
        """How long a pod lives: so 10 % of all series have another name after a minute."""
        return 10 * self.minute_s

    @property
    def late_s(self) -> float:
        """How long a late exporter takes to answer."""
        return 1.5 * self.timeout_s


def configuration(shape: Shape, targets: Path, *, turned: bool) -> dict[str, Any]:
    """Give a CloudWatch agent's JSON that scrapes the targets of this file.

    ``turned``: with the other form of events, an event of each GPU at each scrape in place of a
    minute's values by dimensions.
    """
    job = {
        "job_name": "gpus",
        "scrape_interval": _duration(shape.interval_s),
        "scrape_timeout": _duration(shape.timeout_s),
        "file_sd_configs": [{"files": [str(targets)]}],
    }
    declaration = {
        "source_labels": ["Service"],
        "label_matcher": "dcgm",
        "dimensions": [["Service", "pod"], ["Service"]],
        "metric_selectors": ["^DCGM_", "^up$"],
    }
    prometheus = {
        "cluster_name": "soak",
        "emf_processor": {"metric_declaration": [declaration]},
    }
    by_dimensions = {"group_by": "dimensions", "emit": "60s"}
    by_labels = {"group_by": "labels", "emit": "scrape"}
    return {
        "logs": {
            "metrics_collected": {"prometheus": prometheus},
            "force_flush_interval": shape.flush_s,
        },
        "cwgpu": {
            "scrape_configs": [job],
            "events": by_labels if turned else by_dimensions,
            "report_series": True,
        },
    }


def _duration(seconds: float) -> str:
    return f"{round(seconds * 1000)}ms"
