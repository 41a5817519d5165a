"""How many custom metrics there may be: from ``cwgpu.budget`` to the plan."""

from cwgpu.config.node import Loc
from cwgpu.config.own import Own
from cwgpu.config.report import Report
from cwgpu.plan import plan

_METRICS: Loc = ("cwgpu", "budget", "metrics")


def budget(own: Own, report: Report) -> plan.Budget | None:
    """Make the budget, which has to say how many."""
    written = own.budget
    if written is None:
        return None
    if not written.metrics and not report.said(_METRICS):
        advice = 'such as "metrics": 10000; cwgpu cost says how many there will be'
        report.error(_METRICS, "missing-key", "a budget needs a number of metrics", advice)
    return plan.Budget(written.metrics, drops=written.action == "drop")
