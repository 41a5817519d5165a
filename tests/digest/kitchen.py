"""Plans for tests of the digest: one job, one declaration, no files."""

from dataclasses import replace

from cwgpu.emf.declare import Declaration, declaration
from cwgpu.model.reading import Reading, Refused
from cwgpu.plan.plan import CloudWatch, Dcgm, Emf, Job, Plan
from cwgpu.prom import regex
from cwgpu.digest.page import Page
from cwgpu.digest.recipe import Recipe

TARGET = {"job": "dcgm", "Service": "dcgm-exporter", "Namespace": "gpu-operator"}
SETS = (("Service", "Namespace", "ClusterName", "job", "pod"),)


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


def page(of: Plan | None = None, target: dict[str, str] | None = None, **job: object) -> Page:
    """A fresh page; ``job`` holds fields of ``plan.Job`` that differ from the default."""
    whole = of or plan()
    recipe = Recipe(whole, replace(whole.jobs[0], **job))  # type: ignore[arg-type]
    return Page(recipe, TARGET if target is None else target)


def read(of: Page, text: str | bytes, at_ms: int = 1_765_000_000_000) -> Reading:
    """Read a page that must not be refused."""
    found = of.read(text.encode() if isinstance(text, str) else text, at_ms)
    assert not isinstance(found, Refused), found
    return found
