"""What is different between two documents: the lines that ``--watch`` prints."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

Value: TypeAlias = dict[str, Any]


def changes(former: Value, document: Value) -> Iterator[Value]:
    """Give targets that came and went, and counts of those that are not scraped."""
    before = {job["job"]: job for job in former["jobs"]}
    for job in document["jobs"]:
        known = before.pop(job["job"], _NONE)
        for change in _job(known, job):
            yield {"change": change[0], "job": job["job"], **change[1]}
    for name, job in before.items():
        for change in _job(job, _NONE):
            yield {"change": change[0], "job": name, **change[1]}


_NONE: Mapping[str, Any] = {"targets": (), "groups": ()}
_Change: TypeAlias = tuple[str, Value]


def _job(former: Mapping[str, Any], job: Mapping[str, Any]) -> Iterator[_Change]:
    old, new = _entries(former), _entries(job)
    yield from (("removed", told) for key, told in old.items() if key not in new)
    for key, told in new.items():
        if key not in old:
            yield "added", told
        elif _up(old[key]) != _up(told):
            yield "health", told
    yield from _counts(former, job)


def _entries(job: Mapping[str, Any]) -> dict[str, Value]:
    """Give all targets that are told of one by one."""
    made = {}
    for each in job["targets"]:
        key = json.dumps(["active", each["url"], sorted(each["labels"].items())])
        made[key] = {"outcome": "active", **each}
    for group in job["groups"]:
        for each in group.get("targets", ()):
            address = each["discovered"].get("__address__")
            key = json.dumps([group["reason"], each["source"], address, each["value"]])
            made[key] = {"outcome": group["outcome"], "reason": group["reason"], **each}
    return made


def _up(told: Value) -> object:
    health = told.get("health")
    return health and health["up"]


def _counts(former: Mapping[str, Any], job: Mapping[str, Any]) -> Iterator[_Change]:
    old = {(each["outcome"], each["reason"]): each["count"] for each in former["groups"]}
    new = {(each["outcome"], each["reason"]): each["count"] for each in job["groups"]}
    for key in {**old, **new}:
        was, count = old.get(key, 0), new.get(key, 0)
        if was != count:
            outcome, reason = key
            yield "count", {"outcome": outcome, "reason": reason, "count": count, "was": was}
