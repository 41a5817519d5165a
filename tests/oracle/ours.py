"""What we make of the inputs that are given to Prometheus: jobs, targets and pages.

Everything goes the product's way: a prometheus.yml is loaded, a target labelled, a page examined
as strictly as Prometheus does.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from cwgpu.config import document, load
from cwgpu.config.complaint import errors_in
from cwgpu.config.document import Form
from cwgpu.config.where import Found
from cwgpu.digest.line import Dropped, Slot
from cwgpu.digest.page import Page
from cwgpu.digest.recipe import TYPE_LABEL, Recipe
from cwgpu.emf.delta import Treatment
from cwgpu.model.drop import DropReason
from cwgpu.model.labels import Labels
from cwgpu.model.reading import Refused
from cwgpu.plan.plan import CloudWatch, Dcgm, Emf, Job, Plan
from cwgpu.prom import merge, number, relabel

Json = dict[str, Any]

START_MS = 1_765_000_000_000


@dataclass(frozen=True, slots=True)
class Sample:
    """A sample after metric relabelling."""

    labels: tuple[tuple[str, str], ...]
    """Sorted by name; ``__name__`` is among them."""
    value: float
    at_ms: int | None = None
    """None: the time of the scrape."""


@dataclass(frozen=True, slots=True)
class Scraped:
    """A page that is let in."""

    samples: tuple[Sample, ...]
    """In the page's order."""
    scraped: int
    """Samples before metric relabelling."""
    slots: tuple[Sample, ...]
    """Samples that have a form in CloudWatch: no histograms, infos and state sets."""


def jobs(configs: Sequence[Json]) -> tuple[Job, ...]:
    """Load scrape configurations; what Prometheus does not read is as strict as Prometheus."""
    text = json.dumps({"scrape_configs": list(configs)})
    read = document.read(text.encode(), "prometheus.yml", Form.YAML)
    found, complaints = load.prometheus_file(Found(read.root, read.complaints, Path("/etc")))
    assert not errors_in(complaints), (text, complaints)
    return tuple(replace(job, strict=True, fallback_format=None) for job in found)


def pairs(labels: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Give a set of labels as a sample has it."""
    return tuple(sorted(labels.items()))


def scrape(job: Job, target: Labels, body: bytes, content_type: str) -> Scraped | Refused:
    """Read a page of a target with these public labels."""
    recipe = Recipe(_everything(job), job)
    examined = Page(recipe, target).examine(body, content_type)
    if isinstance(examined, Refused):
        return examined
    samples, slots = [], []
    for sighting, decided in zip(examined.survey.sightings, examined.samples, strict=True):
        assert sighting.item is not None
        exposed = dict(sighting.item.labels)
        merged = merge.merge(exposed, target, honor=job.honor_labels)
        labels = relabel.apply({**merged, "__name__": sighting.item.name}, job.metric_relabel)
        _agree(decided.line.fate, labels)
        if not isinstance(labels, relabel.Dropped):
            sample = Sample(pairs(labels), number.parse(sighting.value), decided.at_ms)
            samples.append(sample)
            slots += [sample] if isinstance(decided.line.fate, Slot) else []
    return Scraped(tuple(samples), len(examined.samples), tuple(slots))


def sent(job: Job, target: Labels, body: bytes, content_type: str) -> set[Sample]:
    """Give the samples of the log events that a page becomes, if everything is sent."""
    reading = Page(Recipe(_everything(job), job), target).read(body, START_MS, content_type)
    assert not isinstance(reading, Refused)
    return {
        sample
        for event in reading.events
        for sample in _fields(json.loads(event.message), event.at_ms)
    }


def sendable(scraped: Scraped) -> set[Sample]:
    """Give the samples that events can carry; of equal series at one time the last one."""
    last = {(sample.labels, sample.at_ms): sample for sample in scraped.slots}
    return {
        replace(sample, at_ms=START_MS if sample.at_ms is None else sample.at_ms)
        for sample in last.values()
        if abs(sample.value) <= 2.0**360
    }


def _everything(job: Job) -> Plan:
    """Make a plan that sends every sample as it is, labels and all."""
    emf = Emf(
        "Oracle",
        (),
        log_unselected=True,
        untyped_as_gauge=True,
        counters=((lambda _: True, Treatment.ABSOLUTE),),
    )
    cloudwatch = CloudWatch("group", "stream")
    dcgm = Dcgm(labels=False, blanks=False, aliases=False, rates=False)
    return Plan((job,), emf, cloudwatch, dcgm=dcgm)


def _agree(fate: Slot | Dropped, labels: dict[str, str] | relabel.Dropped) -> None:
    """See that the page decided on the labels that the rules make."""
    if isinstance(fate, Slot):
        assert isinstance(labels, dict)
        shown = {name: value for name, value in fate.labels if name != TYPE_LABEL}
        assert {"JobName": "default", **shown, "__name__": fate.metric.name} == {
            "JobName": "default",
            **labels,
        }
    else:
        assert isinstance(labels, relabel.Dropped) == (fate.reason is DropReason.RELABEL)


def _fields(event: Json, at_ms: int) -> Iterator[Sample]:
    """Give the numbers of an event; what is text is a label."""
    event.pop("_aws", None)
    event.pop(TYPE_LABEL, None)
    if event.get("JobName") == "default":
        del event["JobName"]
    labels = {name: value for name, value in event.items() if isinstance(value, str)}
    for name, value in event.items():
        if name not in labels:
            yield Sample(pairs({**labels, "__name__": name}), float(value), at_ms)
