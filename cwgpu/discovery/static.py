"""Target groups that stand in the configuration itself.

https://prometheus.io/docs/prometheus/latest/configuration/configuration/#static_config
"""

import dataclasses
from collections.abc import Iterator

from cwgpu.model.target import TargetGroup
from cwgpu.plan.plan import Job


def notes(job: Job) -> Iterator[str]:
    """Say why static targets are missing where nothing is wrong."""
    for name in job.unset:
        yield (
            f"{name} is not set, so static_configs make no target of it: set it to the exporter's "
            f"address, such as {name}=127.0.0.1:9400 before the command"
        )


def groups(job: Job) -> Iterator[TargetGroup]:
    """Give the job's static groups, each with its place as its source: ``static/0`` ..."""
    for index, group in enumerate(job.static):
        yield dataclasses.replace(group, source=f"static/{index}")
