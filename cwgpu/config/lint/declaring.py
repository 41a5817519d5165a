"""Declarations that no sample can satisfy."""

import itertools
import json
from collections.abc import Iterator

from cwgpu.config.lint import dcgm, kubernetes, reach
from cwgpu.config.lint.kubernetes import PREFIX
from cwgpu.config.lint.reach import Origin
from cwgpu.config.lint.subject import Declared, Job, Subject
from cwgpu.config.nearest import nearest
from cwgpu.config.node import Loc, short
from cwgpu.config.report import Report
from cwgpu.prom.relabel import Action

_ALIKE = 0.8
"""How like a label's name a suggestion must be: Service and device are not."""
_MOST = 1000
"""Combinations of values that are tried; more are as good as any."""
_SHOWN = 5
_NAMESPACE, _DISCOVERED = "Namespace", f"{PREFIX}namespace"
_REMOVING = (Action.LABEL_DROP, Action.LABEL_KEEP)


def label_never_set(subject: Subject) -> None:
    """Find labels that DCGM's samples are to have and that nothing gives them."""
    if subject.report is None or not subject.has_all_jobs:
        return
    for name, places in _wanted(subject).items():
        origin = reach.origin(subject, name)
        if origin in (Origin.CONFIGURATION, Origin.PAGE):
            continue
        renamed = dcgm.usual_name(name)
        if renamed != name and subject.own.dcgm.labels:
            message = f"the label {name} is called {renamed} here, whatever the exporter calls it"
            _tell(subject.report, places, message, f"write {renamed}")
        elif name == name.lower():
            _tell_uncertain(subject, places, name, origin)
        else:
            _tell_capital(subject, places, name)


def _wanted(subject: Subject) -> dict[str, list[Loc]]:
    """Give the labels without which declarations about DCGM do nothing, and where they stand."""
    found: dict[str, list[Loc]] = {}
    for each in subject.declared:
        if not dcgm.is_declared(each):
            continue
        for index, name in enumerate(each.sources):
            # An absent label is an empty text, and some matchers take that.
            if len(each.sources) > 1 or not (each.matches and each.matches("")):
                found.setdefault(name, []).append((*each.loc, "source_labels", index))
        for number, names in enumerate(each.sets):
            for index, name in enumerate(names):
                loc = (*each.loc, "dimensions", number, index)
                found.setdefault(name, []).append(loc)
    return found


def _tell_uncertain(subject: Subject, places: list[Loc], name: str, origin: Origin) -> None:
    """Say that a label depends on the cluster: pods may carry it, and the exporter pass it on."""
    report = subject.report
    if report is None or origin is Origin.POD:
        return
    close = nearest(name, dcgm.LABELS, _ALIKE)
    message = (
        f"no rule{subject.of_file} sets the label {name}, and the exporter gives it only if it is "
        "told to"
    )
    advice = f"did you mean {close}? " if close else ""
    advice += "DCGM_EXPORTER_KUBERNETES_ENABLE_POD_LABELS copies the labels of pods"
    report.note(places[0], "label-never-set", message, advice + _also(report, places))


def _tell_capital(subject: Subject, places: list[Loc], name: str) -> None:
    assert subject.report is not None  # noqa: S101 - the caller looked
    close = nearest(name, dcgm.LABELS, _ALIKE)
    step = reach.copying(subject, name)
    unless = ""
    if step:
        rule = subject.jobs[0].report.root.key_place(step.loc)
        file = "" if rule.source.name == subject.report.root.place.source.name else rule.source.name
        where = f"{file}:{rule.line}" if file else f"line {rule.line}"
        unless = f", unless a Kubernetes object has a label {name} (labelmap, {where})"
    message = (
        f"no rule of any job{subject.of_file} sets the label {name}, nor does the exporter{unless}"
    )
    advice = [f"did you mean {close}?"] if close else []
    # The exporter's own namespace is worth a label; what else is nearly of the page is a slip.
    advice += [_rule(subject, name)] if not close or name == _NAMESPACE else []
    _tell(subject.report, places, message, "\n".join(advice))


def _rule(subject: Subject, name: str) -> str:
    job = next((each for each in subject.jobs if dcgm.is_job(each)), subject.jobs[0])
    who = short(job.written.job_name)
    value = "default" if name == _NAMESPACE else "dcgm-exporter"
    if job.written.static_configs:
        return f"to job {who} add under static_configs: labels: {json.dumps({name: value})}"
    discovered = kubernetes.labels(job.written.kubernetes_sd_configs)
    if name == _NAMESPACE and discovered and discovered.has(_DISCOVERED):
        rule = json.dumps({"source_labels": [_DISCOVERED], "target_label": name})
    else:
        rule = json.dumps({"target_label": name, "replacement": value})
    return f"add to relabel_configs of job {who}: {rule}"


def _tell(report: Report, places: list[Loc], message: str, advice: str) -> None:
    report.warning(places[0], "label-never-set", message, advice + _also(report, places))


def _also(report: Report, places: list[Loc]) -> str:
    lines = sorted({report.root.value_place(loc).line for loc in places[1:]})
    first = report.root.value_place(places[0]).line
    others = [str(line) for line in lines if line != first]
    noun = "lines" if len(others) > 1 else "line"
    return f"\nalso on {noun} {', '.join(others)}" if others else ""


def matcher_never_matches(subject: Subject) -> None:
    """Find matchers that match none of the values that their source labels can have."""
    if subject.report is None or not subject.has_all_jobs:
        return
    for each in subject.declared:
        matches = each.matches
        if matches is None or not each.sources:
            continue
        values = list(itertools.islice(_joined(subject, each), _MOST))
        if values and len(values) < _MOST and not any(map(matches, values)):
            shown = ", ".join(sorted({short(value) for value in values})[:_SHOWN])
            names = " and ".join(each.sources)
            message = f"{short(matches.pattern)} is found in no value that {names} can have"
            message += f" with the jobs{subject.of_file}" if subject.of_file else ""
            loc = (*each.loc, "label_matcher")
            advice = f"the jobs give: {shown}"
            subject.report.warning(loc, "matcher-never-matches", message, advice)


def _joined(subject: Subject, declared: Declared) -> Iterator[str]:
    """Yield the texts that the matcher is shown; nothing if they cannot all be told."""
    choices = []
    for job in subject.jobs:
        values = [_values(job, declared, name) for name in declared.sources]
        known = [each for each in values if each]
        if len(known) < len(values):
            return
        choices.append(known)
    for known in choices:
        yield from map(declared.written.label_separator.join, itertools.product(*known))


def _values(job: Job, declared: Declared, name: str) -> frozenset[str]:
    """Give the values that a label can have on a job's samples; nothing if it may be any."""
    written = job.written
    # With honor_labels the page has the last word, and only DCGM's page is known.
    if written.honor_labels and (
        not dcgm.is_declared(declared) or dcgm.has_label(name, usual=False)
    ):
        return frozenset()
    given = [group.labels.get(name, "") for group in written.static_configs]
    if name == "job":
        found = {value or written.job_name for value in (*given, "")}
    elif given and all(given) and not written.kubernetes_sd_configs:
        found = set(given)
    else:
        return frozenset()  # the page may have it, where the target has not
    for step in job.every_step:
        if step.rule.action is Action.LABEL_MAP:
            return frozenset()
        if step.rule.action in _REMOVING and step.rule.regex.matches(name):
            return frozenset()
        if not reach.sets(step, name):
            continue
        if step.rule.action is not Action.REPLACE or "$" in step.rule.replacement:
            return frozenset()
        found.add(step.rule.replacement)
    return frozenset(found)
