"""Label and field selectors: which objects of a kind are meant.

https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#api
https://kubernetes.io/docs/concepts/overview/working-with-objects/field-selectors/
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from tests.fakes.kubernetes.failure import FailureError, bad_request
from tests.fakes.kubernetes.resources import Resource
from tests.fakes.kubernetes.store import Stored

Json = dict[str, Any]
Labels: TypeAlias = Mapping[str, str]
Requirement: TypeAlias = Callable[[Labels], bool]
Selector: TypeAlias = Callable[[Stored], bool]

_KEY = r"(?:[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?"
_VALUE = r"(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?"
_EQUAL = re.compile(rf"\s*({_KEY})\s*(==|=|!=)\s*({_VALUE})\s*")
_SET = re.compile(rf"\s*({_KEY})\s+(in|notin)\s*\(([^()]*)\)\s*")
_EXISTS = re.compile(rf"\s*(!?)\s*({_KEY})\s*")
_BETWEEN = re.compile(r",(?![^()]*\))")
_FIELD = re.compile(r"([^=!]+?)(==|=|!=)(.*)")
_ESCAPED = re.compile(r"\\([\\,=])")


def labels(text: str) -> Requirement:
    """Read a label selector; the empty one takes all."""
    if not text.strip():
        return lambda _: True
    requirements = [_requirement(part) for part in _BETWEEN.split(text)]
    return lambda found: all(holds(found) for holds in requirements)


def fields(text: str, resource: Resource) -> Callable[[Json], bool]:
    """Read a field selector of a kind; the empty one takes all."""
    terms = [_term(part, resource) for part in re.split(r"(?<!\\),", text) if part]
    return lambda document: all(holds(document) for holds in terms)


def both(label_selector: str, field_selector: str, resource: Resource) -> Selector:
    """Read both selectors of a request."""
    by_label, by_field = labels(label_selector), fields(field_selector, resource)
    return lambda stored: (
        by_label(stored.metadata.get("labels") or {}) and by_field(stored.document)
    )


def _requirement(part: str) -> Requirement:
    if found := _SET.fullmatch(part):
        key, operator, listed = found.groups()
        values = _values(part, listed)
        if operator == "in":
            return lambda labels: labels.get(key) in values
        return lambda labels: labels.get(key) not in values
    if found := _EQUAL.fullmatch(part):
        key, operator, value = found.groups()
        if operator == "!=":
            return lambda labels: labels.get(key) != value
        return lambda labels: labels.get(key) == value
    if found := _EXISTS.fullmatch(part):
        wanted, key = not found[1], found[2]
        return lambda labels: (key in labels) == wanted
    raise _unreadable(part)


def _values(part: str, listed: str) -> frozenset[str]:
    values = frozenset(value.strip() for value in listed.split(","))
    if not all(re.fullmatch(_VALUE, value) for value in values):
        raise _unreadable(part)
    return values


def _unreadable(part: str) -> FailureError:
    return bad_request(f"unable to parse requirement: found {part.strip()!r}, expected: a label")


def _term(part: str, resource: Resource) -> Callable[[Json], bool]:
    found = _FIELD.fullmatch(part)
    if found is None:
        raise bad_request(f"invalid selector: '{part}'; can't understand '{part}'")
    name, operator, written = found.groups()
    value = _ESCAPED.sub(r"\1", written)
    known = {"metadata.name", *resource.fields}
    known |= {"metadata.namespace"} if resource.namespaced else set()
    if name not in known:
        raise _unsupported(name, resource)
    if operator == "!=":
        return lambda document: _at(document, name) != value
    return lambda document: _at(document, name) == value


def _unsupported(name: str, resource: Resource) -> FailureError:
    """Kinds that know fields of their own have a sentence of their own."""
    if resource.fields:
        return bad_request(f"field label not supported: {name}")
    return bad_request(
        f'"{name}" is not a known field selector: only "metadata.name", "metadata.namespace"'
    )


def _at(document: Json, name: str) -> str:
    """Give a field as text; what is not there is empty, or false where only that can be."""
    value: Any = document
    for step in name.split("."):
        value = value.get(step) if isinstance(value, dict) else None
    if name in {"spec.hostNetwork", "spec.unschedulable"}:
        return "true" if value else "false"
    if name == "status.podIPs":
        return ",".join(each.get("ip", "") for each in value or ())
    return "" if value is None else str(value)
