"""A page at later scrapes: its values move, nothing else does.

What they will be nobody knows, and for the bytes only their lengths matter. So a gauge takes
values from 95 % of what the page says up to that, with as many decimals; a counter grows as if it
had come to its total evenly in a day; what is 0, blank, negative or no plain number stays. The
same page gives the same pages always: chance is drawn from a fixed seed.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import TypeAlias

from cwgpu.cli.cost.subject import Part, Subject
from cwgpu.gpu import blank
from cwgpu.prom.exposition import Format

_LOWEST = 0.95
_DAY_S = 86_400.0
_PLAIN = re.compile(rb"[0-9]{1,18}(?:\.([0-9]{1,18}))?")
_TIME = re.compile(rb"([ \t]+)([^ \t\n]+)")

_At: TypeAlias = Callable[[int], bytes]
"""Gives some text of the page as it is at a scrape, by the scrape's number."""


def bodies(subject: Subject, times_ms: Sequence[int]) -> Iterator[bytes]:
    """Give the page at each of these times, the first of them with values much as they are."""
    chance = Random(len(subject.body))  # noqa: S311 - nothing is secret here
    page = [*_page(subject, chance, times_ms)]
    for step in range(len(times_ms)):
        yield b"".join([text if isinstance(text, bytes) else text(step) for text in page])


def _page(subject: Subject, chance: Random, times_ms: Sequence[int]) -> Iterator[bytes | _At]:
    """Cut the page into what stays and what moves."""
    body, done = subject.body, 0
    given = [part.item.timestamp_ms for part in subject.parts]
    newest_ms = max((each for each in given if each is not None), default=0)
    for part in subject.parts:
        item = part.item
        start = body.index(item.value, item.start + len(item.text))
        yield body[done:start]
        yield _value(part, chance, subject.job.interval_s)
        done = start + len(item.value)
        time = _TIME.match(body, done)
        if item.timestamp_ms is not None and time is not None:
            yield time[1]
            yield _time(times_ms, newest_ms - item.timestamp_ms, subject.format)
            done = time.end()
    yield body[done:]


def _time(times_ms: Sequence[int], behind_ms: int, written_in: Format) -> _At:
    """Write a time of the page's own; the newest of them is the time of the scrape."""
    if written_in is Format.TEXT:
        return lambda step: b"%d" % (times_ms[step] - behind_ms)
    return lambda step: b"%.3f" % ((times_ms[step] - behind_ms) / 1000)


def _value(part: Part, chance: Random, interval_s: float) -> bytes | _At:
    text, name = part.item.value, part.item.name
    plain = _PLAIN.fullmatch(text)
    if plain is None:
        return text
    value, decimals = float(text), len(plain[1] or b"")
    if part.cumulative:
        daily = interval_s / _DAY_S
        return lambda step: b"%.*f" % (decimals, value * (1 + (step + chance.random()) * daily))
    if value == 0 or blank.is_blank(name, value):
        return text
    return lambda _: b"%.*f" % (decimals, value * chance.uniform(_LOWEST, 1))
