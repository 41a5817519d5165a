"""What a page remembers of its lines from one scrape to the next."""

from collections.abc import Iterable, Sequence
from typing import cast

from cwgpu.digest import derived, report
from cwgpu.digest.assemble import Sample
from cwgpu.digest.line import Exposed, Line, Watch
from cwgpu.digest.lines import Lines, split
from cwgpu.digest.recipe import Labelled, Recipe, Series
from cwgpu.digest.survey import Sighting, Survey
from cwgpu.emf.delta import Baseline
from cwgpu.gpu.scale import Scales
from cwgpu.model.kind import Kind
from cwgpu.model.labels import Labels
from cwgpu.model.reading import Refused
from cwgpu.prom import exposition, family
from cwgpu.prom.exposition import Context, Format, SeriesItem
from cwgpu.prom.family import Role

# A line that was away for this many scrapes is forgotten, its counter's baseline with it. Long
# enough for an exporter's reload, short enough that pod churn leaves nothing behind.
KEPT_SCRAPES = 10
# New lines of pages that are refused one after the other, beyond as many as the last good page
# had: Prometheus' cache allows as many (iterDone in scrape/scrape.go).
_SPARE = 1000


class Memory:
    """The lines of one target.

    Each page goes through ``begin`` and ``samples``; ``settle`` follows when it is let in.
    """

    def __init__(self, recipe: Recipe, target_labels: Labels) -> None:
        """Know nothing yet."""
        self._recipe = recipe
        self._target_labels = target_labels
        self.scales = Scales()
        self._format: Format | None = None
        self.lines = Lines()
        self._current: list[Line] = []
        self._pages = 0
        self._unsettled = 0
        self._adopted: dict[bytes, Baseline] = {}

    def __len__(self) -> int:
        return len(self.lines) + len(self._adopted)

    def adopt(self, former: "Memory") -> None:
        """Take over counters' baselines, and what the values have told of units."""
        self._adopted = former.baselines()
        self.scales.adopt(former.scales)

    def baselines(self) -> dict[bytes, Baseline]:
        """Give the last known total of each counter, by what stands before its value."""
        known = {line.head: line.baseline for line in self.lines if line.baseline}
        return {**self._adopted, **known}

    def begin(self, form: Format | None) -> Format:
        """Make ready for a page of this format; None: of that of the last."""
        for line in self._current:
            line.seen_at = self._pages
        if self._unsettled > len(self._current) + _SPARE:
            self.lines.keep(lambda line: line.seen_at <= self._pages)
            self._unsettled = 0
        found = form or self._format or Format.TEXT
        if found is not self._format:
            # What is a series in one format may be none in the other; counters go on all the same.
            self._adopted = self.baselines()
            self._format, self.lines, self._current = found, Lines(), []
        return found

    def samples(self, survey: Survey, end: int | None) -> tuple[list[Sample], Refused | None]:
        """Decide on each sample, up to the one that fails the page.

        ``end`` is the number of the first line that is not looked at.
        """
        found: list[Sample] = []
        self.scales.begin()
        honor = self._recipe.job.honor_timestamps
        for sighting in survey.sightings:
            if end is not None and sighting.number >= end:
                break
            sample = self._sample(sighting, survey.types, sighting.at_ms if honor else None)
            if isinstance(sample, Refused):
                return found, sample
            found.append(sample)
        return found, None

    def settle(self, samples: Sequence[Sample]) -> None:
        """Let a page in that has these samples."""
        self._pages += 1
        self._unsettled = 0
        self._current = [sample.line for sample in samples]
        horizon = self._pages - KEPT_SCRAPES
        self.lines.keep(lambda line: line.seen_at >= horizon)
        if horizon > 0:
            self._adopted.clear()

    def repeat(self) -> None:
        """Let a page in that has the lines of the last."""
        self._pages += 1

    def _sample(
        self, sighting: Sighting, types: dict[str, Kind], at_ms: int | None
    ) -> Sample | Refused:
        # What the walk recalled was made anew if the series was on the page before under another
        # TYPE.
        known = self.lines.get(sighting.head)
        fresh = known is None or known.seen_at < self._pages
        name = known.name if known is not None else self._item(sighting).name
        role = family.role(name, types)
        if known is None or (known.role, known.exposed.context) != (role, sighting.context):
            self._unsettled += known is None
            cooked = self._cook(sighting, name, role, known)
            if isinstance(cooked, Refused):
                return cooked
            known = cooked
            self.lines.put(known)
        known.seen_at = self._pages + 1
        self.scales.see(name)
        return Sample(known, at_ms, fresh)

    def _cook(
        self, sighting: Sighting, name: str, role: Role | None, known: Line | None
    ) -> Line | Refused:
        recipe = self._recipe
        text, rest = split(sighting.head)
        exposed = recipe.commons.exposed.give(Exposed(text, name, sighting.context, role))
        series = Series(exposed.name, self._item(sighting).labels, role)
        labelled = recipe.labelled(series, self._target_labels)
        if isinstance(labelled, Refused):
            return labelled
        shadows, watch = "", None
        if isinstance(labelled, Labelled):
            fate = recipe.decide(labelled, series.role, self.scales)
            watch = derived.watch(recipe.plan.dcgm, series, labelled, self.scales)
            if recipe.job.report_series:
                shadows = report.shadowed(labelled, self._target_labels)
        else:
            fate = labelled
        baseline = self._adopted.pop(sighting.head, None) if known is None else known.baseline
        return Line(
            exposed,
            recipe.commons.texts.give(rest),
            fate,
            self._pages,
            baseline,
            shadows,
            watch,
        )

    def _item(self, sighting: Sighting) -> SeriesItem:
        """Give the series as parsed; one that was recalled is parsed again from its head."""
        if sighting.item is not None:
            return sighting.item
        context = Context(cast("Format", self._format))
        context.kind = sighting.context
        # Lines are remembered for one format only, so what was a series is one again.
        return cast("SeriesItem", exposition.item(sighting.head + b"0\n", 0, context))


def shadowed(samples: Iterable[Sample]) -> frozenset[str]:
    """Name the report series in whose place these samples stand: those without a time of theirs."""
    return frozenset(one.line.shadows for one in samples if one.line.shadows and one.at_ms is None)


def watches(samples: Iterable[Sample]) -> tuple[tuple[int, Watch], ...]:
    """Give the lines that are watched, with their positions."""
    found = ((at, one.line.watch) for at, one in enumerate(samples))
    return tuple((at, watch) for at, watch in found if watch is not None)
