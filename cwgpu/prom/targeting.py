"""From a group that discovery found to targets: the life-cycle of a target before it is scraped.

Details after Prometheus 3.0.1, ``scrape/target.go`` (``TargetsFromGroup``, ``PopulateLabels``,
``Target.URL``), with two rejections of our own: an address without a host (``:9400``), which would
reach whatever listens on the agent's own host, and text that is no UTF-8, before and not after the
rules see it. Equal targets are not looked for: that is for the caller, who sees every group.
"""

import functools
from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol
from urllib.parse import quote, quote_plus, unquote

from cwgpu.model.errors import RuleError
from cwgpu.model.labels import Labels, Layered
from cwgpu.model.target import DroppedTarget, Target, TargetGroup
from cwgpu.prom import duration, relabel
from cwgpu.prom.rule import Rule

_ADDRESS = "__address__"
_SCHEME = "__scheme__"
_PATH = "__metrics_path__"
INTERVAL = "__scrape_interval__"
TIMEOUT = "__scrape_timeout__"
_PARAM = "__param_"
_HIDDEN = "__"
"""Labels that begin so are for discovery and relabelling; no sample gets them."""

# What Go leaves as it is besides letters, digits and "-_.~" (net/url, shouldEscape).
_SAFE_IN_HOST = "!$&'()*+,;=:[]<>\""
_SAFE_IN_PATH = "$&+,/:;=@"


class Job(Protocol):
    """What this module needs to know of a scrape configuration."""

    @property
    def name(self) -> str:
        """The job_name."""

    @property
    def interval_s(self) -> float:
        """The scrape_interval."""

    @property
    def timeout_s(self) -> float:
        """The scrape_timeout."""

    @property
    def metrics_path(self) -> str:
        """The metrics_path."""

    @property
    def scheme(self) -> str:
        """The scheme."""

    @property
    def params(self) -> Mapping[str, Sequence[str]]:
        """The params."""

    @property
    def relabel(self) -> Sequence[Rule]:
        """The relabel_configs."""


class _RejectedError(Exception):
    """The target was not dropped by a rule, but cannot be scraped. Never leaves this module."""


def targets(job: Job, group: TargetGroup) -> Iterator[Target | DroppedTarget]:
    """Give what becomes of each target of the group, in their order."""
    defaults = _defaults(job)
    plain = _is_plain(defaults) and _is_plain(group.labels)
    for found in group.targets:
        told = Layered(defaults, group.labels, found)
        readable = plain and _is_plain(found)
        rejected = None if readable else _unreadable(job, told, told.joined())
        yield rejected or settled(job, told, relabel.apply(told, job.relabel))


def discovered(job: Job, labels: Labels) -> dict[str, str]:
    """Add what the job says where discovery says nothing: the labels that the rules see."""
    return Layered(_defaults(job), {}, labels).joined()


def _defaults(job: Job) -> Labels:
    params = tuple((_PARAM + name, values[0]) for name, values in job.params.items() if values)
    return _shared(
        ("job", job.name),
        (INTERVAL, _printed(job.interval_s)),
        (TIMEOUT, _printed(job.timeout_s)),
        (_PATH, job.metrics_path),
        (_SCHEME, job.scheme),
        *params,
    )


@functools.lru_cache
def _shared(*defaults: tuple[str, str]) -> Labels:
    """Give one label set to all targets of a job."""
    return {name: value for name, value in defaults if value}


def unreadable(job: Job, discovered: Labels) -> DroppedTarget | None:
    """Reject a target whose labels are no text; the rules could not read them."""
    return _unreadable(job, discovered, discovered)


def _is_plain(labels: Labels) -> bool:
    """Tell, ten times as fast, what nearly all labels are: readable without another look."""
    return "".join(labels).isascii() and "".join(labels.values()).isascii()


def _unreadable(job: Job, told: Labels, labels: Labels) -> DroppedTarget | None:
    for name, value in labels.items():
        try:
            f"{name}{value}".encode()
        except UnicodeEncodeError:
            reason = f"label {name!r} is not valid UTF-8: {value!r}"
            return DroppedTarget(job.name, told, reason, rejected=True)
    return None


def settled(
    job: Job, discovered: Labels, relabelled: Labels | relabel.Dropped
) -> Target | DroppedTarget:
    """Give what becomes of a target of which the job's rules made this."""
    if isinstance(relabelled, relabel.Dropped):
        return DroppedTarget(job.name, discovered, relabel.sentence(relabelled))
    try:
        return _target(job, relabelled)
    except _RejectedError as error:
        return DroppedTarget(job.name, discovered, str(error), rejected=True)


def address(url: str) -> str:
    """Give the ``__address__`` that the rules left to a target of this URL."""
    behind = url.partition("//")[2]
    return unquote(behind.partition("?")[0].partition("/")[0])


def _target(job: Job, labels: Labels) -> Target:
    address = _address(labels)
    interval_ms = _period(labels, INTERVAL)
    timeout_ms = _period(labels, TIMEOUT)
    if timeout_ms > interval_ms:
        raise _RejectedError(
            f"{TIMEOUT} {labels[TIMEOUT]} is more than {INTERVAL} {labels[INTERVAL]}"
        )
    public = {name: value for name, value in labels.items() if not name.startswith(_HIDDEN)}
    return Target(
        job=job.name,
        url=_url(address, labels, job.params),
        labels={"instance": address, **public},
        interval_s=interval_ms / 1000,
        timeout_s=timeout_ms / 1000,
    )


def _address(labels: Labels) -> str:
    address = labels.get(_ADDRESS, "")
    if not address:
        raise _RejectedError(f"no {_ADDRESS}; discovery gave none, or a rule removed it")
    if "/" in address:
        raise _RejectedError(f'{_ADDRESS} "{address}" holds a /; it must be host or host:port')
    before, colon, _ = address.rpartition(":")
    if (before if colon else address) in ("", "[]"):
        raise _RejectedError(f'{_ADDRESS} "{address}" names no host; it must be host or host:port')
    return address


def _period(labels: Labels, name: str) -> int:
    """Read a label as a duration above zero, in milliseconds."""
    try:
        period_ms = duration.parse(labels.get(name, ""))
    except RuleError as error:
        raise _RejectedError(f"{name}: {error}") from None
    if not period_ms:
        raise _RejectedError(f"{name} is 0")
    return period_ms


@functools.lru_cache
def _printed(seconds: float) -> str:
    return duration.format(round(seconds * 1000))


def _url(address: str, labels: Labels, params: Mapping[str, Sequence[str]]) -> str:
    scheme = labels.get(_SCHEME)
    path = labels.get(_PATH, "")
    return "".join(
        (
            f"{scheme}:" if scheme else "",
            f"//{quote(address, _SAFE_IN_HOST)}",
            "/" if path and not path.startswith("/") else "",
            path if path == "*" else quote(path, _SAFE_IN_PATH),
            _query(labels, params),
        )
    )


def _query(labels: Labels, params: Mapping[str, Sequence[str]]) -> str:
    """Give the job's parameters, the first value of each as its label says; sorted by name."""
    values = {name: list(given) for name, given in params.items()}
    for label, value in labels.items():
        if label.startswith(_PARAM):
            values.setdefault(label.removeprefix(_PARAM), [])[:1] = [value]
    query = "&".join(
        f"{quote_plus(name)}={quote_plus(value)}"
        for name in sorted(values)
        for value in values[name]
    )
    return f"?{query}" if query else ""
