"""How many custom metrics there may be."""

from typing import Any

import pytest

from cwgpu.plan.plan import Budget, Plan
from tests.config.inline import examined


def plan(**own: Any) -> Plan:  # noqa: ANN401 - JSON
    """Give the plan of this in the object ``cwgpu``, of which nothing may be said."""
    found = examined({"role": "pod"}, **own)
    assert found.complaints == ()
    assert found.plan is not None
    return found.plan


def test_nobody_counts_unless_told() -> None:
    """Without the key there is no budget; with it a warning is all that comes of it."""
    assert plan().budget is None
    assert plan(budget={"metrics": 10_000}).budget == Budget(10_000)
    written = {"metrics": 500, "action": "drop"}
    assert plan(budget=written).budget == Budget(500, drops=True)


@pytest.mark.parametrize(
    ("written", "code", "message"),
    [
        ({}, "missing-key", "a budget needs a number of metrics"),
        ({"metrics": 0}, "wrong-value", "wanted 1 or more"),
        ({"metrics": 5, "action": "stop"}, "wrong-value", "'stop'"),
    ],
)
def test_a_budget_says_how_many(written: dict[str, object], code: str, message: str) -> None:
    """What cannot be obeyed is said, once."""
    (one,) = examined({"role": "pod"}, budget=written).complaints
    assert one.code == code
    assert message in one.message
