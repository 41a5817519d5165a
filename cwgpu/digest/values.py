"""From the texts of a page's values to numbers, all at once.

A text that is a JSON number already is sent as it stands. One JSON parse of all values together is
some ten times cheaper than a float() of each, so the odd ones (NaN, ``+Inf``, ``.5``) pay alone.
"""

import math
import re
from collections.abc import Sequence
from typing import NamedTuple

import orjson

from cwgpu.emf import limits
from cwgpu.emf import number as emf_number
from cwgpu.prom import number as prom_number

# With these characters alone a list of texts can hold nothing but numbers and commas.
_PLAIN = b"0123456789+-.eE,"
_JSON_NUMBER = re.compile(rb"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")


class Texts(NamedTuple):
    """The texts of a page's values, in the page's order."""

    each: Sequence[bytes]
    joined: bytes
    """By commas."""


class Values(NamedTuple):
    """The values of a page's samples, in the page's order."""

    texts: Sequence[bytes]
    """JSON numbers; for NaN and the infinities, which JSON has not, what the page said."""
    numbers: Sequence[float]
    finite: bool
    """Whether all of them are known to be finite."""
    signed: bool
    """Whether one of them may be below 0."""


def read(texts: Sequence[bytes]) -> Values:
    """Read the values. ExpositionError when one is no number as the exposition formats know it."""
    return read_joined(Texts(texts, b",".join(texts)))


def read_joined(found: Texts) -> Values:
    """Do so where they have been joined already."""
    texts, joined = found
    if not joined.translate(None, _PLAIN):
        try:
            numbers = orjson.loads(b"[" + joined + b"]")
        except orjson.JSONDecodeError:
            return _read_each(texts)
        # A text with a comma in it would give more numbers than there are texts.
        if len(numbers) == len(texts) and max(map(len, texts), default=0) <= limits.VALUE_BYTES:
            return Values(texts, numbers, finite=True, signed=b"-" in joined)
    return _read_each(texts)


def _read_each(texts: Sequence[bytes]) -> Values:
    numbers = [prom_number.parse(text) for text in texts]
    return Values(list(map(_json, texts, numbers)), numbers, finite=False, signed=True)


def _json(text: bytes, value: float) -> bytes:
    if not math.isfinite(value):
        return text
    if len(text) <= limits.VALUE_BYTES and _JSON_NUMBER.fullmatch(text):
        return text
    return emf_number.text(value)
