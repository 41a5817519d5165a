"""One target's page: read cold once, then replayed.

Law, held by property tests: replaying gives the events that a fresh ``Page`` would give, the
differences of counters aside.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from cwgpu.digest import assemble, count, derived, memory, pulse, values
from cwgpu.digest.assemble import Sample
from cwgpu.digest.budget import Feed
from cwgpu.digest.layout import Contents, Layout
from cwgpu.digest.line import Line, Watch
from cwgpu.digest.memory import Memory
from cwgpu.digest.recipe import Recipe
from cwgpu.digest.record import Templates
from cwgpu.digest.survey import MOST_BAD, Survey, Walk
from cwgpu.digest.tally import Tally
from cwgpu.digest.tellers import Teller, Telling
from cwgpu.digest.values import Values
from cwgpu.digest.window import Window
from cwgpu.emf import limits
from cwgpu.model.errors import ExpositionError
from cwgpu.model.event import EmfEvent
from cwgpu.model.labels import Labels
from cwgpu.model.reading import Counts, Reading, Refused
from cwgpu.model.scrape import FailReason
from cwgpu.prom import content

_MOST_OTHERS = 100_000
"""Lines without a sample of a page that is kept as a whole, to be replayed: two for each name, and
there are some thousand names. Each takes a hundred bytes, and a page may hold millions."""


@dataclass(frozen=True, slots=True)
class Examined:
    """A page that is let in: its samples, each with the slot or the reason that its line has."""

    survey: Survey
    samples: list[Sample]
    """One for each sighting of the survey, in the same order."""
    counts: Counts


class Page:
    """What one target exposes, as far as it is known."""

    def __init__(self, recipe: Recipe, target_labels: Labels, teller: Teller | None = None) -> None:
        """Know nothing yet. ``teller`` is the target, where others may tell of its GPUs too."""
        self._recipe = recipe
        self._teller = teller
        self.memory = Memory(recipe, target_labels)
        """Its lines, for the page that takes its place."""
        self._templates = templates(recipe)
        # Records some of whose values cannot be sent: which ones may differ at every scrape, so
        # what the last one had no use for is forgotten.
        self._partial = templates(recipe)
        self._window = Window(recipe.plan.emf.events.window_s, templates(recipe))
        self._interval_ms = int(recipe.job.interval_s * 1000)
        self._layout: Layout | None = None
        self._content_type = ""
        """That of the layout's page."""
        self._feed: Feed | None = None
        """Which metrics the layout's values go to, where they are counted."""

    def adopt(self, former: "Page") -> None:
        """Take over what the page that this one replaces knows of counters and units.

        What waits there for its window to end stays there: ask it to ``close``.
        """
        former.settle()
        self.memory.adopt(former.memory)

    def settle(self) -> None:
        """Let ``memory`` know what counters stand at."""
        if self._layout is not None:
            self._layout.contents.judge.settle()

    def close(self) -> tuple[EmfEvent, ...]:
        """Give the events of what waits for its window to end: nothing more comes, or not soon."""
        return tuple(self._window.close())

    def due(self, now_ms: int) -> bool:
        """Whether something waits, and no answer to a scrape of its window can come any more."""
        patience_ms = int(self._recipe.job.timeout_s * 1000)
        return self._window.over(now_ms, patience_ms)

    @property
    def remembered(self) -> int:
        """How many lines, baselines and templates are held: pods that come and go add none."""
        laid = len(self._templates) + len(self._partial) + self._window.remembered
        return len(self.memory) + laid

    def read(self, body: bytes, at_ms: int, content_type: str = "") -> Reading | Refused:
        """Turn one answer into events. ``at_ms`` is when the scrape began."""
        replayed = self.replay(body, at_ms, content_type)
        return self.learn(body, at_ms, content_type) if replayed is None else replayed

    def replay(self, body: bytes, at_ms: int, content_type: str = "") -> Reading | None:
        """Do so in a hundredth of the time if only numbers differ from the last page; else None."""
        layout = self._layout
        if self._feed is not None and self._feed.stale:
            return None
        if self._teller is not None and self._teller.stale:
            return None
        if layout is not None and self._content_type == content_type:
            texts = layout.match(body)
            if texts is not None:
                try:
                    found = values.read_joined(texts)
                except ExpositionError:
                    return None
                if body:
                    self.memory.repeat()
                return self._emit(layout.contents, found, at_ms, body)
        return None

    def learn(self, body: bytes, at_ms: int, content_type: str = "") -> Reading | Refused:
        """Do so whatever the last page was."""
        self.settle()
        self._layout = None
        examined = self.examine(body, content_type, at_ms)
        if isinstance(examined, Refused):
            return examined
        survey, samples = examined.survey, examined.samples
        if body:  # what an empty page does not have is not gone yet, as in Prometheus
            self.memory.settle(samples)
        self._templates.age()
        budget, namespace = self._recipe.budget, self._recipe.plan.emf.namespace
        self._feed = Feed(budget, namespace, at_ms) if budget is not None else None
        telling = Telling(self._teller) if self._teller is not None and body else None
        contents = assemble.contents(
            samples, survey.bad, self._recipe, self._templates, feed=self._feed, telling=telling
        )
        watches = memory.watches(samples)
        contents = replace(
            contents,
            counts=replace(examined.counts, added=0),
            shadowed=memory.shadowed(samples),
            watches=tuple(_heard(watches, telling)),
            sensor=self._sensor(samples, watches),
        )
        if _fits(survey):
            shape = self._shape(survey, samples)
            self._layout = Layout(self._recipe.commons, *shape, contents)
            self._content_type = content_type
        found = values.read([sighting.value for sighting in survey.sightings])
        former = self.close()
        reading = self._emit(contents, found, at_ms, body)
        return reading._replace(
            events=former + reading.events,
            counts=examined.counts,
            told=telling.done() if telling is not None else None,
        )

    def _shape(
        self, survey: Survey, samples: Sequence[Sample]
    ) -> tuple[Sequence[bytes], Mapping[int, Line]]:
        """Give the page's lines as they are kept: comments are the same on many pages."""
        numbers = [sighting.number for sighting in survey.sightings]
        lines = {at: sample.line for at, sample in zip(numbers, samples, strict=True)}
        share = self._recipe.commons.texts.give
        physical = enumerate(survey.physical)
        return [b"" if at in lines else share(line) for at, line in physical], lines

    def _sensor(
        self, samples: Iterable[Sample], watches: Iterable[tuple[int, Watch]]
    ) -> pulse.Sensor | None:
        if not self._recipe.plan.dcgm.frozen_after:
            return None
        return pulse.sensor((sample.line.name for sample in samples), watches)

    def examine(self, body: bytes, content_type: str, at_ms: int = 0) -> Examined | Refused:
        """Read the lines of an answer and decide on each, whatever the values.

        Only the count of new series asks for ``at_ms``, when the scrape began.
        """
        job = self._recipe.job
        try:
            # An empty answer is a page without samples, whatever it is called.
            fmt = content.choose(content_type, job.fallback_format) if body else None
        except ExpositionError as fault:
            return Refused(FailReason.NOT_METRICS, str(fault))
        survey = Walk(body, self.memory.begin(fmt), self.memory.lines).run()
        return _no_page(survey, body, strict=job.strict) or self._judge(survey, at_ms)

    def _judge(self, survey: Survey, at_ms: int) -> Examined | Refused:
        job = self._recipe.job
        bad = survey.bad[0] if job.strict and survey.bad else None
        samples, refused = self.memory.samples(survey, bad.number - 1 if bad else None)
        counts = count.counts(samples, job.sample_limit, at_ms)
        if refused is not None:
            return refused._replace(counts=replace(counts, scraped=counts.scraped + 1))
        if bad is not None:
            scraped = counts.scraped + (bad.number in survey.repetitive)
            detail = f"line {bad.number}: {bad.fault}"
            return Refused(FailReason.BAD_LINE, detail, replace(counts, scraped=scraped))
        if 0 < job.sample_limit < counts.passed:
            detail = (
                f"{counts.passed} samples after relabelling, sample_limit is {job.sample_limit}: "
                "raise the limit, or drop samples by metric_relabel_configs"
            )
            return Refused(FailReason.SAMPLE_LIMIT, detail, counts)
        return Examined(survey, samples, counts)

    def _emit(self, contents: Contents, found: Values, at_ms: int, body: bytes) -> Reading:
        self._partial.age()
        tally = Tally(contents.drops)
        row = contents.judge.row(found, at_ms, tally)
        if self._feed is not None:
            self._feed.flow(row.texts, at_ms)
        events: list[EmfEvent] = []
        for record in contents.now:
            events += record.events(row, self._partial)
        if contents.later.records:
            events += self._window.take(contents.later, row)
            # A page that is read anew at each scrape, as one that gives its samples times of their
            # own, has nothing that the next one could join.
            if self._layout is None or self._window.ends(at_ms + self._interval_ms):
                events += self._window.close()
        return Reading(
            events=tuple(events),
            samples=contents.samples,
            selected=len(contents.judge) - row.lost,
            dropped=tally.drops(),
            bad_lines=contents.bad_lines,
            partly=contents.partly,
            counts=contents.counts,
            shadowed=contents.shadowed,
            watched=tuple(derived.watched(contents.watches, found.numbers))
            if contents.watches
            else (),
            pulse=contents.sensor.feel(body, found.numbers) if contents.sensor else None,
        )


def templates(recipe: Recipe) -> Templates:
    """Give the templates of a page, empty yet."""
    emf = recipe.plan.emf
    most = limits.ARRAY_VALUES if emf.events.arrays else 1
    return Templates(emf.namespace, most, recipe.commons)


def _heard(
    watches: Iterable[tuple[int, Watch]], telling: Telling | None
) -> Iterator[tuple[int, Watch]]:
    """Give those that gauges are made of, but for what a target that is preferred tells too."""
    for at, one in watches:
        if one.field == derived.ENERGY:
            continue
        if telling is None or not telling.take(one.labels, (derived.gauge(one),)):
            yield at, one


def _fits(survey: Survey) -> bool:
    others = len(survey.physical) - len(survey.sightings)
    return others <= _MOST_OTHERS and all(sighting.simple for sighting in survey.sightings)


def _no_page(survey: Survey, body: bytes, *, strict: bool) -> Refused | None:
    looks_like_markup = body.lstrip()[:1] == b"<"
    unreadable = survey.bad and not survey.sightings
    if not looks_like_markup and (strict or not unreadable):
        return None if strict else _too_bad(survey)
    shown = repr(body.lstrip()[:60].decode(errors="replace"))
    if body.lstrip()[:1] == b"#":  # it means to be one
        shown += f"; line {survey.bad[0].number}: {survey.bad[0].fault}"
    return Refused(
        FailReason.NOT_METRICS,
        f"the answer is no metrics page (it begins {shown}): check metrics_path and port",
    )


def _too_bad(survey: Survey) -> Refused | None:
    if len(survey.bad) <= MOST_BAD:
        return None
    first = survey.bad[0]
    return Refused(
        FailReason.NOT_METRICS,
        f"more than {MOST_BAD} lines of the answer are no metrics, the first of them line "
        f"{first.number}: {first.fault}; check metrics_path and port",
    )
