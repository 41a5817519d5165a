"""Numbers as Prometheus reads them: Go's ``ParseFloat`` without hexadecimals and underscores.

Python's ``float`` knows other words (``1_000``, ``+nan``, blanks, foreign digits) and turns what is
too large into infinity, so it is asked only after the grammar here said yes.
Source: https://pkg.go.dev/strconv#ParseFloat and ``parseFloat`` in Prometheus' model/textparse.
"""

import math
import re

from cwgpu.model.errors import ExpositionError
from cwgpu.prom.quote import quoted

_NUMBER = re.compile(
    # Possessive: two runs of digits that may give to each other take a square of their length.
    rb"[+-]?(?:(?:[0-9]++\.?[0-9]*+|\.[0-9]++)(?:e[+-]?[0-9]++)?|inf(?:inity)?)|nan",
    re.IGNORECASE,
)
_DIGITS = re.compile(rb"0*([0-9]{1,19})")
INT64_MAX = 2**63 - 1
"""The last timestamp that Prometheus' int64 milliseconds can hold."""
INT64_MIN = -(2**63)


def parse(text: bytes) -> float:
    """Give the value of a sample. Raises ExpositionError for what is no number, or too large."""
    if _NUMBER.fullmatch(text) is None:
        raise _error(text, "a number such as 42, 0.5, 1e3, NaN, +Inf or -Inf")
    value = float(text)
    if math.isinf(value) and b"n" not in text.lower():
        raise _error(text, "a number up to 1.8e308 (the largest 64-bit float)")
    return value


def milliseconds(text: bytes) -> int:
    """Give a timestamp of the text format, whole milliseconds since 1970."""
    digits = _DIGITS.fullmatch(text)
    if digits is None or int(digits[1]) > INT64_MAX:
        raise _error(text, "a timestamp in whole milliseconds below 2^63")
    return int(digits[1])


def seconds(text: bytes) -> int:
    """Give a timestamp of OpenMetrics, written in seconds, as milliseconds cut off towards zero.

    Beyond int64 the nearest is given, as Go does on ARM (on AMD64 it gives the least).
    """
    value = parse(text)
    if not math.isfinite(value):
        raise _error(text, "a timestamp in seconds")
    return int(min(max(value * 1000, INT64_MIN), INT64_MAX))


def canonical(text: str) -> str:
    """Give ``le`` and ``quantile`` the form that OpenMetrics asks for, as Prometheus 3 does.

    What is no number stays as it is. (Prometheus also rewrites bounds with hexadecimal digits or
    underscores, which nothing writes; here they stay, too.)
    """
    try:
        value = parse(text.encode())
    except ExpositionError:
        return text
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    return _shortest(value)


def _shortest(value: float) -> str:
    """Write as Go's format ``g`` does, which turns to exponents from 1e6 on (Python: 1e16)."""
    written = repr(value)
    if value == 0:
        return "0.0"
    if "e" in written or abs(value) < 1e6:  # noqa: PLR2004 - as said above
        return written
    whole, _, fraction = written.lstrip("-").partition(".")
    digits = (whole + fraction).rstrip("0")
    mantissa = f"{digits[0]}.{digits[1:]}".rstrip(".")
    return f"{'-' if value < 0 else ''}{mantissa}e+{len(whole) - 1:02}"


def _error(text: bytes, allowed: str) -> ExpositionError:
    return ExpositionError(f"found {quoted(text)}, allowed is {allowed}")
