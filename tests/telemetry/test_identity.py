"""Which metrics an event feeds."""

import orjson
import pytest

from cwgpu.telemetry import identity


def emf(*directives: dict[str, object], **root: object) -> bytes:
    """Write an event."""
    return orjson.dumps({"_aws": {"Timestamp": 1, "CloudWatchMetrics": directives}, **root})


def directive(sets: list[list[str]], *names: str, namespace: str = "N") -> dict[str, object]:
    """Write a directive."""
    return {
        "Namespace": namespace,
        "Dimensions": sets,
        "Metrics": [{"Name": name} for name in names],
    }


def test_each_set_and_name_is_a_metric() -> None:
    """Every dimension set of a directive makes a metric of every name in it."""
    event = emf(directive([["pod", "gpu"], []], "A", "B"), pod="p", gpu="0", A=1, B=2)
    assert list(identity.metrics(event)) == [
        ("N", (("gpu", "0"), ("pod", "p")), "A"),
        ("N", (("gpu", "0"), ("pod", "p")), "B"),
        ("N", (), "A"),
        ("N", (), "B"),
    ]


def test_directives_are_independent() -> None:
    """Two directives, two namespaces."""
    event = emf(directive([[]], "A"), directive([[]], "A", namespace="M"), A=1)
    assert list(identity.metrics(event)) == [("N", (), "A"), ("M", (), "A")]


@pytest.mark.parametrize("event", [b'{"A":1}', b'{"_aws":{"Timestamp":1}}', emf(A=1)])
def test_plain_log_events_feed_none(event: bytes) -> None:
    """An event without directives is no metric."""
    assert list(identity.metrics(event)) == []
