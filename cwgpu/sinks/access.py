"""How CloudWatch Logs is reached; what is None is left to the SDK's own environment."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Access:
    """Region, role, endpoint and patience."""

    region: str | None = None
    """None: AWS_REGION, AWS_DEFAULT_REGION, the profile, or the instance we run on."""
    role_arn: str | None = None
    """A role to take on, with the credentials that are found."""
    endpoint_url: str | None = None
    """Of CloudWatch Logs alone; the role is asked for at its usual place."""
    connect_timeout_s: float = 5.0
    """A region is at most a third of a second away; more is an outage, and a retry is cheap."""
    read_timeout_s: float = 30.0
    """Generous, because a call given up too early may have been accepted and then counts twice."""
