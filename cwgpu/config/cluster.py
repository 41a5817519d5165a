"""What a Kubernetes discovery may ask for.

The rules are those of Prometheus 3.0.1, ``discovery/kubernetes/kubernetes.go``; the syntax of
selectors is https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/
"""

import re

from cwgpu.config import exclusive, url
from cwgpu.config.client import Client
from cwgpu.config.discovery import KubernetesDiscovery, Selector
from cwgpu.config.nearest import nearest
from cwgpu.config.node import Loc, short
from cwgpu.config.report import Report

_SELECTABLE = {
    "pod": ("pod",),
    "service": ("service",),
    "endpoints": ("pod", "service", "endpoints"),
    "endpointslice": ("pod", "service", "endpointslice"),
    "node": ("node",),
    "ingress": ("ingress",),
}
"""Role -> the kinds of objects whose lists a selector may narrow."""

_KEY = r"(?:[a-z0-9.-]+/)?[A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?"
_VALUES = r"\(\s*[\w.-]*(?:\s*,\s*[\w.-]*)*\s*\)"
_REQUIREMENT = (
    rf"\s*(?:!\s*{_KEY}|{_KEY}|{_KEY}\s*(?:==?|!=)\s*[\w.-]*"
    rf"|{_KEY}\s+(?:in|notin)\s*{_VALUES}|{_KEY}\s*[<>]\s*[0-9]+)\s*"
)
_LABEL_SELECTOR = re.compile(rf"\s*|{_REQUIREMENT}(?:,{_REQUIREMENT})*", re.ASCII)
_FIELD_SELECTOR = re.compile(r"|[^=!,]+(?:==?|!=)[^=!,]*(?:,[^=!,]+(?:==?|!=)[^=!,]*)*")


def check(found: KubernetesDiscovery, report: Report, loc: Loc) -> None:
    """Complain about what Prometheus would refuse."""
    if found.role not in _SELECTABLE:
        meant = nearest(found.role, _SELECTABLE)
        advice = f"did you mean {meant}?" if meant else f"write one of {', '.join(_SELECTABLE)}"
        message = f"{short(found.role)} is no role" if found.role else "role is missing"
        report.error((*loc, "role"), "wrong-value", message, advice)
    _server(found, report, loc)
    exclusive.check(found, report, loc)
    seen: set[str] = set()
    for index, selector in enumerate(found.selectors):
        _selector(selector, found.role, report, (*loc, "selectors", index))
        if selector.role in seen:
            message = f"a second selector for role {selector.role}"
            report.error((*loc, "selectors", index), "conflicting-keys", message, "join them")
        seen.add(selector.role)


def _server(found: KubernetesDiscovery, report: Report, loc: Loc) -> None:
    client = sorted(Client.model_fields.keys() & found.model_fields_set)
    if found.api_server and found.kubeconfig_file:
        message = "api_server and kubeconfig_file exclude each other"
        report.error((*loc, "kubeconfig_file"), "conflicting-keys", message, "keep one of them")
    elif client and not found.api_server and _differs(found, client):
        message = f"{', '.join(client)} without api_server"
        advice = "name the server, or leave it out: in a cluster the pod's own account is used"
        report.error((*loc, client[0]), "missing-key", message, advice)
    if found.api_server and found.namespaces and found.namespaces.own_namespace:
        message = "own_namespace is that of our pod, which api_server need not know"
        report.error((*loc, "namespaces", "own_namespace"), "conflicting-keys", message)
    if found.api_server and (fault := url.web_fault(found.api_server)):
        report.error((*loc, "api_server"), "bad-url", f"api_server {fault}")


def _differs(found: KubernetesDiscovery, keys: list[str]) -> bool:
    fields = KubernetesDiscovery.model_fields
    return any(getattr(found, key) != fields[key].get_default() for key in keys)


def _selector(selector: Selector, role: str, report: Report, loc: Loc) -> None:
    allowed = _SELECTABLE.get(role, tuple(_SELECTABLE))
    if selector.role not in allowed:
        message = f"role {role} takes no selectors for {short(selector.role)}"
        report.error((*loc, "role"), "wrong-value", message, f"write {' or '.join(allowed)}")
    if not _LABEL_SELECTOR.fullmatch(selector.label):
        message = f"{short(selector.label)} is no label selector"
        report.error((*loc, "label"), "bad-selector", message, "such as app=x,tier in (a, b),!old")
    if not _FIELD_SELECTOR.fullmatch(selector.field):
        message = f"{short(selector.field)} is no field selector"
        report.error((*loc, "field"), "bad-selector", message, "such as spec.nodeName=node-1")
