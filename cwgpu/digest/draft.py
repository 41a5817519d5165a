"""Metrics on their way into common events, and the labels that these keep."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from cwgpu.digest.judge import Place
from cwgpu.digest.record import Kind, Record, Templates
from cwgpu.digest.tally import Tally
from cwgpu.emf import limits
from cwgpu.emf.template import Metric, Sets
from cwgpu.model.labels import LabelPairs
from cwgpu.plan.plan import Kept

_Column: TypeAlias = tuple[Metric, list[Place]]
"""A metric and the samples whose values it takes."""


@dataclass(slots=True)
class Draft:
    """Metrics of one label set or of several, no two of which are different and have one name."""

    kind: Kind
    _labels: LabelPairs | None = None
    _columns: dict[str, _Column] = field(default_factory=dict)

    def join(
        self, labels: LabelPairs, metrics: Iterable[tuple[int, Metric]], places: Sequence[Place]
    ) -> None:
        """Add metrics of one more label set, of which these labels can be shown.

        Each comes with the number of its place.
        """
        if self._labels is None:
            self._labels = labels
        else:  # in an event a label has one value, or none that holds for all of it
            also = set(labels)
            self._labels = tuple(pair for pair in self._labels if pair in also)
        for at, metric in metrics:
            column = self._columns.get(metric.name)
            if column is None:
                self._columns[metric.name] = (metric, [places[at]])
            else:
                column[1].append(places[at])

    def records(
        self, kept: Kept, templates: Templates, tally: Tally
    ) -> Iterator[tuple[Record, list[Place]]]:
        """Spread the metrics over events, each with no more values than an array may have."""
        labels, columns = self._shown(kept), list(self._columns.values())
        widest = max(len(places) for _, places in columns)
        if widest <= limits.ARRAY_VALUES:
            yield from self._spread(columns, labels, templates, tally)
            return
        for start in range(0, widest, limits.ARRAY_VALUES):
            end = start + limits.ARRAY_VALUES
            part = [(one, places[start:end]) for one, places in columns if len(places) > start]
            yield from self._spread(part, labels, templates, tally)

    def _spread(
        self, columns: list[_Column], labels: LabelPairs, templates: Templates, tally: Tally
    ) -> Iterator[tuple[Record, list[Place]]]:
        layout = templates.layout(labels, tuple([metric for metric, _ in columns]))
        for at, reason in layout.dropped:
            for place in columns[at][1]:
                tally.add(reason, place.line.name, position=place.position)
        for template in layout.templates:
            metrics = templates.share(tuple([columns[at][0] for at in template.metrics]))
            own = [columns[at][1] for at in template.metrics]
            record = Record(self.kind, template, labels, metrics=metrics, columns=own)
            yield record, [place for places in own for place in places]

    def _shown(self, kept: Kept) -> LabelPairs:
        """Give the labels that the events keep. Of a plain log event they are all there is."""
        labels, metrics = self._labels or (), [metric for metric, _ in self._columns.values()]
        if kept == "all" or not any(metric.sets for metric in metrics):
            return labels
        needed = names(directive for metric in metrics for directive in metric.sets)
        needed.update(() if kept == "dimensions" else kept)
        return tuple(pair for pair in labels if pair[0] in needed)


def names(directives: Iterable[Sets]) -> set[str]:
    """Give the labels that dimension sets are made of."""
    return {name for sets in directives for dimensions in sets for name in dimensions}
