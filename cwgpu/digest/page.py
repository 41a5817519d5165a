"""One target's page: read cold once, then replayed.

Law, held by property tests: replaying gives the events that a fresh ``Page`` would give, the
differences of counters aside.
"""

from dataclasses import dataclass
from typing import cast

from cwgpu.digest import assemble, values
from cwgpu.digest.assemble import Sample
from cwgpu.digest.layout import Contents, Layout
from cwgpu.digest.line import Line
from cwgpu.digest.recipe import Recipe, Series
from cwgpu.digest.record import Templates
from cwgpu.digest.survey import Sighting, Survey, Walk
from cwgpu.digest.tally import Tally
from cwgpu.digest.values import Values
from cwgpu.emf.delta import Baseline
from cwgpu.model.errors import ExpositionError
from cwgpu.model.event import EmfEvent
from cwgpu.model.kind import Kind
from cwgpu.model.labels import Labels
from cwgpu.model.reading import Reading, Refused
from cwgpu.model.scrape import FailReason
from cwgpu.prom import content, exposition, family
from cwgpu.prom.exposition import Context, Format, SeriesItem

# A line that was away for this many scrapes is forgotten, its counter's baseline with it. Long
# enough for an exporter's reload, short enough that pod churn leaves nothing behind.
KEPT_SCRAPES = 10


@dataclass(frozen=True, slots=True)
class Examined:
    """A page that is let in: its samples, each with the slot or the reason that its line has."""

    survey: Survey
    samples: list[Sample]
    """One for each sighting of the survey, in the same order."""


class Page:
    """What one target exposes, as far as it is known."""

    def __init__(self, recipe: Recipe, target_labels: Labels) -> None:
        """Know nothing yet."""
        self._recipe = recipe
        self._target_labels = target_labels
        self._templates = Templates(recipe.plan.emf.namespace)
        # Records some of whose values cannot be sent: which ones may differ at every scrape, so
        # what the last one had no use for is forgotten.
        self._partial = Templates(recipe.plan.emf.namespace)
        self._format: Format | None = None
        self._lines: dict[bytes, Line] = {}
        self._current: list[Line] = []
        self._layout: Layout | None = None
        self._scrapes = 0
        self._adopted: dict[bytes, Baseline] = {}

    def adopt(self, former: "Page") -> None:
        """Take over the counters' baselines of the page that this one replaces."""
        self._adopted = former.baselines()

    def baselines(self) -> dict[bytes, Baseline]:
        """Give the last known total of each counter, by what stands before its value."""
        known = {head: line.baseline for head, line in self._lines.items() if line.baseline}
        return {**self._adopted, **known}

    @property
    def remembered(self) -> int:
        """How many lines, baselines and templates are held: pods that come and go add none."""
        templates = len(self._templates) + len(self._partial)
        return len(self._lines) + len(self._adopted) + templates

    def read(self, body: bytes, at_ms: int, content_type: str = "") -> Reading | Refused:
        """Turn one answer into events. ``at_ms`` is when the scrape began."""
        self._scrapes += 1
        layout = self._layout
        if layout is not None and layout.content_type == content_type:
            texts = layout.match(body)
            if texts is not None:
                try:
                    found = values.read(texts)
                except ExpositionError:
                    return self._read_cold(body, at_ms, content_type)
                return self._emit(layout.contents, found, at_ms)
        return self._read_cold(body, at_ms, content_type)

    def _read_cold(self, body: bytes, at_ms: int, content_type: str) -> Reading | Refused:
        self._layout = None
        examined = self.examine(body, content_type)
        if isinstance(examined, Refused):
            return examined
        survey, samples = examined.survey, examined.samples
        self._templates.age()
        contents = assemble.contents(samples, survey.bad, self._recipe, self._templates)
        if all(sighting.simple for sighting in survey.sightings):
            self._layout = Layout(survey, contents, content_type)
        return self._emit(contents, values.read([s.value for s in survey.sightings]), at_ms)

    def examine(self, body: bytes, content_type: str) -> Examined | Refused:
        """Read the lines of an answer and decide on each, whatever the values."""
        job = self._recipe.job
        try:
            fmt = content.choose(content_type, job.fallback_format)
        except ExpositionError as fault:
            return Refused(FailReason.NOT_METRICS, str(fault))
        if fmt is not self._format:
            # What is a series in one format may be none in the other; counters go on all the same.
            self._adopted = self.baselines()
            self._format, self._lines = fmt, {}
        survey = Walk(body, fmt, self._lines).run()
        refused = _refused(survey, body, strict=job.strict)
        if refused is not None:
            return refused
        samples = self._samples(survey, fmt)
        passing = assemble.passing(samples) if job.sample_limit else 0
        if passing > job.sample_limit:
            detail = f"{passing} samples after relabelling, sample_limit is {job.sample_limit}"
            return Refused(FailReason.SAMPLE_LIMIT, detail)
        return Examined(survey, samples)

    def _emit(self, contents: Contents, found: Values, at_ms: int) -> Reading:
        self._partial.age()
        tally = Tally(contents.drops)
        events: list[EmfEvent] = []
        for record in contents.records:
            events += record.emit(found, at_ms, templates=self._partial, tally=tally)
        return Reading(
            events=tuple(events),
            samples=contents.samples,
            selected=sum(event.samples for event in events),
            dropped=tally.drops(),
            bad_lines=contents.bad_lines,
        )

    def _samples(self, survey: Survey, fmt: Format) -> list[Sample]:
        for line in self._current:
            line.seen_at = self._scrapes - 1
        honor = self._recipe.job.honor_timestamps
        samples = [
            Sample(self._line(sighting, survey.types, fmt), sighting.at_ms if honor else None)
            for sighting in survey.sightings
        ]
        self._current = [sample.line for sample in samples]
        horizon = self._scrapes - KEPT_SCRAPES
        self._lines = {h: line for h, line in self._lines.items() if line.seen_at >= horizon}
        if horizon > 0:
            self._adopted.clear()
        return samples

    def _line(self, sighting: Sighting, types: dict[str, Kind], fmt: Format) -> Line:
        known = sighting.line or self._lines.get(sighting.head)
        name = known.name if known is not None else _item(sighting, fmt).name
        role = family.role(name, types)
        if known is None or known.role != role or known.context is not sighting.context:
            item = _item(sighting, fmt)
            fate = self._recipe.cook(Series(item.name, item.labels, role), self._target_labels)
            baseline = self._adopted.pop(sighting.head, None) if known is None else known.baseline
            known = Line(
                sighting.head, item.name, sighting.context, role, fate, self._scrapes, baseline
            )
            self._lines[sighting.head] = known
        known.seen_at = self._scrapes
        return known


def _item(sighting: Sighting, fmt: Format) -> SeriesItem:
    """Give the series as parsed; one that was recalled is parsed again from its head."""
    if sighting.item is not None:
        return sighting.item
    context = Context(fmt)
    context.kind = sighting.context
    # Lines are remembered for one format only, so what was a series is one again.
    return cast("SeriesItem", exposition.item(sighting.head + b"0\n", 0, context))


def _refused(survey: Survey, body: bytes, *, strict: bool) -> Refused | None:
    if strict and survey.bad:
        first = survey.bad[0]
        return Refused(FailReason.BAD_LINE, f"line {first.number}: {first.fault}")
    looks_like_markup = body.lstrip()[:1] == b"<"
    if looks_like_markup or (survey.bad and not survey.sightings):
        shown = repr(body.lstrip()[:60].decode(errors="replace"))
        if body.lstrip()[:1] == b"#":  # it means to be one
            shown += f"; line {survey.bad[0].number}: {survey.bad[0].fault}"
        return Refused(
            FailReason.NOT_METRICS,
            f"the answer is no metrics page (it begins {shown}): check metrics_path and port",
        )
    return None
