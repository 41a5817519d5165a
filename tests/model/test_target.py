"""Targets."""

from dataclasses import replace

import pytest

from cwgpu.model.target import Target

TARGET = Target("gpu", "http://10.0.0.1:9400/metrics", {"job": "gpu", "a": "1"}, 60.0, 10.0)


@pytest.mark.parametrize(
    ("other", "same"),
    [
        (replace(TARGET, labels={"a": "1", "job": "gpu", "b": ""}), True),
        (replace(TARGET, interval_s=15.0, timeout_s=5.0), True),
        (replace(TARGET, labels={"job": "gpu"}), False),
        (replace(TARGET, url="http://10.0.0.1:9401/metrics"), False),
        (replace(TARGET, job="other"), False),
    ],
)
def test_targets_of_one_job_url_and_labels_are_one(other: Target, same: bool) -> None:  # noqa: FBT001 - a table's column
    """How often a target is scraped does not make it another one."""
    assert (other.identity == TARGET.identity) is same
