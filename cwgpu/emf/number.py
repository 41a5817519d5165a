"""Numbers as JSON text (RFC 8259, section 6)."""

import math

import orjson


def text(value: float) -> bytes:
    """Write a finite float with the fewest digits that read back as the same float: 5.0 -> ``5``.

    At most 24 characters. ValueError for NaN and infinities, which JSON does not have.
    """
    if not math.isfinite(value):
        message = f"{value} cannot be written in JSON: drop it before it comes here"
        raise ValueError(message)
    return orjson.dumps(float(value)).removesuffix(b".0")
