"""Sizes as Prometheus writes them: ``10MB``, ``1GiB512MiB``; every unit is a power of 1024.

Syntax: https://prometheus.io/docs/prometheus/latest/configuration/configuration/ (``<size>``);
details after ``ParseBase2Bytes`` of github.com/alecthomas/units, which Prometheus uses.
"""

import re

from cwgpu.model.errors import RuleError

_PREFIXES = "KMGTPE"
# 19 digits are as many as fit 63 bits; the library refuses more.
_PART = r"(?:[0-9]{1,19}(?:\.[0-9]{0,19})?|\.[0-9]{1,19})"
# KB and KiB mean the same, but one size may not mix the two spellings.
_SIZES = tuple(re.compile(rf"([+-]?)((?:{_PART}(?:[{_PREFIXES}]{i}B|B))+|0)") for i in ("i", ""))
_PARTS = re.compile(rf"([0-9]*)\.?([0-9]*)([{_PREFIXES}]?)i?B")
_LIMIT = 2.0**63
"""The library counts in 63 bits (and lets 8EB itself overflow, which is refused here)."""


def parse(text: str) -> int:
    """Read a size in bytes, which may be negative; RuleError if it is none.

    A fraction of a byte is cut off.
    """
    match = next(filter(None, (size.fullmatch(text) for size in _SIZES)), None)
    if match is None:
        raise RuleError(
            f"size {text!r}: write a number and B, KB, MB, GB, TB, PB or EB (in capitals, without"
            " a blank), such as 10MB"
        )
    sign, rest = match.groups()
    total = 0.0
    for whole, fraction, prefix in _PARTS.findall(rest):
        # Added in this order the last bit comes out as in Go.
        number = float(whole or 0) + float(fraction or 0) / 10.0 ** len(fraction)
        total += number * 1024.0 ** (_PREFIXES.index(prefix) + 1 if prefix else 0)
    if total >= _LIMIT:
        raise RuleError(f"size {text!r}: too large, the largest is below 8EB")
    return -int(total) if sign == "-" else int(total)
