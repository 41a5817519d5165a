"""Which metrics are selected, and what each of them costs."""

import re

from cwgpu.config.declarations import is_complete
from cwgpu.config.lint import dcgm
from cwgpu.config.lint.subject import DECLARATIONS, Subject, spelled
from cwgpu.config.nearest import nearest
from cwgpu.config.node import Loc
from cwgpu.digest import derived
from cwgpu.gpu import alias
from cwgpu.gpu.names import OLD_NAMES
from cwgpu.gpu.scale import FORMERS
from cwgpu.model.errors import RuleError
from cwgpu.prom import regex

_PLAIN = re.compile(r"(\^?)([A-Za-z_]\w*)(\$?)", re.ASCII)
_NUMBER = re.compile(r"[0-9]+")
_FIELD = "DCGM_"
_KNOWN = dcgm.FIELDS | OLD_NAMES.keys() | FORMERS.keys()
_OURS = (derived.XID_FATAL, derived.GPU_IDLE)
_ADD = (
    "of config/cwagent.json, take the job kubernetes-pod-dcgm-exporter, unless a job scrapes the "
    "exporter already, and the declaration: "
    '{"source_labels": ["Service"], "label_matcher": ".*dcgm.*", "dimensions": '
    '[["Service", "Namespace", "ClusterName", "job", "pod"]], '
    '"metric_selectors": ["^DCGM_FI_DEV_GPU_UTIL$"]}'
)
_SLIP = 0.95
"""How like a suggestion must be: one or two letters of a name. What is less like it may well be a
field that is not known here."""
_SHORT = 3
_SHOWN = 3

_CHURN = {
    "pod_uid": "every restart of a pod is a new one",
    "UUID": "every new instance brings its own",
    "instance": "every restart of the exporter is a new one",
    "pod_template_hash": "every roll-out is a new one",
    "controller_revision_hash": "every roll-out is a new one",
    "hpc_job": "every job is a new one",
    "dra_claim_name": "every claim is a new one",
    "err_msg": "every message is a new one",
}
"""Labels with values without end, and where new ones come from."""


def no_gpu_metric(subject: Subject) -> None:
    """Find declarations none of which selects anything that is known of a GPU."""
    complete = any(is_complete(each.written) for each in subject.declared)
    if subject.report is None or not complete or _renames(subject):
        return
    texts = [text for _, text in _selectors(subject)]
    # Not all fields are known here, and what was refused may have been one.
    if any(_FIELD in text for text in texts) or subject.report.said_within(DECLARATIONS):
        return
    if not any(_selects(text, name) for text in texts for name in (*_KNOWN, *_OURS)):
        message = "no GPU metric will be sent: no metric_declaration selects a field of DCGM"
        subject.report.warning(DECLARATIONS, "no-gpu-metric", message, _ADD)


def selector_too_wide(subject: Subject) -> None:
    """Find names of fields that, without anchors, select other fields too."""
    for loc, text in _selectors(subject):
        plain = _PLAIN.fullmatch(text)
        if plain is None or plain[2] not in dcgm.FIELDS or (plain[1] and plain[3]):
            continue
        selects = regex.searching(text)
        others = sorted(name for name in dcgm.FIELDS if name != plain[2] and selects(name))
        if others and subject.report:
            more = f" and {len(others) - _SHOWN} more" if len(others) > _SHOWN else ""
            message = f"this selects {', '.join(others[:_SHOWN])}{more} too"
            meant = spelled(subject.report, loc, f"^{plain[2]}$")
            subject.report.note(loc, "selector-too-wide", message, f"for one name write {meant}")


def renamed_field(subject: Subject) -> None:
    """Find names of DCGM 4.6 and 4.7 where fields get their older names before selectors."""
    if not subject.own.dcgm.aliases or _renames(subject):
        return
    for loc, text in _selectors(subject):
        plain = _PLAIN.fullmatch(text)
        if (
            plain is None
            or alias.old_name(plain[2]) == plain[2]
            or any(map(regex.searching(text), dcgm.FIELDS))
        ):
            continue
        old = alias.old_name(plain[2])
        message = f"{plain[2]} is called {old} by the time that selectors are asked"
        if subject.report:
            meant = spelled(subject.report, loc, f"{plain[1]}{old}{plain[3]}")
            advice = f'write {meant}, or "dcgm": {{"aliases": false}} in cwgpu'
            subject.report.warning(loc, "renamed-field", message, advice)


def gauge_unselected(subject: Subject) -> None:
    """Find gauges of our own that are asked for and that no selector selects."""
    asked = subject.own.dcgm
    wanted = {"xid_fatal": derived.XID_FATAL} if asked.xid_fatal else {}
    wanted |= {"idle": derived.GPU_IDLE} if asked.idle else {}
    selectors = [text for _, text in _selectors(subject)]
    for key, name in wanted.items():
        if subject.report and not any(_selects(text, name) for text in selectors):
            message = f"{name} is made, and no metric_selector selects it"
            advice = f'write "^{name}$" among the metric_selectors of a declaration'
            here = ("cwgpu", "dcgm", key)
            subject.report.warning(here, "gauge-unselected", message, advice)


def _selects(text: str, name: str) -> bool:
    try:
        return regex.searching(text)(name)
    except RuleError:
        return True  # it was complained about


def unknown_field(subject: Subject) -> None:
    """Find selectors that begin as DCGM's fields do and that select none, but for a slip."""
    if _renames(subject):
        return
    for loc, text in _selectors(subject):
        plain = _PLAIN.fullmatch(text)
        if plain is None or not plain[2].startswith(_FIELD):
            continue
        if any(map(regex.searching(text), _KNOWN)):
            continue
        meant = _meant(plain[2])
        if meant and subject.report:
            message = f"no field of DCGM that is known here is called {plain[2]}"
            advice = f"did you mean {spelled(subject.report, loc, f'{plain[1]}{meant}{plain[3]}')}?"
            subject.report.note(loc, "unknown-field", message, advice)


def _meant(name: str) -> str | None:
    """Find the field that is nearly of that name."""
    near = nearest(name, _KNOWN, _SLIP)
    return near if near and not _differ_in_kind(name, near) else None


def _differ_in_kind(name: str, near: str) -> bool:
    """Tell whether names differ as those of two fields do: in a number, in TX and RX, MIN and MAX.

    Those are words of three letters or less; in so short a word nothing is a slip for sure.
    """
    if _NUMBER.findall(near) != _NUMBER.findall(name):
        return True
    pairs = zip(name.split("_"), near.split("_"), strict=False)
    return any(one != other and len(one) == len(other) <= _SHORT for one, other in pairs)


def _renames(subject: Subject) -> bool:
    return any(
        step.rule.target_label == "__name__" for job in subject.jobs for step in job.sample_steps
    )


def _selectors(subject: Subject) -> list[tuple[Loc, str]]:
    return [
        ((*each.loc, "metric_selectors", index), text)
        for each in subject.declared
        for index, text in enumerate(each.written.metric_selectors or ())
    ]


def high_churn_dimension(subject: Subject) -> None:
    """Find dimensions that make new metrics, each paid for, as time goes by."""
    first: dict[str, Loc] = {}
    for loc, name in _dimensions(subject):
        if name in _CHURN:
            first.setdefault(name, loc)
    for name, loc in first.items():
        message = f"{name} makes a metric of its own for each value: {_CHURN[name]}"
        advice = "each metric is paid for by the hour; leave it out if no graph needs it"
        if subject.report:
            subject.report.note(loc, "high-churn-dimension", message, advice)


def _dimensions(subject: Subject) -> list[tuple[Loc, str]]:
    return [
        ((*each.loc, "dimensions", number, index), name)
        for each in subject.declared
        for number, names in enumerate(each.sets)
        for index, name in enumerate(names)
    ]
