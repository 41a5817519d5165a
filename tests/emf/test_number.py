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


@pytest.mark.parametrize(
    ("text", "decimals", "written"),
    [
        (b"615.083918", 3, b"615.084"),
        (b"0.1230", 3, b"0.123"),
        (b"97.0", 3, b"97.0"),
        (b"97.000000", 3, b"97"),
        (b"97.000000", 0, b"97"),
        (b"2.5", 0, b"2"),
        (b"3.5", 0, b"4"),
        (b"0.125", 2, b"0.12"),
        (b"-1.23456", 2, b"-1.23"),
        (b"0.0004", 3, b"0"),
        (b"-0.0004", 3, b"0"),
        (b"-0.000000", 3, b"0"),
        (b"-0.0", 3, b"-0.0"),
        (b"1e-7", 3, b"0"),
        (b"-1.5e-7", 3, b"0"),
        (b"25e-1", 3, b"2.5"),
        (b"1.23456e2", 3, b"123.456"),
        (b"1e3", 3, b"1e3"),
        (b"1.5E+300", 3, b"1.5E+300"),
        (b"12", 0, b"12"),
        (b"-12", 0, b"-12"),
        (b"9007199254740993", 0, b"9007199254740993"),
        (b"123456789012345.99999999", 3, b"123456789012346"),
    ],
)
def test_decimals_beyond_the_wanted_are_rounded_away(
    text: bytes, decimals: int, written: bytes
) -> None:
    """Whole numbers and short ones stay as they are written."""
    assert number.rounded(text, decimals) == written


@given(
    st.from_regex(rb"-?(0|[1-9][0-9]{0,20})(\.[0-9]{1,9})?([eE][+-]?[0-9]{1,2})?", fullmatch=True),
    st.integers(0, 9),
)
def test_a_rounded_number_is_the_nearest_with_so_many_decimals(text: bytes, decimals: int) -> None:
    """It is JSON, fits its room, and is what Python's format gives."""
    written = number.rounded(text, decimals)
    assert len(written) <= limits.VALUE_BYTES
    assert float(json.loads(written)) == float(f"{float(text):.{decimals}f}")
    assert number.rounded(written, decimals) == written


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False)))
def test_many_are_written_as_each_alone(values: list[float]) -> None:
    """At once they take a third of the time, and come out the same."""
    assert number.texts(values) == [number.text(value) for value in values]
