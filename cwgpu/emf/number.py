"""Numbers as JSON text (RFC 8259, section 6)."""

import math
from collections.abc import Iterable

import orjson


def text(value: float) -> bytes:
    """Write a finite float with the fewest digits that read back as the same float: 5.0 -> ``5``.

    At most 24 characters. ValueError for NaN and infinities, which JSON does not have.
    """
    if not math.isfinite(value):
        message = f"{value} cannot be written in JSON: drop it before it comes here"
        raise ValueError(message)
    return orjson.dumps(float(value)).removesuffix(b".0")


def texts(values: Iterable[float]) -> list[bytes]:
    """Write finite floats as ``text`` does, in a third of the time; it is not looked at them."""
    joined = orjson.dumps(list(values))[1:-1]
    whole = joined.replace(b".0,", b",").removesuffix(b".0")
    return whole.split(b",") if joined else []


def rounded(text: bytes, decimals: int) -> bytes:
    """Write a JSON number with at most so many decimals, halves to even as Python does.

    A whole number stays as it is written, as does a text that is short enough. What rounds to zero
    is 0, without a sign or an exponent.
    """
    if text.isdigit():
        return text
    mantissa, exponent, _ = text.lower().partition(b"e")
    if not exponent and len(mantissa.partition(b".")[2]) <= decimals:
        return text
    value = float(text)
    if exponent and value.is_integer():  # it may have hundreds of digits
        return text
    written = b"%.*f" % (decimals, value)
    short = written.rstrip(b"0").removesuffix(b".") if decimals else written
    return b"0" if short == b"-0" else short
