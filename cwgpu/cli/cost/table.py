"""The document for a person: the bill, what it is made of, and what would change it."""

from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

from cwgpu.telemetry import escape

Value: TypeAlias = dict[str, Any]

_HOUR_S = 3600


def text(document: Value) -> str:
    """Write everything down."""
    lines = [
        *_bill(document),
        "",
        *_metrics(document),
        "",
        *_events(document),
        "",
        *_what_if(document),
        "",
        *_made(document),
    ]
    return "\n".join(map(escape.line, lines))


def _bill(document: Value) -> Iterator[str]:
    prices, month, usd = document["prices"], document["month"], document["usd_per_month"]
    yield (
        f"Estimate for {fleet(document)}: USD a month of {month['hours']:g} hours, by list prices "
        f"of {prices['date']}, {prices['region']}"
    )
    pods_per_day = document["fleet"]["pods_per_day"]
    rows = [
        ("custom metrics", f"{document['metrics']['fleet']:,}", usd["custom_metrics"]),
        (
            "pod starts",
            f"{_number(pods_per_day)} a day" if pods_per_day else "none",
            usd["pod_starts"],
        ),
        ("log ingestion", f"{month['log_gb']:,.1f} GB", usd["log_ingestion"]),
        ("log storage", _kept(month["retention_days"]), usd["log_storage"]),
        ("in all", "", usd["total"]),
    ]
    yield from _aligned([(name, what, f"{amount:,.2f}") for name, what, amount in rows], right={2})


def _kept(days: int | None) -> str:
    if days is None:
        return "kept for ever: this much more each month"
    return f"kept for {days} day" + ("s" if days > 1 else "")


def fleet(document: Value) -> str:
    """Say how many nodes and GPUs there are."""
    found = document["fleet"]
    nodes = _count(found["nodes"], "node")
    return f"{_count(found['gpus'], 'GPU')} on {nodes}" if found["gpus"] else nodes


def _metrics(document: Value) -> Iterator[str]:
    found = document["metrics"]
    pages = len(document["pages"])
    yield (
        f"Custom metrics: {found['pages']:,} of {_count(pages, 'page')} as CloudWatch would "
        f"create them, {found['fleet']:,} for all"
    )
    rows = [("NAMESPACE", "DIMENSIONS", "PAGES", "ALL")]
    rows += [
        (
            each["namespace"],
            ", ".join(each["dimensions"]) or "none",
            f"{each['pages']:,}",
            f"{each['fleet']:,}",
        )
        for each in found["by_dimension_set"]
    ]
    yield from _aligned(rows, right={2, 3})


def _events(document: Value) -> Iterator[str]:
    hour = document["hour"]
    sample, event = document["bytes_per_sample"], document["bytes_per_event"]
    yield (
        f"Log events: {hour['events']:,} an hour with {hour['samples']:,} samples, which are "
        f"{hour['datapoints']:,} datapoints"
    )
    if sample is not None:
        yield f"  {sample:,.1f} bytes a sample, {event:,.0f} an event: CloudWatch's own 26 included"


def _what_if(document: Value) -> Iterator[str]:
    tried = document["what_if"]
    rows: list[tuple[str, ...]] = [("WHAT IF", "METRICS", "GB", "B/SAMPLE", "USD", "CHANGE")]
    rows += [(_packed(each), *_cells(each)) for each in tried["packing"]]
    rows += [
        (f"without [{', '.join(each['dimensions'])}]", *_cells(each))
        for each in tried["without_dimension_set"]
    ]
    yield from _aligned(rows, right={1, 2, 3, 4, 5}, indent="")


def _packed(each: Value) -> str:
    told = f"group_by: {each['group_by']}, emit: {each['emit']}, labels: {each['labels']}"
    return f"{told} (as it is)" if each["configured"] else told


def _cells(each: Value) -> tuple[str, ...]:
    sample, lost = each["bytes_per_sample"], each["lost_samples_percent"]
    return (
        f"{each['metrics']:,}",
        f"{each['log_gb']:,.1f}",
        "" if sample is None else f"{sample:,.1f}",
        f"{each['usd_per_month']:,.2f}",
        f"{each['usd_difference']:+,.2f}",
        *([f"without {lost:g} % of the samples"] if lost > 0 else []),
    )


def _made(document: Value) -> Iterator[str]:
    found, seconds = document["fleet"], document["simulated_s"]
    played = "an hour" if round(seconds) == _HOUR_S else f"{seconds / 60:,.0f} minutes"
    yield (
        f"Made of {_count(len(document['pages']), 'page')} with "
        f"{_count(found['page_gpus'], 'GPU')} and {_count(found['page_pods'], 'pod')}: {played} of "
        "scrapes, with values that are made up."
    )
    yield "docs/cost.md says what is counted, what is guessed, and what no estimate knows."


def _count(number: float, what: str) -> str:
    return f"{_number(number)} {what}" + ("" if number == 1 else "s")


def _number(number: float) -> str:
    """Write all digits of a number, however large, and three decimals where it is not whole."""
    return f"{number:,.3f}".rstrip("0").rstrip(".")


def _aligned(
    rows: Sequence[Sequence[str]], *, right: set[int], indent: str = "  "
) -> Iterator[str]:
    """Write cells below each other; a cell more than the first row has hangs behind its line."""
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    for row in rows:
        cells = [
            cell.rjust(width) if at in right else cell.ljust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=False))
        ]
        yield (indent + "  ".join([*cells, *row[len(widths) :]])).rstrip()
