"""The CloudWatch Logs of a soak: counts what it takes and keeps nothing of it. See ``child``."""

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from tests.bench.soak import child
from tests.fakes import faults
from tests.fakes.cloudwatch import FakeCloudWatch
from tests.fakes.faults import Fault

Order: TypeAlias = Callable[..., dict[str, Any]]

FAULTS: Mapping[str, Fault] = {
    "throttled": faults.throttled(),
    "unavailable": faults.server_error(503),
    "reset": faults.Reset(),
}
"""In none of them anything is taken, so that what came can be compared with what was sent."""


class Service:
    """What may be asked of it."""

    def __init__(self, cloudwatch: FakeCloudWatch) -> None:
        self._cloudwatch = cloudwatch
        self._datapoints = 0
        self._answers: Counter[str] = Counter()

    def environ(self) -> dict[str, Any]:
        """Give the variables that lead an agent here."""
        return dict(self._cloudwatch.environ)

    def fail(self, *, fault: str, times: int) -> dict[str, Any]:
        """Let the next calls with events go wrong."""
        self._cloudwatch.fail(FAULTS[fault], action="PutLogEvents", times=times)
        return {}

    def count(self) -> dict[str, Any]:
        """Give what came since the start, and forget all but the numbers."""
        calls = self._cloudwatch.calls
        some = calls[: len(calls)]
        del calls[: len(some)]
        self._answers.update(f"{call.status} {call.code}".strip() for call in some)
        datapoints = self._cloudwatch.datapoints
        number = len(datapoints)
        del datapoints[:number]
        self._datapoints += number
        return {
            "events": self._cloudwatch.taken,
            "datapoints": self._datapoints,
            "emf_errors": len(self._cloudwatch.emf_errors),
            "answers": dict(self._answers),
        }


def main() -> None:
    """Serve until standard input ends."""
    with FakeCloudWatch(texts=False) as cloudwatch:
        service = Service(cloudwatch)
        orders: Mapping[str, Order] = {
            "environ": service.environ,
            "fail": service.fail,
            "count": service.count,
        }
        child.obey(lambda order, **given: orders[order](**given))


if __name__ == "__main__":
    main()
