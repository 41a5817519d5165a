"""What becomes of one series, decided once."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from cwgpu.digest.line import Dropped, Slot
from cwgpu.digest.recipe import Series
from cwgpu.emf.delta import Treatment
from cwgpu.model.drop import DropReason
from cwgpu.model.kind import Kind
from cwgpu.model.labels import LabelPairs
from cwgpu.model.reading import Refused
from cwgpu.plan.plan import Dcgm, Plan
from cwgpu.prom import regex, relabel
from cwgpu.prom.family import Role
from tests.digest import kitchen
from tests.digest.kitchen import JOB, TARGET, by_job, declared

GAUGE = Role(Kind.GAUGE, cumulative=False)
COUNTER = Role(Kind.COUNTER, cumulative=True)
POD = (("pod", "p"),)
GPU = (("UUID", "GPU-1"), ("gpu", "0"))


def cook(
    name: str = "DCGM_A",
    labels: LabelPairs = POD,
    role: Role | None = GAUGE,
    of: Plan | None = None,
    **job: object,
) -> Slot | Dropped:
    """Decide on one series of the usual target, of which no limit refuses the page."""
    decided = kitchen.cook(kitchen.recipe(of, **job), Series(name, labels, role), TARGET)
    assert not isinstance(decided, Refused)
    return decided


def slot(
    name: str = "DCGM_A",
    labels: LabelPairs = POD,
    role: Role | None = GAUGE,
    of: Plan | None = None,
    **job: object,
) -> Slot:
    """Decide on one series that is not dropped."""
    found = cook(name, labels, role, of, **job)
    assert isinstance(found, Slot), found
    return found


def rules(**rule: object) -> dict[str, Any]:
    """One rule of metric_relabel_configs."""
    return {"metric_relabel": (relabel.rule(**rule),)}  # type: ignore[arg-type]


UNKNOWN = Role(Kind.UNKNOWN, cumulative=False)
RENAME = rules(source_labels=["__name__"], regex=".*", target_label="__name__", replacement="new")
UNNAMED = rules(action="labeldrop", regex="__name__")
TYPED = kitchen.plan(declared(sets=(("job", "prom_metric_type"),)))


@dataclass(frozen=True, slots=True)
class Loss:
    """A series that goes nowhere."""

    sentence: str
    fate: Dropped
    series: tuple[str, LabelPairs, Role | None] = ("DCGM_A", POD, GAUGE)
    plan: Plan = field(default_factory=kitchen.plan)
    job: dict[str, Any] = field(default_factory=dict)


LOSSES = [
    Loss(
        "a rule drops it, and is named by its place",
        Dropped(DropReason.RELABEL, "rule 1 of metric_relabel_configs"),
        job=rules(action="drop", source_labels=["pod"], regex="p"),
    ),
    Loss("a rule takes its name away", Dropped(DropReason.NO_NAME), job=UNNAMED),
    Loss("it has no TYPE", Dropped(DropReason.UNTYPED), ("DCGM_A", POD, None)),
    Loss("its TYPE is untyped", Dropped(DropReason.UNTYPED), ("DCGM_A", POD, UNKNOWN)),
    *(
        Loss(
            f"a {kind.value} has no form here",
            Dropped(DropReason.UNSUPPORTED_TYPE, kind.value),
            ("DCGM_A", POD, Role(kind, cumulative=False)),
        )
        for kind in (Kind.HISTOGRAM, Kind.GAUGE_HISTOGRAM, Kind.INFO, Kind.STATESET)
    ),
    Loss(
        "its name is the format's own",
        Dropped(DropReason.NAME_INVALID, "is _aws, which the format keeps for itself"),
        ("_aws", POD, GAUGE),
    ),
    Loss(
        "its name is too long",
        Dropped(DropReason.NAME_INVALID, "has 256 characters, 255 are allowed"),
        ("x" * 256, POD, GAUGE),
    ),
    Loss(
        "no declaration selects its name",
        Dropped(DropReason.UNSELECTED),
        plan=kitchen.plan(declared("^other$")),
    ),
    Loss(
        "no declaration matches its labels",
        Dropped(
            DropReason.UNSELECTED,
            'selected by name, but label_matcher "^nginx" finds nothing in '
            'Service = "dcgm-exporter"',
        ),
        plan=kitchen.plan(declared(matcher="^nginx")),
    ),
    Loss(
        "several declarations select its name, and none matches; of a long value the head is told",
        Dropped(
            DropReason.UNSELECTED,
            'selected by name, but label_matcher "^a" finds nothing in Service = "dcgm-exporter" '
            f'and label_matcher "^b" finds nothing in pod = "{"p" * 100}..."',
        ),
        ("DCGM_A", (("pod", "p" * 101),), GAUGE),
        kitchen.plan(declared(matcher="^a"), declared(matcher="^b", source="pod")),
    ),
    Loss(
        "every dimension set needs a label that it has not",
        Dropped(DropReason.DIMENSION_MISSING, "[node, pod] needs node; [rack] needs rack"),
        plan=kitchen.plan(declared(sets=(("pod", "node"), ("rack",)))),
    ),
    Loss(
        "an empty label is an absent one",
        Dropped(DropReason.DIMENSION_MISSING, "[pod] needs pod"),
        ("DCGM_A", (("pod", ""),), GAUGE),
        kitchen.plan(declared(sets=(("pod",),))),
    ),
    Loss(
        "a label's value is none that CloudWatch takes",
        Dropped(DropReason.DIMENSION_INVALID, "the value of pod holds a character outside ASCII"),
        ("DCGM_A", (("pod", "größe"),), GAUGE),
        kitchen.plan(declared(sets=(("pod",),))),
    ),
]


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.sentence)
def test_what_goes_nowhere(loss: Loss) -> None:
    """A series that cannot be sent has the first reason it meets, and a detail that helps."""
    assert cook(*loss.series, loss.plan, **loss.job) == loss.fate


@dataclass(frozen=True, slots=True)
class Labels:
    """A series and the labels that its event gets."""

    sentence: str
    exposed: LabelPairs
    gone: tuple[str, ...] = ()
    """Names of the usual labels that are not there."""
    added: tuple[tuple[str, str], ...] = ()
    plan: Plan = field(default_factory=by_job)
    name: str = "DCGM_A"
    job: dict[str, Any] = field(default_factory=dict)


OLD_GPU = (("uuid", "GPU-1"), ("pod_name", "p"))
NEW_GPU = (("UUID", "GPU-1"), ("pod", "p"))
SEEN = [
    Labels("the exporter's labels join the target's", POD, added=POD),
    Labels(
        "a label that the target has already is renamed",
        (("job", "x"),),
        added=(("exported_job", "x"),),
    ),
    Labels(
        "honor_labels keeps the exporter's",
        (("Namespace", "x"), ("Service", "dcgm")),
        gone=("Namespace", "Service"),
        added=(("Namespace", "x"), ("Service", "dcgm")),
        job={"honor_labels": True},
    ),
    Labels(
        "an empty label that is honoured takes the target's away",
        (("Namespace", ""),),
        gone=("Namespace",),
        job={"honor_labels": True},
    ),
    Labels(
        "the exporter knows its cluster better than we do",
        (("ClusterName", "theirs"),),
        gone=("ClusterName",),
        added=(("ClusterName", "theirs"),),
    ),
    Labels(
        "where no cluster is known there is no ClusterName",
        POD,
        gone=("ClusterName",),
        added=POD,
        plan=by_job(cluster_name=""),
    ),
    Labels(
        "without a job there is a JobName, as from the agent",
        (),
        gone=("job",),
        added=(("JobName", "default"),),
        plan=kitchen.plan(declared(sets=(("Service",),))),
        job=rules(action="labeldrop", regex="job"),
    ),
    Labels("DCGM's old label names get the usual ones", OLD_GPU, added=NEW_GPU),
    Labels(
        "also in a metric of another name, if a GPU is in the labels",
        OLD_GPU,
        added=NEW_GPU,
        name="dcgm_gpu_temp",
    ),
    Labels(
        "but not in one that has nothing to do with a GPU",
        (("uuid", "1"), ("pod_name", "p")),
        added=(("uuid", "1"), ("pod_name", "p")),
        name="other",
    ),
    Labels(
        "dcgm.labels: false leaves them",
        OLD_GPU,
        added=OLD_GPU,
        plan=by_job(dcgm=Dcgm(labels=False)),
    ),
    Labels(
        "prom_metric_type is written where a dimension needs it",
        POD,
        added=(*POD, ("prom_metric_type", "gauge")),
        plan=TYPED,
    ),
    Labels(
        "and in the log",
        POD,
        added=(*POD, ("prom_metric_type", "gauge")),
        plan=by_job(log_unselected=True),
    ),
    Labels(
        "but not where it is only matched",
        POD,
        added=POD,
        plan=kitchen.plan(declared(sets=JOB, source="prom_metric_type", matcher="^gauge$")),
    ),
]
USUAL = {**TARGET, "ClusterName": "lab"}


@pytest.mark.parametrize("seen", SEEN, ids=lambda seen: seen.sentence)
def test_labels_of_the_event(seen: Labels) -> None:
    """An event has the target's labels, the exporter's, the cluster's, and no other."""
    usual = {name: value for name, value in USUAL.items() if name not in seen.gone}
    found = slot(seen.name, seen.exposed, GAUGE, seen.plan, **seen.job).labels
    assert found == tuple(sorted({**usual, **dict(seen.added)}.items()))


@pytest.mark.parametrize(
    ("name", "dcgm", "expected"),
    [
        ("DCGM_FI_DEV_GPU_UTIL", Dcgm(), "DCGM_FI_DEV_GPU_UTIL"),
        ("DCGM_FI_DEV_GPU_UTIL_RATIO", Dcgm(), "DCGM_FI_DEV_GPU_UTIL"),
        ("DCGM_FI_DEV_GPU_UTIL_RATIO", Dcgm(aliases=False), "DCGM_FI_DEV_GPU_UTIL_RATIO"),
    ],
)
def test_fields_have_their_older_names(name: str, dcgm: Dcgm, expected: str) -> None:
    """A selector for a field finds it by whichever of its names it is exposed."""
    assert slot(name, GPU, GAUGE, by_job(dcgm=dcgm)).metric.name == expected


def test_a_rule_may_give_the_metric_another_name() -> None:
    """Selectors, units and the rest go by the name after relabelling."""
    found = slot(of=kitchen.plan(declared("^new$", JOB), units={"new": "Percent"}), **RENAME)
    assert (found.metric.name, found.metric.unit) == ("new", "Percent")


BYTES = "DCGM_FI_PROF_PCIE_TX_BYTES"


def named(name: str) -> Callable[[str], bool]:
    """A selector for one name."""
    return regex.searching(f"^{name}$")


@pytest.mark.parametrize(
    ("name", "role", "emf", "job", "expected"),
    [
        ("DCGM_A", GAUGE, {}, {}, None),
        ("DCGM_A", COUNTER, {}, {}, Treatment.DELTA),
        ("s_sum", Role(Kind.SUMMARY, cumulative=True), {}, {}, Treatment.DELTA),
        ("s", Role(Kind.SUMMARY, cumulative=False), {}, {}, None),
        (BYTES, COUNTER, {}, {}, Treatment.ABSOLUTE),
        (BYTES, COUNTER, {}, RENAME, Treatment.ABSOLUTE),
        (BYTES, COUNTER, {"dcgm": Dcgm(rates=False)}, {}, Treatment.DELTA),
        (BYTES, COUNTER, {"counters": ((named(BYTES), Treatment.RATE),)}, {}, Treatment.RATE),
        ("DCGM_A", COUNTER, {"counters": ((named("B"), Treatment.RATE),)}, {}, Treatment.DELTA),
        (
            "DCGM_A",
            COUNTER,
            {"counters": ((named(".*"), Treatment.ABSOLUTE), (named(".*"), Treatment.RATE))},
            {},
            Treatment.ABSOLUTE,
        ),
        ("DCGM_A", None, {"untyped_as_gauge": True}, {}, None),
    ],
)
def test_treatment_of_counters(
    name: str,
    role: Role | None,
    emf: dict[str, Any],
    job: dict[str, Any],
    expected: Treatment | None,
) -> None:
    """Counters become differences unless the configuration or DCGM's ways say otherwise."""
    assert slot(name, GPU, role, by_job(**emf), **job).treatment is expected


@pytest.mark.parametrize(
    ("name", "dcgm", "job", "expected"),
    [
        ("DCGM_A", Dcgm(), {}, "DCGM_A"),
        ("DCGM_A", Dcgm(), RENAME, "DCGM_A"),
        ("DCGM_A", Dcgm(blanks=False), {}, ""),
        ("other", Dcgm(), {}, ""),
    ],
)
def test_blanks_are_looked_for_in_dcgm_fields(
    name: str, dcgm: Dcgm, job: dict[str, Any], expected: str
) -> None:
    """A field's blank values are its own, whatever a rule calls the metric."""
    assert slot(name, GPU, GAUGE, by_job(dcgm=dcgm), **job).field == expected


@pytest.mark.parametrize(("name", "expected"), [("A", 1), ("AB", 60), ("B", None)])
def test_storage_resolution_is_said_by_the_first_selector(name: str, expected: int | None) -> None:
    """What no selector matches is left to CloudWatch."""
    of = by_job(resolutions=((named("A"), 1), (named("A.*"), 60)))
    assert slot(name, POD, GAUGE, of).metric.resolution == expected


@pytest.mark.parametrize(
    ("dedup", "expected"),
    [(True, ((("job",), ("pod",)),)), (False, ((("job",), ("pod",)), (("job",),)))],
)
def test_declarations_are_joined_if_wanted(
    dedup: bool,  # noqa: FBT001 - a table's column
    expected: tuple[tuple[tuple[str, ...], ...], ...],
) -> None:
    """metric_declaration_dedup: once with every set, or once for each declaration."""
    sets = (("job",), ("pod",), ("missing",))
    of = kitchen.plan(declared(sets=sets), declared(sets=JOB), dedup=dedup)
    assert slot(of=of).metric.sets == expected


def test_what_nobody_selects_may_be_logged() -> None:
    """``unselected: "log"`` makes plain fields of what is not selected or lacks a label."""
    assert slot(of=kitchen.plan(declared("other"), log_unselected=True)).metric.sets == ()
    rack = kitchen.plan(declared(sets=(("rack",),)), log_unselected=True)
    assert slot(of=rack).metric.sets == ()


def test_the_metrics_of_one_gpu_share_their_labels() -> None:
    """Equal label sets are one object, which is what keeps big pages small."""
    recipe = kitchen.recipe(by_job())
    one, other = (kitchen.cook(recipe, Series(name, GPU, GAUGE), TARGET) for name in ("A", "B"))
    assert isinstance(one, Slot)
    assert isinstance(other, Slot)
    assert one.labels is other.labels


def test_a_page_of_nonsense_does_not_fill_the_memory() -> None:
    """What is remembered of names and label sets is bounded, and forgetting changes nothing."""
    recipe = kitchen.recipe(kitchen.plan(declared("7$", JOB)))
    for number in range(10_000):
        series = Series(f"m{number}", (("pod", f"p{number}"),), GAUGE)
        assert isinstance(kitchen.cook(recipe, series, TARGET), Slot) is (number % 10 == 7)
    for number in range(5_000):
        series = Series("m7", (("pod", f"q{number}"),), GAUGE)
        found = kitchen.cook(recipe, series, TARGET)
        assert isinstance(found, Slot)
        assert ("pod", f"q{number}") in found.labels
