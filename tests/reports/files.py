"""Configuration files as people write them, and what comes of them."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cwgpu.config import load, review
from cwgpu.config.complaint import Complaint, InvalidError
from cwgpu.plan.plan import Plan

Json = dict[str, Any]

JOB: Json = {"job_name": "dcgm", "static_configs": [{"targets": ["10.0.0.1:9400"]}]}
UTIL = "^DCGM_FI_DEV_GPU_UTIL$"


def declaration(**keys: object) -> Json:
    """Write a declaration for everything of the job."""
    usual = {"source_labels": ["job"], "dimensions": [["job"]], "metric_selectors": [UTIL]}
    return {**usual, **keys}


def agent(*declarations: Json, own: Json | None = None, **prometheus: object) -> Json:
    """Write the agent's file; ``prometheus`` holds keys of that section."""
    processor = {"metric_declaration": list(declarations or (declaration(),))}
    section = {"cluster_name": "lab", "emf_processor": processor, **prometheus}
    return {"logs": {"metrics_collected": {"prometheus": section}}, "cwgpu": own or {}}


@dataclass(frozen=True)
class Files:
    """Where they are."""

    agent: Path
    jobs: Path
    environ: Mapping[str, str]

    def plan(self) -> Plan:
        """Load them, as at start; they must be right."""
        return load.load(self.agent, self.jobs, self.environ).plan

    def refused(self) -> tuple[Complaint, ...]:
        """Load them; gives why that is not possible."""
        try:
            load.load(self.agent, self.jobs, self.environ)
        except InvalidError as error:
            return error.complaints
        raise AssertionError("nothing was complained about")

    def check(self) -> tuple[Complaint, ...]:
        """Give what ``cwgpu check`` says."""
        return review.review([self.agent, self.jobs], self.environ)

    def said(self, code: str) -> Complaint:
        """Give the one complaint of this code that ``cwgpu check`` makes."""
        (found,) = [each for each in self.check() if each.code == code]
        return found


def write(
    folder: Path,
    agent: Json | str,
    *jobs: Json,
    text: str = "",
    environ: Mapping[str, str] | None = None,
    others: Json | None = None,
) -> Files:
    """Write both; ``text`` is the whole prometheus.yml, ``others`` its other sections."""
    files = Files(folder / "cwagent.json", folder / "prometheus.yml", environ or {})
    files.agent.write_text(agent if isinstance(agent, str) else json.dumps(agent, indent=1))
    document: Sequence[Json] = jobs or (JOB,)
    files.jobs.write_text(text or json.dumps({**(others or {}), "scrape_configs": document}))
    return files
