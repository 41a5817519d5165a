"""In which formats pages are asked for, and as what a page of unknown type is read.

https://prometheus.io/docs/prometheus/latest/configuration/configuration/#scrape_config
"""

from cwgpu.config.node import Loc
from cwgpu.config.prometheus import Global, Limits, ScrapeConfig
from cwgpu.config.report import Report
from cwgpu.plan.plan import FORMATS
from cwgpu.prom.exposition import Format

_PROTOBUF = "PrometheusProto"
_CODE = "protobuf-not-read"


def check(written: Limits, report: Report, loc: Loc) -> None:
    """Complain about a list of formats."""
    protocols, here = written.scrape_protocols, (*loc, "scrape_protocols")
    if protocols is None:
        return
    if not protocols:
        message = "scrape_protocols is empty"
        report.error(here, "empty-list", message, "leave the key out for the default")
    if len(set(protocols)) < len(protocols):
        report.error(here, "wrong-value", "a format stands twice in scrape_protocols")
    if list(protocols) == [_PROTOBUF]:
        message = "the protobuf format is not read here; the text formats are asked for"
        report.warning(here, _CODE, message, "name a text format, or leave the key out")
    elif _PROTOBUF in protocols:
        message = "the protobuf format is not read here, and not asked for"
        report.note((*here, protocols.index(_PROTOBUF)), _CODE, message)


def wanted(written: ScrapeConfig, defaults: Global, report: Report, loc: Loc) -> tuple[str, ...]:
    """Give the formats to ask for: the job's, else the global ones, else all."""
    check(written, report, loc)
    chosen = written.scrape_protocols or defaults.scrape_protocols or FORMATS
    return tuple(each for each in chosen if each != _PROTOBUF) or FORMATS


def fallback(written: ScrapeConfig, report: Report, loc: Loc) -> Format | None:
    """Tell how a page is read that does not say what it is; None fails the scrape."""
    protocol = written.fallback_scrape_protocol or ""
    if protocol.startswith("OpenMetrics"):
        return Format.OPENMETRICS
    if protocol == _PROTOBUF:
        becomes = "such pages fail" if written.strict else "such pages are read as text"
        message = f"the protobuf format is not read here; {becomes}"
        report.warning((*loc, "fallback_scrape_protocol"), _CODE, message, "name a text format")
    is_text = protocol.startswith("PrometheusText")
    return Format.TEXT if is_text or not written.strict else None
