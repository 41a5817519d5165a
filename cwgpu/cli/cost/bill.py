"""From what is used to what is paid for it in a month."""

from dataclasses import dataclass

from cwgpu.cli.cost.prices import Prices

MONTH_H = 730.0
"""Hours, as AWS' own examples count: 365 days in 12 parts."""
GB = 1e9
_DAY_H = 24.0


@dataclass(frozen=True, slots=True)
class Bill:
    """USD of a month, by item. Nothing is taken off for the free tier."""

    custom_metrics: float
    """Of the metrics that are there all month."""
    pod_starts: float
    """Of those that pods begin, beside these: each counts for an hour at least."""
    log_ingestion: float
    log_storage: float
    """Of what is kept once retention removes as much as comes; without, of the first month."""

    @property
    def total(self) -> float:
        """All items."""
        return self.custom_metrics + self.pod_starts + self.log_ingestion + self.log_storage


def bill(
    prices: Prices, *, metrics: float, started_hours: float, gb: float, retention_days: int | None
) -> Bill:
    """Make out the bill for so many metrics all month, and GB of log events in it.

    ``started_hours`` are metric-hours that come on top because pods start.
    """
    steady = _metrics(prices, metrics)
    kept_months = 1.0 if retention_days is None else retention_days * _DAY_H / MONTH_H
    stored_gb = gb * prices.log_storage_ratio * kept_months
    return Bill(
        custom_metrics=steady,
        # Metrics are paid for by the hour, and the tiers are of a month's whole metrics.
        pod_starts=_metrics(prices, metrics + started_hours / MONTH_H) - steady,
        log_ingestion=gb * prices.log_ingestion_usd_per_gb,
        log_storage=stored_gb * prices.log_storage_usd_per_gb_month,
    )


def _metrics(prices: Prices, metrics: float) -> float:
    usd, rest = 0.0, metrics
    for tier in prices.custom_metrics:
        here = min(rest, tier.metrics)
        usd += here * tier.usd_per_month
        rest -= here
    return usd
