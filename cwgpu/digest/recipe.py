"""The cold staircase: what becomes of one series, decided once.

``exposed name and labels -> gpu.normalise -> merge with the target's labels -> metric relabelling
-> bounds -> type -> declaration -> Slot``, or ``Dropped`` with the reason, at the first step that
says so; or ``Refused``, when the step fails the whole page.
"""

from dataclasses import dataclass

from cwgpu.digest import bounds
from cwgpu.digest.budget import Budget
from cwgpu.digest.choose import Chooser
from cwgpu.digest.line import Dropped, Partial, Slot
from cwgpu.digest.share import Commons
from cwgpu.emf import declare, limits
from cwgpu.emf.declare import Declaration
from cwgpu.emf.delta import Treatment
from cwgpu.emf.template import Metric
from cwgpu.gpu import alias, normalise, plausible, rates, unit, xid
from cwgpu.gpu.scale import Scales
from cwgpu.model.drop import DropReason
from cwgpu.model.kind import Kind
from cwgpu.model.labels import LabelPairs, Labels, pairs
from cwgpu.model.reading import Refused
from cwgpu.plan.plan import Emf, Job, Plan
from cwgpu.prom import merge, relabel
from cwgpu.prom.family import Role

TYPE_LABEL = "prom_metric_type"
"""The CloudWatch agent's label for a metric's type; declarations may match or require it."""

_DCGM = "DCGM_"
_COUNT = "Count"
_SENDABLE = frozenset({Kind.GAUGE, Kind.COUNTER, Kind.SUMMARY})
# Metric names seen, at most: pages have hundreds, so this only bounds a page of nonsense.
_MOST_NAMES = 8192


@dataclass(frozen=True, slots=True)
class Series:
    """A series as exposed."""

    name: str
    labels: LabelPairs
    """Labels as written, empty ones too: with honor_labels they remove the target's label."""
    role: Role | None


@dataclass(frozen=True, slots=True)
class Labelled:
    """A series that metric relabelling leaves, and that its job's bounds let in."""

    name: str
    labels: dict[str, str]
    field: str
    """Its name before relabelling, a DCGM field by its usual one."""
    exposed: str
    """Its name on the page."""


@dataclass(frozen=True, slots=True)
class Considered:
    """A series that could be sent, and what the declarations say to it."""

    name: str
    """After metric_relabel_configs."""
    field: str
    """Its name before those, a DCGM field by its usual one."""
    role: Role
    labels: LabelPairs
    visible: Labels
    """The labels as declarations see them, with the metric's type among them."""
    declared: declare.Declared
    lost: Dropped | None
    """Why they have no dimension set for it; None: they have."""


class Recipe:
    """The rules of one job, with what they already said about metric names."""

    def __init__(self, plan: Plan, job: Job, budget: Budget | None = None) -> None:
        """Take the plan, and the one of its jobs whose samples are decided on.

        ``budget`` counts the metrics of all targets, where the plan has a limit for them.
        """
        self.plan = plan
        self.job = job
        self.budget = budget
        self._emf = emf = plan.emf
        self._dcgm = plan.dcgm
        self._choosers: dict[str, Chooser] = {}
        """By metric name."""
        self._alike: dict[tuple[Declaration, ...], Chooser] = {}
        """By the declarations: most names have the same."""
        self.commons = Commons()
        # prom_metric_type is written into an event only where somebody can use it there:
        # it costs bytes and splits gauges and counters of one GPU into two events.
        self._writes_type = emf.log_unselected or any(
            TYPE_LABEL in names for d in emf.declarations for names in d.dimension_sets
        )
        self._spare = frozenset(xid.LABELS) - _used(emf) if plan.dcgm.labels else frozenset()

    def decide(
        self, labelled: Labelled, role: Role | None, scales: Scales | None = None
    ) -> Slot | Dropped:
        """Decide on one series that is let in; ``scales`` are those of the target."""
        found = self._considered(labelled, role)
        if isinstance(found, Dropped):
            return found
        if found.lost is not None and not self._emf.log_unselected:
            return found.lost
        name, field = found.name, found.field
        treatment = self._treatment(name, field) if found.role.cumulative else None
        unit, resolution = self._unit(name, field, treatment), self._resolution(name)
        metric = Metric(name, found.declared.sets, unit, resolution)
        is_dcgm = field.startswith(_DCGM)
        scale = scales.of(labelled.exposed) if scales and self._dcgm.aliases else None
        slot = Slot(
            labels=self._share(found.visible) if self._writes_type else found.labels,
            metric=self.commons.metrics.give(metric),
            treatment=treatment,
            # What DCGM means by a value does not change with the name that a rule gave it.
            field=(labelled.exposed if scale else field) if self._dcgm.blanks and is_dcgm else "",
            convert=plausible.within(field, scale) if self._dcgm.bounds else scale,
        )
        return _partial(slot, found.declared) if found.declared.invalid else slot

    def consider(self, series: Series, target_labels: Labels) -> Considered | Dropped | Refused:
        """Go as far as the declarations, whose answer decides."""
        found = self.labelled(series, target_labels)
        return self._considered(found, series.role) if isinstance(found, Labelled) else found

    def labelled(self, series: Series, target_labels: Labels) -> Labelled | Dropped | Refused:
        """Go as far as metric relabelling, and see whether the job lets in what that leaves."""
        field, exposed = self._normalised(series)
        labels = merge.merge(dict(exposed), target_labels, honor=self.job.honor_labels)
        relabelled = relabel.apply({**labels, bounds.NAME: field}, self.job.metric_relabel)
        if isinstance(relabelled, relabel.Dropped):
            rule = relabelled.rule_index + 1
            return Dropped(DropReason.RELABEL, f"rule {rule} of metric_relabel_configs")
        if not relabelled:  # to Prometheus a sample without labels is one that was dropped
            return Dropped(DropReason.RELABEL, "metric_relabel_configs left no label")
        if bounds.NAME not in relabelled:
            return bounds.unnamed() if self.job.strict else Dropped(DropReason.NO_NAME)
        refused = bounds.fault(relabelled, self.job)
        if refused is not None:
            return refused
        return Labelled(relabelled.pop(bounds.NAME), relabelled, field, series.name)

    def _normalised(self, series: Series) -> tuple[str, LabelPairs]:
        if not series.name.startswith(_DCGM) and not _is_dcgm_row(series.labels):
            return series.name, series.labels
        name = alias.old_name(series.name) if self._dcgm.aliases else series.name
        labels = normalise.labels(series.labels) if self._dcgm.labels else series.labels
        return name, labels

    def _role(self, role: Role | None) -> Role | Dropped:
        if role is None or role.kind is Kind.UNKNOWN:
            if self._emf.untyped_as_gauge:
                return Role(Kind.GAUGE, cumulative=False)
            return Dropped(DropReason.UNTYPED)
        if role.kind not in _SENDABLE:
            return Dropped(DropReason.UNSUPPORTED_TYPE, role.kind.value)
        return role

    def _considered(self, labelled: Labelled, role: Role | None) -> Considered | Dropped:
        judged = self._role(role)
        if isinstance(judged, Dropped):
            return judged
        name = labelled.name
        fault = limits.metric_name_fault(name)
        if fault:
            return Dropped(DropReason.NAME_INVALID, fault)
        labels = dict(labelled.labels)
        if self._spare and alias.old_name(labelled.field) == xid.FIELD:
            labels = {key: value for key, value in labels.items() if key not in self._spare}
        if self._emf.cluster_name:
            labels.setdefault("ClusterName", self._emf.cluster_name)
        if "job" not in labels:
            labels["JobName"] = "default"
        visible, shared = {**labels, TYPE_LABEL: judged.kind.value}, self._share(labels)
        choice = self._chooser(name).choose(judged.kind, shared, visible)
        return Considered(
            name,
            labelled.field,
            judged,
            labels=shared,
            visible=visible,
            declared=choice.declared,
            lost=choice.lost,
        )

    def _chooser(self, name: str) -> Chooser:
        found = self._choosers.get(name)
        if found is None:
            if len(self._choosers) >= _MOST_NAMES:
                self._choosers.clear()
                self._alike.clear()
            selecting = declare.selecting(self._emf.declarations, name)
            fresh = Chooser(selecting, dedup=self._emf.dedup)
            found = self._choosers[name] = self._alike.setdefault(selecting, fresh)
        return found

    def _share(self, labels: Labels) -> LabelPairs:
        commons, found = self.commons, pairs(labels)
        return commons.labels.find(found) or commons.labels.give(
            tuple(map(commons.pairs.give, found))
        )

    def _treatment(self, name: str, field: str) -> Treatment:
        for selects, treatment in self._emf.counters:
            if selects(name):
                return treatment
        if self._dcgm.rates and rates.is_rate_typed_as_counter(field):
            return Treatment.ABSOLUTE
        return Treatment.DELTA

    def _unit(self, name: str, field: str, treatment: Treatment | None) -> str | None:
        found = self._emf.units.get(name)
        if found is not None or not self._dcgm.units:
            return found
        found = unit.of(field)
        return f"{found}/Second" if found == _COUNT and treatment is Treatment.RATE else found

    def _resolution(self, name: str) -> int | None:
        for selects, seconds in self._emf.resolutions:
            if selects(name):
                return seconds
        return None


def _is_dcgm_row(labels: LabelPairs) -> bool:
    # Old exporters (-o) name metrics dcgm_*; custom CSVs may name them anything. A GPU's
    # identity is in every row they write.
    return any(name in {"UUID", "uuid", "gpu_uuid"} and v.startswith("GPU-") for name, v in labels)


def _used(emf: Emf) -> frozenset[str]:
    """Give the labels that something asks for."""
    if emf.log_unselected:
        return frozenset(xid.LABELS)
    sets = [names for one in emf.declarations for names in (*one.dimension_sets, one.source_labels)]
    kept = emf.events.labels
    return frozenset(
        name for names in (*sets, kept if isinstance(kept, tuple) else ()) for name in names
    )


def _partial(slot: Slot, declared: declare.Declared) -> Partial:
    names, fault = declared.invalid[0]
    skipped = f"[{', '.join(names)}]: {fault}"
    return Partial(slot.labels, slot.metric, slot.treatment, slot.field, slot.convert, skipped)
