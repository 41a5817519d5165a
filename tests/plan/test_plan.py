"""What the plan says about a connection."""

from dataclasses import replace

import pytest

from cwgpu.plan.plan import CloudWatch

CLOUDWATCH = CloudWatch("/lab/gpu", "{JobName}", "eu-central-1", None, None)


@pytest.mark.parametrize(
    ("other", "same"),
    [
        (replace(CLOUDWATCH, log_group="/other", log_stream="x", retention_days=7), True),
        (replace(CLOUDWATCH, region="eu-west-1"), False),
        (replace(CLOUDWATCH, role_arn="arn:aws:iam::111122223333:role/gpu"), False),
        (replace(CLOUDWATCH, endpoint_url="https://logs.example.test"), False),
    ],
)
def test_a_connection_is_made_anew_only_for_another_access(other: CloudWatch, same: bool) -> None:  # noqa: FBT001 - a table's column
    """Region, role and endpoint are what a session is made of; where events go is not."""
    assert (other.access == CLOUDWATCH.access) is same
