"""The dry run's summary as text: numbers first, then what they hide, then what to do next."""

import textwrap
from collections import Counter
from collections.abc import Iterator

from cwgpu.model.drop import DropReason
from cwgpu.telemetry import advice, escape, mask
from cwgpu.telemetry.account import NAMES, Account

# Narrower than this nothing can be laid out; a terminal that says so is wrong.
_NARROWEST = 40
_HEAD = 11
"""Width of the first column: "Bad lines" and two blanks."""
# Examples of each kind that are written out.
_EXAMPLES = 5

MEANINGS = {
    DropReason.BAD_LINE: "not exposition text; listed below",
    DropReason.RELABEL: "a rule of metric_relabel_configs dropped it",
    DropReason.NO_NAME: "metric_relabel_configs left no metric name",
    DropReason.UNTYPED: 'no TYPE, or untyped; "untyped": "gauge" in "cwgpu" sends these',
    DropReason.UNSUPPORTED_TYPE: "histograms, infos and state sets have no EMF form here",
    DropReason.UNSELECTED: "no metric_declaration selects it",
    DropReason.DIMENSION_MISSING: "selected, but every dimension set needs a label it lacks",
    DropReason.DIMENSION_INVALID: "selected, but a label's value is no CloudWatch dimension",
    DropReason.NAME_INVALID: "CloudWatch does not take this metric name",
    DropReason.LESS_PREFERRED: "another target tells the same of this GPU, and is preferred",
    DropReason.OVER_BUDGET: "new custom metrics, and cwgpu.budget has no room for them",
    DropReason.TOO_LARGE: "does not fit into a log event of 1 MB",
    DropReason.DUPLICATE: "the same series came again on the page; the last one counts",
    DropReason.BLANK: 'DCGM says "no value"',
    DropReason.UNIT_UNKNOWN: "1 % or 100 %, which the page does not tell",
    DropReason.IMPLAUSIBLE: "beyond what the field can be",
    DropReason.NOT_FINITE: "NaN or infinite",
    DropReason.OUT_OF_RANGE: "beyond what CloudWatch stores (2^360)",
    DropReason.FIRST_OF_COUNTER: "a counter's first sample is the baseline of the next",
    DropReason.NOT_ADVANCED: "a counter whose timestamp did not advance",
    DropReason.TOO_OLD: "older than CloudWatch takes (14 days, or the log group's retention)",
    DropReason.TOO_NEW: "more than 2 hours in the future; is a clock wrong?",
    DropReason.REJECTED: "CloudWatch refused the event",
    DropReason.QUEUE_FULL: "too much waited to be delivered",
    DropReason.QUEUE_AGE: "waited to be delivered for too long",
    DropReason.SPOOL_DAMAGED: "its file in the spool was damaged",
    DropReason.SHUTDOWN: "not delivered before the end",
}


_OF_SOME = frozenset(
    {
        DropReason.DIMENSION_INVALID,
        DropReason.NAME_INVALID,
        DropReason.LESS_PREFERRED,
        DropReason.TOO_LARGE,
        DropReason.DUPLICATE,
        DropReason.UNIT_UNKNOWN,
        DropReason.IMPLAUSIBLE,
        DropReason.NOT_FINITE,
        DropReason.OUT_OF_RANGE,
        DropReason.NOT_ADVANCED,
    }
)
"""Reasons that are mostly one target's own. The others befall all of a job, or are no surprise."""
_OF_RULES = frozenset(
    {
        DropReason.UNSELECTED,
        DropReason.DIMENSION_MISSING,
        DropReason.DIMENSION_INVALID,
        DropReason.NAME_INVALID,
    }
)
"""Reasons that do not say which of several rules decided."""


def render(account: Account, width: int) -> str:
    """Lay the summary out in lines of at most ``width`` characters."""
    width = max(width, _NARROWEST)
    lines = [
        *_targets(account, width),
        *_samples(account, width),
        *_bad_lines(account, width),
        *_events(account, width),
        *_next(account, width),
    ]
    return "\n".join(lines)


def live(account: Account, width: int) -> str:
    """Give the state so far in one line of at most ``width`` characters."""
    bad = account.lost.get(DropReason.BAD_LINE)
    parts = [
        f"{account.up:,}/{len(account.seen):,} targets up",
        f"{account.samples:,} samples read",
        f"{account.selected:,} selected",
        _count(account.events, "event"),
        _count(account.datapoints, "datapoint"),
        _count(account.metrics, "metric"),
        *([_count(bad.count, "bad line")] if bad else []),
    ]
    return escape.cut(", ".join(parts), width)


def _targets(account: Account, width: int) -> Iterator[str]:
    waiting = len(account.seen) - account.up - account.down
    said = f"{len(account.seen):,} found: {account.up:,} up, {account.down:,} down"
    said += f", {waiting:,} not scraped yet" if waiting else ""
    dropped = len(account.dropped_targets) + account.forgotten_targets
    said += f"; {dropped:,} more discovered and dropped" if dropped else ""
    yield from _section("Targets", said, width)
    failed = [(one, one.failed) for one in account.seen.values() if one.failed is not None]
    for one, why in failed[:_EXAMPLES]:
        yield from _item(f"down: {one.target.url}", width)
        yield from _item(f"{why.reason.value}: {why.detail}", width, indent=4)
    yield from _rest(len(failed), "down", width)
    if account.bugs:
        scrapes = _count(account.bugs, "scrape")
        said = f"broken: {scrapes}, by a fault of cwgpu; please report it, with its traceback above"
        yield from _item(said, width)
    empty = [one for one in account.seen.values() if one.empty]
    for one in empty[:_EXAMPLES]:
        yield from _item(f"up, but its page is empty: {one.target.url}", width)
    yield from _rest(len(empty), "empty", width)
    reasons = Counter((one.job, one.reason) for one in account.dropped_targets)
    for (job, reason), count in reasons.most_common(_EXAMPLES):
        yield from _item(f"dropped: {count:,} of job {job}: {reason}", width)
    yield from _rest(len(reasons), "reasons", width)
    said_of = list(account.discovery)
    for job, sentence in said_of[:_EXAMPLES]:
        yield from _item(f"job {job}: {sentence}", width)
    yield from _rest(len(said_of), "sentences of discovery", width)
    if account.forgotten_targets:
        more = f"dropped: {account.forgotten_targets:,} more, which keep_dropped_targets leaves out"
        yield from _item(more, width)


def _samples(account: Account, width: int) -> Iterator[str]:
    scrapes = sum(one.scrapes for one in account.seen.values())
    dropped = sum(lost.count for lost in account.lost.values())
    said = f"{account.samples:,} read in {_count(scrapes, 'scrape')}"
    yield from _section(
        "Samples", f"{said}: {account.selected:,} selected, {dropped:,} dropped", width
    )
    by_count = sorted(account.lost.items(), key=lambda item: -item[1].count)
    digits = max((len(f"{lost.count:,}") for _, lost in by_count), default=0)
    for reason, lost in by_count:
        yield from _item(f"{lost.count:>{digits},} {reason.value}: {MEANINGS[reason]}", width)
        names = [*lost.names, *(["..."] if len(lost.names) == NAMES else [])]
        if lost.names:
            yield from _item(", ".join(names), width, indent=digits + 3)
        if reason in _OF_RULES and lost.detail:
            # Most of what is unselected has a name that nothing finds: it has no more to it.
            some = "some are " if reason is DropReason.UNSELECTED else ""
            yield from _item(f"{some}{lost.detail}", width, indent=digits + 3)
        if reason in _OF_SOME:
            yield from _item(_whose(account, reason), width, indent=digits + 3)
    for reason, lost in account.partly.items():
        yield from _item(f"{lost.count:,} sent by fewer dimension sets, {reason.value}:", width)
        yield from _item(", ".join(lost.names), width, indent=digits + 3)
        yield from _item(lost.detail, width, indent=digits + 3)
        yield from _item(_whose(account, reason), width, indent=digits + 3)
    for reason, count in account.lost_later.items():
        yield from _item(
            f"{count:,} lost after selection, {reason.value}: {MEANINGS[reason]}", width
        )


def _whose(account: Account, reason: DropReason) -> str:
    """Name a target whose samples were dropped, and count the others."""
    urls = [one.target.url for one in account.seen.values() if reason in one.lost]
    others = f" and {_count(len(urls) - 1, 'other target')}" if urls[1:] else ""
    return f"of {urls[0]}{others}" if urls else "of targets that are gone"


def _bad_lines(account: Account, width: int) -> Iterator[str]:
    lost = account.lost.get(DropReason.BAD_LINE)
    spoiled = [one for one in account.seen.values() if one.bad_lines]
    if lost is None:
        return
    yield from _section("Bad lines", f"{lost.count:,} on {_count(len(spoiled), 'page')}", width)
    for one in spoiled[:_EXAMPLES]:
        yield from _item(one.target.url, width)
        for bad in one.bad_lines.values():
            yield from _item(f"line {bad.number}: {bad.fault}", width, indent=4)
            yield escape.cut(" " * (_HEAD + 6) + escape.line(mask.text(bad.text)), width)
    yield from _rest(len(spoiled), "pages", width)


def _events(account: Account, width: int) -> Iterator[str]:
    events, points = _count(account.events, "event"), _count(account.datapoints, "datapoint")
    metrics = _count(account.metrics, "CloudWatch metric")
    said = f"{events}, {points} of {metrics}, {_size(account.size_bytes)}"
    yield from _section("Events", said, width)


def _next(account: Account, width: int) -> Iterator[str]:
    head = "Next"
    for step in advice.steps(account):
        yield from _section(head, step, width)
        head = ""


def _section(head: str, text: str, width: int) -> list[str]:
    first, rest = f"{head:<{_HEAD}}", " " * _HEAD
    return _wrapped(text, width, first, rest)


def _item(text: str, width: int, indent: int = 0) -> list[str]:
    first = " " * (_HEAD + indent)
    return _wrapped(text, width, first, first + "  ")


def _rest(count: int, what: str, width: int) -> list[str]:
    more = count - _EXAMPLES
    return _item(f"and {more:,} more {what}", width) if more > 0 else []


def _wrapped(text: str, width: int, first: str, rest: str) -> list[str]:
    return textwrap.wrap(
        escape.line(mask.text(text)),
        width,
        initial_indent=first,
        subsequent_indent=rest,
        break_on_hyphens=False,
    ) or [first.rstrip()]


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def _size(size_bytes: int) -> str:
    # As CloudWatch bills: 1 GB is 10^9 bytes.
    for unit, name in ((1_000_000, "MB"), (1_000, "kB")):
        if size_bytes >= unit:
            return f"{size_bytes / unit:.1f} {name}"
    return _count(size_bytes, "byte")
