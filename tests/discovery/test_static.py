"""Target groups of the configuration itself."""

from cwgpu.discovery import static
from cwgpu.model.target import TargetGroup
from cwgpu.plan.plan import Job


def test_each_group_has_its_place_as_its_source() -> None:
    """Groups come as they are, under names by which a later one replaces them."""
    here = TargetGroup("", ({"__address__": "10.0.0.1:9400"},), {"Service": "dcgm-exporter"})
    there = TargetGroup("x", ({"__address__": "10.0.0.2:9400"},), {})
    job = Job(name="dcgm", interval_s=60.0, timeout_s=10.0, static=(here, there))
    first, second = static.groups(job)
    assert (first.source, first.targets, first.labels) == ("static/0", here.targets, here.labels)
    assert (second.source, second.targets, second.labels) == ("static/1", there.targets, {})


def test_a_job_without_static_groups_has_none() -> None:
    """No group is no group, not an empty one."""
    assert list(static.groups(Job(name="dcgm", interval_s=60.0, timeout_s=10.0))) == []
