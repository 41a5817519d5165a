"""What becomes a metric, and how: from the models to the plan's ``Emf``."""

from functools import partial
from typing import TypeVar

from cwgpu.config import events
from cwgpu.config.agent import AgentFile, EmfProcessor, Prometheus
from cwgpu.config.declarations import declarations, is_complete, search
from cwgpu.config.nearest import nearest
from cwgpu.config.node import Loc, short
from cwgpu.config.own import Own
from cwgpu.config.report import Report
from cwgpu.emf import limits, units
from cwgpu.emf.delta import Treatment
from cwgpu.plan.plan import Emf, NameMatch

T = TypeVar("T")

PROMETHEUS: Loc = ("logs", "metrics_collected", "prometheus")
_PROCESSOR: Loc = (*PROMETHEUS, "emf_processor")
_DECLARATIONS: Loc = (*_PROCESSOR, "metric_declaration")

_RESOLUTIONS = (1, 60)
"""Seconds at which CloudWatch stores a metric: high resolution and standard."""


def emf(written: AgentFile, cluster: str, report: Report, *, namespace: str) -> Emf:
    """Make the plan's part about metrics; ``namespace`` is for those that have none."""
    prometheus = prometheus_of(written)
    own, processor = written.cwgpu or Own(), prometheus.emf_processor or EmfProcessor()
    extract = not prometheus.disable_metric_extraction
    found = declarations(processor.metric_declaration, report, _DECLARATIONS) if extract else ()
    made = Emf(
        namespace=_namespace(processor, namespace, report),
        declarations=found,
        cluster_name=cluster,
        dedup=processor.metric_declaration_dedup,
        # Without extraction the log events are all there is; the agent sends them too.
        log_unselected=own.unselected == "log" or not extract,
        untyped_as_gauge=own.untyped == "gauge",
        units=_units(processor, report),
        counters=_matches({k: Treatment(v) for k, v in own.counters.items()}, report, "counters"),
        resolutions=_resolutions(own, report),
        events=events.events(own.events, report),
    )
    complete = [d for d in processor.metric_declaration if is_complete(d)]
    if not complete and not made.log_unselected and not report.said_within(_DECLARATIONS):
        _tell_nothing(len(processor.metric_declaration), report)
    return made


def _tell_nothing(ignored: int, report: Report) -> None:
    message = "nothing will be sent: no metric_declaration selects anything"
    advice = "write emf_processor.metric_declaration with the metrics that are wanted"
    if ignored:
        each = "the only one is" if ignored == 1 else f"all {ignored} are"
        message = f"nothing will be sent: of the metric declarations {each} ignored"
        advice = "give them what they lack, as is said about each"
    report.warning(_DECLARATIONS, "nothing-selected", message, advice)


def prometheus_of(written: AgentFile) -> Prometheus:
    """Give the section that all of this is about; an empty one if it is not written."""
    collected = written.logs.metrics_collected if written.logs else None
    return (collected.prometheus if collected else None) or Prometheus()


def _namespace(processor: EmfProcessor, default: str, report: Report) -> str:
    written = processor.metric_namespace
    if written is None:
        return default
    if fault := limits.namespace_fault(written):
        message = f"the namespace {short(written)} {fault}"
        report.error((*_PROCESSOR, "metric_namespace"), "bad-namespace", message)
    return written


def _units(processor: EmfProcessor, report: Report) -> dict[str, str]:
    for name, unit in processor.metric_unit.items():
        if unit not in units.UNITS:
            meant = nearest(unit, units.UNITS)
            known = f"CloudWatch knows {', '.join(sorted(units.UNITS))}"
            advice = f"did you mean {meant}? {known}" if meant else known
            message = f"{short(unit)} is no unit of CloudWatch"
            report.error((*_PROCESSOR, "metric_unit", name), "unknown-unit", message, advice)
    return dict(processor.metric_unit)


def _matches(written: dict[str, T], report: Report, key: str) -> tuple[tuple[NameMatch, T], ...]:
    """Compile the selectors of an object, in the order in which they are written."""
    found = (
        (search(text, partial(report.refuse, ("cwgpu", key, text))), what)
        for text, what in written.items()
    )
    return tuple((match, what) for match, what in found if match)


def _resolutions(own: Own, report: Report) -> tuple[tuple[NameMatch, int], ...]:
    for selector, seconds in own.storage_resolution.items():
        if seconds not in _RESOLUTIONS:
            message = f"CloudWatch stores at 1 or 60 seconds, not {seconds}"
            here = ("cwgpu", "storage_resolution", selector)
            report.error(here, "wrong-value", message, "write 1 or 60")
    return _matches(own.storage_resolution, report, "storage_resolution")
