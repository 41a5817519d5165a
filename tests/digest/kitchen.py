"""Plans and pages for tests of the digest: one job, one declaration, no files."""

from dataclasses import replace

from cwgpu.digest.line import Dropped, Slot
from cwgpu.digest.page import Page
from cwgpu.digest.recipe import Labelled, Recipe, Series
from cwgpu.emf.declare import Declaration, declaration
from cwgpu.model.labels import Labels
from cwgpu.model.reading import Reading, Refused
from cwgpu.plan.plan import CloudWatch, Dcgm, Emf, Job, Plan
from cwgpu.prom import regex
from tests.fakes import emf as reader
from tests.fakes.emf import Datapoint

START_MS = 1_765_000_000_000
STEP_MS = 15_000
"""From one scrape to the next."""
TARGET = {"job": "dcgm", "Service": "dcgm-exporter", "Namespace": "gpu-operator"}
SETS = (("Service", "Namespace", "ClusterName", "job", "pod"),)
JOB = (("job",),)


def declared(
    selectors: str = ".", sets: tuple[tuple[str, ...], ...] = SETS, **other: str
) -> Declaration:
    """A declaration for the exporter's Service that selects by one regex."""
    return declaration(
        other.get("source", "Service").split(),
        regex.searching(other.get("matcher", "dcgm")),
        regex.searching(selectors),
        sets,
    )


def plan(*declarations: Declaration, dcgm: Dcgm | None = None, **emf: object) -> Plan:
    """A plan with these declarations; ``emf`` holds further fields of ``plan.Emf``."""
    basic = Emf("Lab/Gpu", declarations or (declared(),), cluster_name="lab")
    return Plan(
        jobs=(Job("dcgm", 60.0, 10.0),),
        emf=replace(basic, **emf),  # type: ignore[arg-type]
        cloudwatch=CloudWatch("/lab/{ClusterName}", "{JobName}"),
        dcgm=dcgm or Dcgm(),
    )


def by_job(*, dcgm: Dcgm | None = None, **emf: object) -> Plan:
    """A plan that sends everything, with the job as its only dimension."""
    return plan(declared(sets=JOB), dcgm=dcgm, **emf)


def recipe(of: Plan | None = None, **job: object) -> Recipe:
    """A recipe; ``job`` holds fields of ``plan.Job`` that differ from the default."""
    whole = of or plan()
    return Recipe(whole, replace(whole.jobs[0], **job))  # type: ignore[arg-type]


def page(of: Plan | None = None, target: dict[str, str] | None = None, **job: object) -> Page:
    """A fresh page; ``job`` holds fields of ``plan.Job`` that differ from the default."""
    return Page(recipe(of, **job), TARGET if target is None else target)


def read(of: Page, text: str | bytes, at_ms: int = START_MS) -> Reading:
    """Read a page that must not be refused."""
    found = of.read(text.encode() if isinstance(text, str) else text, at_ms)
    assert not isinstance(found, Refused), found
    return found


def once(of: Page, text: str | bytes) -> Reading:
    """Read a page as a run with --once does: nothing waits for the window to end."""
    reading = read(of, text)
    return reading._replace(events=reading.events + of.close())


def points(reading: Reading) -> list[Datapoint]:
    """What CloudWatch makes of the events, which it must take without complaint."""
    found: list[Datapoint] = []
    for event in reading.events:
        extracted = reader.extract(event.message.decode(), event.at_ms, declared=True)
        assert extracted.error is None, extracted.error
        found += extracted.datapoints
    return found


def account(reading: Reading) -> str:
    """What was sent and what was dropped, such as ``A=1 B=2.5 | duplicate=1``."""
    sent = sorted(f"{each.name}={each.value:g}" for each in points(reading))
    dropped = [f"{drop.reason.value}={drop.count}" for drop in reading.dropped]
    return " ".join([*sent, *(["|", *dropped] if dropped else [])])


def story(of: Page, *texts: str) -> list[str]:
    """The accounts of several scrapes, one after the other."""
    return [
        account(read(of, text, START_MS + number * STEP_MS)) for number, text in enumerate(texts)
    ]


def cook(recipe: Recipe, series: Series, target_labels: Labels) -> Slot | Dropped | Refused:
    """Decide on one series of a target with these public labels, as a page does."""
    labelled = recipe.labelled(series, target_labels)
    return recipe.decide(labelled, series.role) if isinstance(labelled, Labelled) else labelled
