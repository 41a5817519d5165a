"""Durations as Prometheus writes them: ``1h30m``, ``15s``, ``1500ms``.

Syntax: https://prometheus.io/docs/prometheus/latest/configuration/configuration/ (``<duration>``);
details after prometheus/common 0.62, ``model/time.go`` (``ParseDuration``, ``Duration.String``).
"""

import re
from operator import mul

from cwgpu.model.errors import RuleError

_UNITS = (
    # Largest first, which is the only order a duration may be written in; milliseconds each.
    ("y", 365 * 24 * 3_600_000),
    ("w", 7 * 24 * 3_600_000),
    ("d", 24 * 3_600_000),
    ("h", 3_600_000),
    ("m", 60_000),
    ("s", 1000),
    ("ms", 1),
)
_WHOLE = frozenset({"y", "w"})
"""Units that are printed only when nothing smaller remains: 90d reads better than 12w6d."""
_DURATION = re.compile("".join(f"(?:([0-9]+){unit})?" for unit, _ in _UNITS))
_LARGEST_MS = (2**63 - 1) // 1_000_000
"""A Go duration counts nanoseconds in 63 bits: about 292 years."""


def parse(text: str) -> int:
    """Read a duration in milliseconds; RuleError if it is none."""
    if text == "0":
        return 0
    match = _DURATION.fullmatch(text)
    if not text or match is None:
        raise RuleError(f"duration {text!r}: {_advice(text)}")
    numbers = [number.lstrip("0") or "0" for number in match.groups("0")]
    # Counted before they are read: int() raises ValueError for thousands of digits.
    long = max(map(len, numbers)) > len(str(_LARGEST_MS))
    total = 0 if long else sum(map(mul, map(int, numbers), (size for _, size in _UNITS)))
    if long or total > _LARGEST_MS:
        raise RuleError(f"duration {text!r}: too long, the longest is about 292y")
    return total


def format(ms: int) -> str:  # noqa: A001 - the pair of parse, and always read as duration.format
    """Print milliseconds in the one form that Prometheus prints, such as ``1m30s`` for 90 s."""
    parts: list[str] = []
    rest = ms
    for unit, size in _UNITS:
        if unit in _WHOLE and rest % size:
            continue
        count, rest = divmod(rest, size)
        if count:
            parts.append(f"{count}{unit}")
    return "".join(parts) or "0s"


def _advice(text: str) -> str:
    if not text:
        return "empty; write a number and a unit, such as 30s"
    if text.isdecimal():
        return f"no unit; write {text}s for seconds"
    if text != text.lower() or text != text.strip():
        return "write the units in lower case and no blanks, such as 1m30s"
    if "." in text:
        return "no fractions; write smaller units, such as 1s500ms"
    return "write whole numbers with units y w d h m s ms, each once and largest first: 1h30m"
