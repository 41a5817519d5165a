"""Any bytes are samples or faults, however they are read.

The pages of one target come one after the other, each the last one with something broken or with
other numbers. Every one is read by the parser as a whole, item by item and by the lexers alone, and
by the digest strictly, leniently, and by a page that has seen the ones before.

``make fuzz``, or ``python -m tests.fuzz.exposition --seconds 600 --seed 1``.
"""

import json
import random
import re
import sys
from dataclasses import dataclass, replace
from typing import Any

from cwgpu.digest import explain
from cwgpu.digest.page import Page
from cwgpu.emf.delta import Treatment
from cwgpu.model.drop import DropReason
from cwgpu.model.kind import Kind
from cwgpu.model.reading import Reading, Refused
from cwgpu.model.scrape import FailReason
from cwgpu.plan.plan import Plan
from cwgpu.prom import exposition, number, relabel, samples
from cwgpu.prom.exposition import BadItem, Context, EofItem, Format, Item, SeriesItem, TypeItem
from tests.digest import kitchen
from tests.fuzz import engine, mutate, pages

_ABSOLUTE = kitchen.plan(counters=((lambda _: True, Treatment.ABSOLUTE),))
_DELTA = kitchen.plan(kitchen.declared(sets=kitchen.JOB))
_MOST_SEEDS = 4000

_RENAMING = (
    relabel.rule(action="drop", source_labels=["pod"], regex="x.*"),
    relabel.rule(source_labels=["a"], regex="(.+)", target_label="__name__"),
    relabel.rule(action="labeldrop", regex="q.*|__name__y"),
    relabel.rule(action="labelmap", regex="(.)(.*)", replacement="$1"),
    relabel.rule(source_labels=["quantile"], regex="1.*", target_label="__name__", replacement=""),
)
_JOBS: tuple[dict[str, Any], ...] = (
    {},
    {"honor_labels": True, "honor_timestamps": False},
    {"metric_relabel": _RENAMING},
    {"metric_relabel": _RENAMING, "honor_labels": True, "report_series": True},
    {"sample_limit": 3},
    {"label_limit": 5, "label_name_length_limit": 8, "label_value_length_limit": 20},
)
"""Keys of jobs that have a say in what becomes of a page."""


@dataclass(frozen=True, slots=True)
class Scrape:
    """One answer of the target."""

    body: bytes
    form: Format


@dataclass(frozen=True, slots=True)
class Case:
    """What a target answers, scrape after scrape, to a job."""

    scrapes: tuple[Scrape, ...]
    job: int
    """Of ``_JOBS``."""
    strict: bool

    def page(self, of: Plan) -> Page:
        """Give a page that has seen nothing."""
        return kitchen.page(of, strict=self.strict, **_JOBS[self.job])


class Pages:
    """Pages of one target, one after the other."""

    def __init__(self) -> None:
        self._seeds = list(pages.seeds())
        self._features: set[str] = set()

    def draw(self, random: random.Random) -> Case:
        """Take a page and break it, again and again."""
        body = pages.written(random) if random.random() < 0.4 else random.choice(self._seeds)
        form = random.choice(tuple(Format))
        scrapes = []
        for _ in range(random.choice((1, 2, 3, 5))):
            if random.random() < 0.1:
                form = random.choice(tuple(Format))
            scrapes.append(Scrape(body, form))
            body = mutate.broken(random, body, pages.TOKENS, random.choice((0, 1, 1, 2, 6)))
        job = random.choice((0, random.randrange(len(_JOBS))))
        return Case(tuple(scrapes), job, strict=random.random() < 0.2)

    def check(self, case: object) -> None:
        """Hold everything to its laws; what shows something new is broken further, later."""
        assert isinstance(case, Case)
        for scrape in case.scrapes:
            items = parsed(scrape.body, scrape.form)
            self._learn(scrape.body, items)
            judged(scrape, items)
            explained(case, scrape)
        replayed(case)
        accounted(case)

    def _learn(self, body: bytes, items: list[Item]) -> None:
        feature = " ".join(sorted({_feature(item) for item in items}))
        if feature not in self._features and len(self._seeds) < _MOST_SEEDS:
            self._features.add(feature)
            self._seeds.append(body)


def _feature(item: Item) -> str:
    fault = re.sub(r'".*?"|\d+', "", item.fault) if isinstance(item, BadItem) else ""
    return f"{type(item).__name__}{fault}"


def parsed(body: bytes, form: Format) -> list[Item]:
    """Parse a page; whole or item by item, quickly or by the lexers alone, it is the same."""
    items = list(exposition.scan(body, form))
    at, kind = 0, Kind.UNKNOWN
    for item in items:
        assert item.start == at
        assert item.end > at or (isinstance(item, BadItem) and at == len(body))
        if at < len(body) and not (isinstance(item, BadItem) and item is items[-1]):
            assert exposition.slowly(body, at, Context(form, kind)) == item
        _check_item(body, item, form, kind)
        kind = item.kind if isinstance(item, TypeItem) else kind
        at = item.end
    assert at == len(body)
    return items


def _check_item(body: bytes, item: Item, form: Format, kind: Kind) -> None:
    if isinstance(item, BadItem):
        assert item.fault.isprintable()
        assert item.start <= item.at <= len(body)
    elif isinstance(item, EofItem):
        return
    else:
        part = body[item.start : item.end]
        alone = exposition.item(part, 0, Context(form, kind))
        assert alone == replace(item, start=0, end=len(part))
    if isinstance(item, SeriesItem):
        number.parse(item.value)
        assert item.name
        item.name.encode()
        assert all(name and isinstance(value, str) for name, value in item.labels)


def judged(scrape: Scrape, items: list[Item]) -> None:
    """Strict reading refuses a page exactly when lenient reading finds a fault in it."""
    body, form = scrape.body, scrape.form
    lenient, strict = (
        kitchen.page(_DELTA, strict=strict).read(body, kitchen.START_MS, form.value)
        for strict in (False, True)
    )
    series = [item for item in items if isinstance(item, SeriesItem)]
    repeated = sum(exposition.repeated(item.labels) is not None for item in series)
    faults = repeated + sum(isinstance(item, BadItem) for item in items)
    if not body:
        faults = 0  # no page at all; the parser alone would miss the end of an OpenMetrics page
    if isinstance(lenient, Refused):
        assert lenient.reason is FailReason.NOT_METRICS
        assert isinstance(strict, Refused)
        return
    dropped = {drop.reason: drop.count for drop in lenient.dropped}
    assert dropped.get(DropReason.BAD_LINE, 0) == faults
    assert lenient.samples == len(series) - repeated + faults
    if faults:
        assert isinstance(strict, Refused)
        assert strict.reason is FailReason.BAD_LINE
    else:
        assert strict == lenient
    _check_listing(body, form, faults)


def _check_listing(body: bytes, form: Format, faults: int) -> None:
    if body:
        assert len(samples.read(body, form, strict=False).faults) == faults
        assert len(samples.read(body, form, strict=True).faults) == min(faults, 1)


def explained(case: Case, scrape: Scrape) -> None:
    """What is said of a page is what its first scrape makes of it."""
    recipe = kitchen.recipe(_DELTA, strict=case.strict, **_JOBS[case.job])
    content_type = scrape.form.value
    found = Page(recipe, kitchen.TARGET).read(scrape.body, kitchen.START_MS, content_type)
    said = explain.explain(recipe, kitchen.TARGET, scrape.body, content_type)
    if isinstance(found, Refused) or isinstance(said, Refused):
        assert isinstance(said, Refused)
        assert isinstance(found, Refused)
        assert (said.reason, said.detail) == (found.reason, found.detail)
        return
    assert (said.samples, said.selected) == (found.samples, found.selected)
    assert said.dropped == found.dropped
    assert said.bad_lines[: len(found.bad_lines)] == found.bad_lines


def replayed(case: Case) -> None:
    """A page that has seen others reads each as one that has seen nothing, and twice the same."""
    known, scrapes = case.page(_ABSOLUTE), case.scrapes
    for at_ms, scrape in enumerate((*scrapes[:1], *scrapes, *scrapes[::-1]), kitchen.START_MS):
        fresh = case.page(_ABSOLUTE)
        found, other = (page.read(scrape.body, at_ms, scrape.form.value) for page in (known, fresh))
        assert found.counts.added <= other.counts.added
        counts = replace(found.counts, added=other.counts.added)
        assert found._replace(counts=counts) == other


def accounted(case: Case) -> None:
    """Every sample is in an event or has a reason, and every event is what CloudWatch takes."""
    known, scrapes = case.page(_DELTA), case.scrapes
    for at_ms, scrape in enumerate((*scrapes, *scrapes[-1:]), kitchen.START_MS):
        found = known.read(scrape.body, at_ms, scrape.form.value)
        if isinstance(found, Refused):
            assert found.detail.isprintable()
            continue
        assert found.samples == found.selected + sum(drop.count for drop in found.dropped)
        assert found.selected == sum(event.samples for event in found.events)
        assert sum(drop.count > 0 for drop in found.dropped) == len(found.dropped)
        _check_events(found)


def _check_events(found: Reading) -> None:
    for event in found.events:
        message = json.loads(event.message)
        directives = message["_aws"]["CloudWatchMetrics"]
        names = {metric["Name"] for one in directives for metric in one["Metrics"]}
        assert len(names) == event.samples
        assert all(type(message[name]) in {int, float} for name in names)


TARGETS: dict[str, engine.Make] = {"pages": Pages}

if __name__ == "__main__":
    sys.exit(engine.main(TARGETS))
