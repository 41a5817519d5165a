"""The explanation of a page for an on-call engineer: what goes out, then what does not, and why.

A node has eight GPUs with the same sixty metrics: what they have in common is told once.
"""

import json
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from cwgpu.cli.explain.fates import Answer, treatment
from cwgpu.digest.explain import Event, Explanation, Fate, Metric
from cwgpu.model.drop import DropReason
from cwgpu.model.reading import BadLine
from cwgpu.telemetry import escape
from cwgpu.telemetry.report import MEANINGS

_WIDTH = 100
# Of the values of a label that differs from event to event; of the sentences about one reason.
_VALUES, _SENTENCES = 2, 10

_ADVICE = {
    DropReason.BAD_LINE: "A job with strict: true would refuse the whole page for it.",
    DropReason.RELABEL: "If it is not wanted, correct the rule; explain relabel --metric shows it.",
    DropReason.NO_NAME: "Correct the rule that writes __name__.",
    DropReason.UNSELECTED: (
        "If they are wanted, add a metric_selector, or correct source_labels and label_matcher. "
        "What discovery would add to the target's labels is said here by --label NAME=VALUE."
    ),
    DropReason.DIMENSION_MISSING: (
        "Give the job's targets these labels, by labels of static_configs or by a rule of "
        "relabel_configs, or add a dimension set of labels that the samples have."
    ),
    DropReason.DIMENSION_INVALID: "Replace the value by metric_relabel_configs.",
    DropReason.NAME_INVALID: "Rename it by metric_relabel_configs.",
}


def text(answer: Answer) -> str:
    """Write the explanation down."""
    found = answer.found
    lines = [*_head(answer), *_sent(answer), *_lost(found), _account(found)]
    return "\n".join(map(escape.line, lines))


def _head(answer: Answer) -> Iterator[str]:
    yield f"PAGE {answer.source.name} ({answer.source.content_type or 'no Content-Type'})"
    yield from _wrapped(answer.absent, 2)
    yield f"  read by the job {answer.job}, as a page of a target with these labels:"
    yield from (f"      {name} = {_quoted(value)}" for name, value in sorted(answer.target.items()))


def _sent(answer: Answer) -> Iterator[str]:
    found = answer.found
    going: dict[int, list[Metric]] = {}
    for fate in found.fates:
        if fate.metric is not None and fate.reason in {None, DropReason.FIRST_OF_COUNTER}:
            going.setdefault(fate.metric.event, []).append(fate.metric)
    if not going:
        yield "SENT: nothing"
        return
    waiting = sum(fate.reason is DropReason.FIRST_OF_COUNTER for fate in found.fates)
    later = f" ({waiting:,} of them from the second scrape on)" if waiting else ""
    series = sum(map(len, going.values()))
    points = sum(
        len(sets) for metrics in going.values() for one in metrics for sets in one.directives
    )
    yield (
        f"SENT: {_count(series, 'series')}{later} in {_count(len(going), 'log event')}, "
        f"{_count(points, 'datapoint')} in the namespace {answer.namespace}"
    )
    for events, metrics in _alike(found, going):
        yield from _event(events, metrics)


def _alike(
    found: Explanation, going: dict[int, list[Metric]]
) -> Iterator[tuple[list[Event], list[Metric]]]:
    """Put events together that differ in the values of their labels alone."""
    groups: dict[object, list[int]] = {}
    for event, metrics in going.items():
        one = found.events[event]
        shape = tuple((m.name, m.treatment, m.unit, m.resolution, _sets(m)) for m in metrics)
        groups.setdefault((one.stream, one.at_ms, frozenset(one.labels), shape), []).append(event)
    for events in groups.values():
        yield [found.events[event] for event in events], going[events[0]]


def _event(events: Sequence[Event], metrics: Iterable[Metric]) -> Iterator[str]:
    first = events[0]
    time = "" if first.at_ms is None else f", with the page's own time {first.at_ms}"
    yield (
        f"  {_count(len(events), 'event')} to log group {first.stream.group}, "
        f"stream {first.stream.stream}{time}:"
    )
    for name in sorted(first.labels):
        yield f"      {name} = {_values([event.labels[name] for event in events])}"
    by_sets: dict[object, list[Metric]] = {}
    for metric in metrics:
        by_sets.setdefault(_sets(metric), []).append(metric)
    for alike in by_sets.values():
        yield from _metrics(alike)


def _sets(metric: Metric) -> object:
    return metric.directives, metric.skipped


def _metrics(alike: Sequence[Metric]) -> Iterator[str]:
    directives = alike[0].directives
    if not directives:
        yield "    without dimensions, as plain fields of the log:"
    for sets in directives:
        yield "    by " + " and ".join(f"[{', '.join(names)}]" for names in sets)
    if alike[0].skipped:
        yield f"    not by {alike[0].skipped}"
    width = max(len(metric.name) for metric in alike)
    for metric, series in Counter(alike).items():
        yield f"        {metric.name:<{width}}  {', '.join(_traits(metric, series))}"


def _traits(metric: Metric, series: int) -> Iterator[str]:
    """Say what is sent. Differences, by their nature, begin with the second scrape."""
    yield treatment(metric)
    if series > 1:
        yield f"{series} series"
    if metric.unit is not None:
        yield metric.unit
    if metric.resolution is not None:
        yield f"every {metric.resolution} s"


def _lost(found: Explanation) -> Iterator[str]:
    lost = found.samples - found.selected
    if not lost:
        return
    yield f"DROPPED: {_count(lost, 'sample')}"
    for drop in found.dropped:
        yield f"  {drop.count:,} {drop.reason.value}: {MEANINGS[drop.reason]}"
        if drop.reason is DropReason.BAD_LINE:
            yield from _bad_lines(found.bad_lines)
        else:
            yield from _why(fate for fate in found.fates if fate.reason is drop.reason)
        yield from _wrapped(_ADVICE.get(drop.reason, ""), 6)


def _bad_lines(bad_lines: Sequence[BadLine]) -> Iterator[str]:
    for bad in bad_lines[:_SENTENCES]:
        yield f"      line {bad.number}: {bad.fault}"
        yield f"          {bad.text}"
    yield from _more(len(bad_lines))


def _why(fates: Iterable[Fate]) -> Iterator[str]:
    """Tell the names below each sentence about them."""
    names: dict[str, Counter[str]] = {}
    for fate in fates:
        names.setdefault(fate.detail, Counter())[fate.name] += 1
    for detail, counts in list(names.items())[:_SENTENCES]:
        if detail:
            yield from _wrapped(f"{detail}:", 6)
        told = [name if count == 1 else f"{name}×{count}" for name, count in counts.items()]  # noqa: RUF001 - one word, so that no line ends in it
        yield from _wrapped(", ".join(told), 10)
    yield from _more(len(names))


def _more(told: int) -> Iterator[str]:
    if told > _SENTENCES:
        yield f"      and {told - _SENTENCES:,} more; -o json has all"


def _account(found: Explanation) -> str:
    dropped = found.samples - found.selected
    reasons = ", ".join(f"{drop.reason.value} {drop.count:,}" for drop in found.dropped)
    said = f"{_count(found.samples, 'sample')}: {found.selected:,} selected, {dropped:,} dropped"
    return f"{said}: {reasons}" if reasons else said


def _values(values: Sequence[str]) -> str:
    different = list(dict.fromkeys(values))
    shown = ", ".join(map(_quoted, different[:_VALUES]))
    return shown if len(different) <= _VALUES else f"{shown}, ... ({len(different)} values)"


def _wrapped(text: str, indent: int) -> list[str]:
    margin = " " * indent
    return textwrap.wrap(
        escape.line(text),
        _WIDTH,
        initial_indent=margin,
        subsequent_indent=margin,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _count(number: int, what: str) -> str:
    plural = "" if number == 1 or what == "series" else "s"
    return f"{number:,} {what}{plural}"
