"""Who of several agents does the work: from ``cwgpu.ha`` and ``cwgpu.shard`` to the plan."""

import itertools
import re
from collections.abc import Mapping

from cwgpu.config.node import Loc, short
from cwgpu.config.own import Lease, Own, Shard, ShardLease
from cwgpu.config.report import Report
from cwgpu.pace import election
from cwgpu.pace import shard as pace
from cwgpu.plan import kubernetes as plan
from cwgpu.prom import duration

_LEASE: Loc = ("cwgpu", "ha", "lease")
_SHARD: Loc = ("cwgpu", "shard")

_POD_NAMES = ("POD_NAME", "HOSTNAME")
"""Variables that hold the pod's name: the first is what manifests set, the second is there."""

# https://kubernetes.io/docs/concepts/overview/working-with-objects/names/
_SUBDOMAIN = re.compile(r"(?=.{1,253}$)[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?")
_LABEL = re.compile(r"(?=.{0,63}$)(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)?")
_SECOND_MS = 1000


def lease(own: Own, report: Report) -> plan.Lease | None:
    """Make the lease that agents of one name contend for."""
    written = own.ha.lease if own.ha else None
    if written is None:
        return None
    _check_names(_LEASE, written, report)
    _check_times(written, report)
    if own.shard is not None:
        message = "ha.lease and shard exclude each other: with one lease only one shard is scraped"
        advice = "keep ha.lease for a second agent that stands by, or shard for parts of the work"
        report.error(_LEASE, "conflicting-keys", message, advice)
    return plan.Lease(
        written.name,
        written.namespace,
        written.duration / _SECOND_MS,
        written.renew_deadline / _SECOND_MS,
        written.retry_period / _SECOND_MS,
    )


def _check_names(loc: Loc, written: Lease | ShardLease, report: Report) -> None:
    if not written.name:
        advice = 'such as "name": "cwgpu"'
        report.error((*loc, "name"), "missing-key", "a lease needs a name", advice)
    elif not _SUBDOMAIN.fullmatch(written.name):
        message = f"{short(written.name)} is no name of a lease"
        advice = "write lower-case letters, digits, - and ."
        report.error((*loc, "name"), "wrong-value", message, advice)
    if not _LABEL.fullmatch(written.namespace):
        message = f"{short(written.namespace)} is no namespace"
        advice = "write lower-case letters, digits and -"
        report.error((*loc, "namespace"), "wrong-value", message, advice)


def _check_times(written: Lease, report: Report) -> None:
    if written.duration % _SECOND_MS or not written.duration:
        message = f"duration {duration.format(written.duration)} is not in whole seconds"
        report.error((*_LEASE, "duration"), "wrong-value", message, "write 15s, or 1s or more")
    if written.duration > election.LONGEST_S * _SECOND_MS:
        message = f"duration {duration.format(written.duration)} is longer than an hour"
        advice = "write 15s: for so long nobody scrapes when an agent is lost"
        report.error((*_LEASE, "duration"), "wrong-value", message, advice)
    order = ("duration", "renew_deadline", "retry_period")
    for longer, shorter in itertools.pairwise(order):
        most, given = getattr(written, longer), getattr(written, shorter)
        if not 0 < given < most:
            limit = duration.format(most)
            message = f"{shorter} {duration.format(given)} is not shorter than {longer} {limit}"
            advice = f"write less than {limit}, or a longer {longer}"
            report.error((*_LEASE, shorter), "wrong-value", message, advice)


def shard(own: Own, environ: Mapping[str, str], report: Report) -> plan.Shard | None:
    """Make the shard; its index is that of our StatefulSet's pod unless it is written."""
    written = own.shard
    if written is None:
        return None
    if not written.count:
        advice = "write how many agents share the targets"
        report.error((*_SHARD, "count"), "missing-key", "shard needs a count", advice)
        return None
    if written.lease is not None:
        _check_names((*_SHARD, "lease"), written.lease, report)
    index = _ordinal(environ, report) if written.index is None else written.index
    if index is None:
        return None
    if written.lease is not None:
        # By the count in force it may have a part; if it has none, it stands by.
        named = plan.ShardLease(written.lease.name, written.lease.namespace)
        return plan.Shard(written.count, index, named)
    if index >= written.count:
        _refuse(written, index, environ, report)
    return plan.Shard(written.count, index)


def _ordinal(environ: Mapping[str, str], report: Report) -> int | None:
    name = _pod(environ)
    index = pace.ordinal(name)
    if index is None:
        said = f"{short(name)} does not end in -0, -1 ..." if name else "no pod's name is known"
        message = f"which shard this is cannot be told: {said}"
        advice = f"run it as a StatefulSet, set {_POD_NAMES[0]} in the environment, or write index"
        report.error((*_SHARD, "index"), "no-shard-index", message, advice)
    return index


def _refuse(written: Shard, index: int, environ: Mapping[str, str], report: Report) -> None:
    """Complain of an index that no shard has."""
    if written.index is not None:
        message = f"index {index} of {written.count} shards"
        advice = f"write 0 to {written.count - 1}, or a larger count"
        report.error((*_SHARD, "index"), "wrong-value", message, advice)
        return
    message = f"{short(_pod(environ))} has no part: of {written.count} shards the last has index "
    message += f"{written.count - 1}"
    advice = "write the StatefulSet's number of replicas as count"
    report.error((*_SHARD, "count"), "no-shard-index", message, advice)


def _pod(environ: Mapping[str, str]) -> str:
    return next((environ[each] for each in _POD_NAMES if environ.get(each)), "")
