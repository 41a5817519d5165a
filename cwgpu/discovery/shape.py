"""The target groups that a target file, or the answer of a discovery service, holds.

It is a list of ``{"targets": ["HOST:PORT", ...], "labels": {"NAME": "VALUE", ...}}``:
https://prometheus.io/docs/prometheus/latest/configuration/configuration/#file_sd_config
What is taken and what is refused is as in ``discovery/targetgroup`` of Prometheus 3.0.1; only text
that is no Unicode is refused here and not repaired.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from cwgpu.discovery.document import DocumentError, Value

EXAMPLE = '[{"targets": ["10.0.0.1:9400"], "labels": {"Service": "dcgm-exporter"}}]'
"""A target file that is right, for errors to show."""

_KEYS = ("targets", "labels")
# Thousands of exporters are much for one agent. The bound is against YAML aliases, by which a
# small file can name one long list again and again.
_MOST_ENTRIES = 1_000_000


@dataclass(frozen=True, slots=True)
class Group:
    """One target group as written."""

    targets: tuple[str, ...]
    labels: dict[str, str]


def groups(document: Value, *, any_case: bool = False) -> tuple[Group, ...]:
    """Give the groups of a document; raises DocumentError.

    ``any_case``: "Targets" is "targets" too, as in JSON that Go reads.
    """
    if document is None:
        return ()
    if not isinstance(document, list):
        raise DocumentError(f"it holds {_found(document)}: write a list such as {EXAMPLE}")
    fold = str.casefold if any_case else str
    return tuple(_groups(document, fold))


def _groups(document: list[Value], fold: Callable[[str], str]) -> Iterator[Group]:
    entries = 0
    for index, one in enumerate(document):
        targets, labels = _members(one, f"[{index}]", fold)
        entries += 1 + len(targets) + len(labels)
        if entries > _MOST_ENTRIES:
            raise DocumentError(
                f"[{index}]: up to here there are more than {_MOST_ENTRIES} groups, targets and "
                "labels: repeat fewer of them"
            )
        yield _group(targets, labels, f"[{index}]")


def _members(
    group: Value, where: str, fold: Callable[[str], str]
) -> tuple[list[Value], dict[str, Value]]:
    if not isinstance(group, dict):
        raise DocumentError(f"{where} is {_found(group)}: write a group such as {EXAMPLE[1:-1]}")
    for key in group:
        if fold(key) not in _KEYS:
            raise DocumentError(f"{where} has the key {key!r}: write targets or labels")
    named = {fold(key): value for key, value in group.items()}
    targets, labels = named.get("targets"), named.get("labels")
    if not isinstance(targets, list | None):
        raise DocumentError(
            f'{where}.targets is {_found(targets)}: write a list such as ["10.0.0.1:9400"]'
        )
    if not isinstance(labels, dict | None):
        raise DocumentError(
            f"{where}.labels is {_found(labels)}: "
            'write names and values such as {"Service": "dcgm-exporter"}'
        )
    return targets or [], labels or {}


def _group(targets: list[Value], labels: dict[str, Value], where: str) -> Group:
    if "" in labels:
        raise DocumentError(f"{where}.labels has an empty name: give that label a name")
    return Group(
        tuple(_text(target, f"{where}.targets[{at}]") for at, target in enumerate(targets)),
        {
            _text(name, f"a name in {where}.labels"): _text(value, f"{where}.labels.{name}")
            for name, value in labels.items()
        },
    )


def _text(value: Value, where: str) -> str:
    if value is None:  # no address, which fails that target alone, or no label: as in Prometheus
        return ""
    if not isinstance(value, str):
        raise DocumentError(f"{where} is {_found(value)}: write text in quotes")
    if any("\ud800" <= character <= "\udfff" for character in value):
        raise DocumentError(f"{ascii(where)[1:-1]} holds half of a \\u pair: write both halves")
    return value


def _found(value: Value) -> str:
    if value is None:
        return "empty"
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    if isinstance(value, str):
        return f"the text {value[:40]!r}"
    return f"{value!r:.40}"
