"""The estimate as JSON: the members that docs/cost.md lists. The table is made of it, too."""

from collections import defaultdict
from typing import Any, TypeAlias

from cwgpu.cli.cost import bill, seen
from cwgpu.cli.cost.bill import Bill
from cwgpu.cli.cost.estimate import Asked, Estimate, Estimates
from cwgpu.cli.cost.play import Usage
from cwgpu.cli.cost.seen import DimensionSet
from cwgpu.plan.plan import Events

Value: TypeAlias = dict[str, Any]


def document(made: Estimates) -> Value:
    """Write it all down."""
    asked, one = made.asked, made.configured
    return {
        "estimate": True,
        "prices": {
            "date": asked.prices.date,
            "region": asked.prices.region,
            "sources": list(asked.prices.sources),
        },
        "fleet": _fleet(asked),
        "pages": [
            {
                "name": each.name,
                "job": each.job.name,
                "interval_s": each.job.interval_s,
                "samples": len(each.parts),
                "gpus": len(each.gpus),
                "pods": len(each.pods),
            }
            for each in asked.subjects
        ],
        "simulated_s": round(made.simulated_hours * 3600, 3),
        "packing": packing(asked.plan.emf.events),
        "pages_hour": _usage(one.pages),
        "hour": _usage(one.hour),
        "bytes_per_sample": _ratio(one.pages.size_bytes, one.pages.samples),
        "bytes_per_event": _ratio(one.pages.size_bytes, one.pages.events),
        "metrics": {
            "pages": len(one.metrics.here),
            "fleet": round(one.fleet_metrics),
            "by_dimension_set": _by_set(one, asked),
            "budget": None if asked.plan.budget is None else asked.plan.budget.metrics,
        },
        "month": {
            "hours": bill.MONTH_H,
            "metric_hours": round(one.fleet_metrics * bill.MONTH_H),
            "metric_hours_of_pod_starts": round(one.started_hours),
            "log_gb": round(one.month_gb, 3),
            "retention_days": asked.plan.cloudwatch.retention_days,
        },
        "usd_per_month": _usd(one.bill),
        "what_if": {
            "packing": [_packing(each, one) for each in made.packings],
            "without_dimension_set": [_omission(each, one) for each in made.omissions],
        },
    }


def _fleet(asked: Asked) -> Value:
    fleet = asked.fleet
    return {
        "nodes": fleet.nodes,
        "gpus": fleet.gpus,
        "pods_per_day": asked.pods_per_day,
        "pages": fleet.pages,
        "page_gpus": fleet.page_gpus,
        "page_pods": fleet.page_pods,
    }


def packing(events: Events) -> Value:
    """Write as ``cwgpu.events`` is written in the configuration."""
    return {
        "group_by": events.group_by.value,
        "emit": "scrape" if events.window_s is None else f"{events.window_s:g}s",
        "labels": events.labels if isinstance(events.labels, str) else list(events.labels),
    }


def _usage(usage: Usage) -> Value:
    return {
        "events": round(usage.events),
        "bytes": round(usage.size_bytes),
        "samples": round(usage.samples),
        "datapoints": round(usage.datapoints),
    }


def _by_set(one: Estimate, asked: Asked) -> list[Value]:
    of_fleet: defaultdict[DimensionSet, float] = defaultdict(float)
    for metric in one.metrics.here:
        (key,) = seen.by_set([metric])
        of_fleet[key] += one.metrics.times(metric, asked.fleet)
    of_pages = seen.by_set(one.metrics.here)
    return [
        {
            "namespace": namespace,
            "dimensions": list(names),
            "pages": of_pages[namespace, names],
            "fleet": round(count),
        }
        for (namespace, names), count in sorted(of_fleet.items(), key=lambda item: -item[1])
    ]


def _usd(bill: Bill) -> Value:
    return {
        "custom_metrics": round(bill.custom_metrics, 2),
        "pod_starts": round(bill.pod_starts, 2),
        "log_ingestion": round(bill.log_ingestion, 2),
        "log_storage": round(bill.log_storage, 2),
        "total": round(bill.total, 2),
    }


def _packing(one: Estimate, configured: Estimate) -> Value:
    events = one.variant.events or Events()
    same = events == configured.variant.plan.emf.events
    return {**packing(events), "configured": same, **_what(one, configured)}


def _omission(one: Estimate, configured: Estimate) -> Value:
    return {"dimensions": list(one.variant.without or ()), **_what(one, configured)}


def _what(one: Estimate, configured: Estimate) -> Value:
    lost = configured.pages.samples - one.pages.samples
    return {
        "metrics": round(one.fleet_metrics),
        "log_gb": round(one.month_gb, 3),
        "bytes_per_sample": _ratio(one.pages.size_bytes, one.pages.samples),
        "usd_per_month": round(one.bill.total, 2),
        "usd_difference": round(one.bill.total - configured.bill.total, 2),
        "lost_samples_percent": round(100 * (_ratio(lost, configured.pages.samples) or 0), 1),
    }


def _ratio(part: float, whole: float) -> float | None:
    return round(part / whole, 2) if whole else None
