"""The same page as another node's, or with other GPUs or pods on it.

What a fleet makes of CloudWatch metrics cannot be multiplied: a metric without a node's, GPU's or
pod's name among its dimensions is one and the same for all nodes. So a page is read once more with
other names, and what both readings have in common is what stays one. The names are changed where
they come from, in the page and the target's labels, so that relabelling may do with them what it
likes.
"""

import re
from collections.abc import Callable, Collection
from dataclasses import replace
from typing import TypeAlias

from cwgpu.cli.cost import subject
from cwgpu.cli.cost.subject import Subject

_PAIR = re.compile(rb'([a-zA-Z_][a-zA-Z0-9_]*)([ \t]*=[ \t]*")((?:[^"\\]|\\.)+)"', re.DOTALL)
_OTHER = "other-"

_Named: TypeAlias = Callable[[str], bool]


def of_other_node(one: Subject, names: Collection[str] = ()) -> Subject:
    """Give the page of a node like this; ``names`` are further target labels that tell nodes."""

    def named(name: str) -> bool:
        return subject.is_node(name) or subject.is_gpu(name) or subject.is_pod(name)

    labels = {
        name: _other(name, value) if value and (named(name) or name in names) else value
        for name, value in one.labels.items()
    }
    return replace(_changed(one, named), labels=labels)


def of_other_gpus(one: Subject) -> Subject:
    """Give the page of the same node with other GPUs, which other pods use."""
    return _changed(one, lambda name: subject.is_gpu(name) or subject.is_pod(name))


def of_other_pods(one: Subject) -> Subject:
    """Give the page with other pods on the same GPUs."""
    return _changed(one, subject.is_pod)


def _changed(one: Subject, named: _Named) -> Subject:
    def pair(found: re.Match[bytes]) -> bytes:
        name, equal, value = found[1].decode(), found[2], found[3]
        if not named(name):
            return found[0]
        return found[1] + equal + _other(name, value.decode(errors="replace")).encode() + b'"'

    body, done = bytearray(), 0
    for part in one.parts:
        body += one.body[done : part.item.start] + _PAIR.sub(pair, part.item.text)
        done = part.item.start + len(part.item.text)
    return replace(one, body=bytes(body + one.body[done:]))


def _other(name: str, value: str) -> str:
    """Keep how a GPU's UUID begins: DCGM's rows are known by it."""
    return f"{value}0" if subject.is_gpu(name) else _OTHER + value
