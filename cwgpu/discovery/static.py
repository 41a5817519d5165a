"""Target groups that stand in the configuration itself.

https://prometheus.io/docs/prometheus/latest/configuration/configuration/#static_config
"""

import dataclasses
from collections.abc import Iterator

from cwgpu.model.target import TargetGroup
from cwgpu.plan.plan import Job


def groups(job: Job) -> Iterator[TargetGroup]:
    """Give the job's static groups, each with its place as its source: ``static/0`` ..."""
    for index, group in enumerate(job.static):
        yield dataclasses.replace(group, source=f"static/{index}")
