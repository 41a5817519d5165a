"""Numbers as JSON text."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cwgpu.emf import limits, number


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (5.0, b"5"),
        (0.0, b"0"),
        (-0.0, b"-0"),
        (0.1, b"0.1"),
        (100.5, b"100.5"),
        (1.5e-7, b"1.5e-7"),
        (1e21, b"1e+21"),
        (7, b"7"),
    ],
)
def test_a_number_has_no_more_digits_than_it_needs(value: float, text: bytes) -> None:
    """Whole numbers carry no fraction, others the digits that tell them apart."""
    assert number.text(value) == text


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_reads_back_as_itself_and_fits_its_room(value: float) -> None:
    """Every finite float comes back equal from JSON, within the room a template keeps for it."""
    text = number.text(value)
    json.loads(text)
    read = float(text)
    assert (read, math.copysign(1, read)) == (value, math.copysign(1, value))
    assert len(text) <= 24 < limits.VALUE_BYTES


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_json_cannot_say_is_refused(value: float) -> None:
    """NaN and infinities are never written, not even as null."""
    with pytest.raises(ValueError, match="cannot be written in JSON"):
        number.text(value)
