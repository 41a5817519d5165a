"""Numbers: Go's grammar, not Python's."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cwgpu.model.errors import ExpositionError
from cwgpu.prom import number


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (b"42", 42.0),
        (b"-0", -0.0),
        (b"+5", 5.0),
        (b".5", 0.5),
        (b"5.", 5.0),
        (b"010", 10.0),
        (b"1E+3", 1000.0),
        (b"1e-400", 0.0),
        (b"4.9e-324", 5e-324),
        (b"9007199254740993", 9007199254740992.0),
        (b"0." + b"0" * 400 + b"1", 0.0),
        (b"inf", math.inf),
        (b"+Infinity", math.inf),
        (b"-INF", -math.inf),
    ],
)
def test_numbers(text: bytes, value: float) -> None:
    """Everything that Go reads is read, to the nearest float."""
    assert repr(number.parse(text)) == repr(value)


@pytest.mark.parametrize("text", [b"nan", b"NaN", b"NAN"])
def test_no_number(text: bytes) -> None:
    """NaN may be written in any case."""
    assert math.isnan(number.parse(text))


@pytest.mark.parametrize(
    "text",
    [
        *[b"", b" 1", b"1 ", b"1_000", b"+nan", b"-NaN", b"0x10", b"0x1p-2", b"1,5", b"1e", b"e1"],
        *[b".", b"+", b"1.0.0", b"infin", b"1.5f", "\uff11".encode(), b"\xff", b"1\n"],
    ],
)
def test_what_is_no_number(text: bytes) -> None:
    """What Python or Go would read elsewhere, but Prometheus does not, is refused."""
    with pytest.raises(ExpositionError, match=r'^found ".*", allowed is a number such as 42'):
        number.parse(text)


@pytest.mark.parametrize("text", [b"1e400", b"-1e309", b"9" * 400, b"9" * 400 + b"."])
def test_numbers_too_large(text: bytes) -> None:
    """A number beyond the floats is a fault, not infinity."""
    with pytest.raises(ExpositionError, match=r"allowed is a number up to 1\.8e308"):
        number.parse(text)


@given(st.floats())
def test_every_float_is_read(value: float) -> None:
    """A float as Python writes it comes back."""
    assert repr(number.parse(repr(value).encode())) == repr(value)


@pytest.mark.parametrize(
    ("text", "at_ms"),
    [
        (b"0", 0),
        (b"000", 0),
        (b"0001796012232000", 1796012232000),
        (b"9223372036854775807", 2**63 - 1),
        (b"0" * 5000 + b"1", 1),
    ],
)
def test_milliseconds(text: bytes, at_ms: int) -> None:
    """The text format's timestamps are whole numbers."""
    assert number.milliseconds(text) == at_ms


@pytest.mark.parametrize("text", [b"9223372036854775808", b"9" * 5000, b"-1", b""])
def test_no_milliseconds(text: bytes) -> None:
    """What int64 cannot hold is refused."""
    with pytest.raises(ExpositionError, match="whole milliseconds below"):
        number.milliseconds(text)


@pytest.mark.parametrize(
    ("text", "at_ms"),
    [
        (b"1796012232", 1796012232000),
        (b"1.7960122321239e9", 1796012232123),
        (b"-1.5", -1500),
        (b"1e300", 2**63 - 1),
        (b"-1e308", -(2**63)),
        (b"1" + b"0" * 308 + b".", 2**63 - 1),
    ],
)
def test_seconds(text: bytes, at_ms: int) -> None:
    """OpenMetrics' timestamps are seconds, cut off at milliseconds and at int64."""
    assert number.seconds(text) == at_ms


@pytest.mark.parametrize("text", [b"NaN", b"+Inf", b"-inf"])
def test_no_seconds(text: bytes) -> None:
    """A time has to be a time."""
    with pytest.raises(ExpositionError, match="allowed is a timestamp in seconds"):
        number.seconds(text)


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("1", "1.0"),
        ("0.50", "0.5"),
        ("-0", "0.0"),
        ("+Inf", "+Inf"),
        ("inf", "+Inf"),
        ("-infinity", "-Inf"),
        ("nan", "NaN"),
        ("999999", "999999.0"),
        ("1e6", "1e+06"),
        ("-123456789", "-1.23456789e+08"),
        ("1e21", "1e+21"),
        ("5.960464477539063e-08", "5.960464477539063e-08"),
        ("1234567.5", "1.2345675e+06"),
        ("0.0001", "0.0001"),
        ("0.00001", "1e-05"),
        ("-1.25e-7", "-1.25e-07"),
        ("1e400", "1e400"),
        ("0x10", "0x10"),
        ("", ""),
        ("p99", "p99"),
    ],
)
def test_bounds(text: str, canonical: str) -> None:
    """Bounds are written as Go's shortest ``g`` with a fraction; what is no number stays."""
    assert number.canonical(text) == canonical


@given(st.floats(allow_nan=False))
def test_bounds_keep_their_value(value: float) -> None:
    """Normalising changes the writing alone, and once is enough."""
    canonical = number.canonical(repr(value))
    assert number.parse(canonical.encode()) == value
    assert number.canonical(canonical) == canonical
