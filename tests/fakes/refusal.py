"""An AWS error answer of the JSON 1.1 protocol.

https://smithy.io/2.0/aws/protocols/aws-json-1_1-protocol.html#operation-error-serialization
"""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Refusal:
    """What the service says instead of doing it."""

    code: str
    message: str
    status: int = 400
    headers: Mapping[str, str] = field(default_factory=dict)


class Refused(Exception):  # noqa: N818 - it is the service's answer, not our error
    """Carries a Refusal to where answers are written."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.refusal = Refusal(code, message)
