"""Sizes as Prometheus reads them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cwgpu.model.errors import RuleError
from cwgpu.prom import size


@pytest.mark.parametrize(
    ("text", "size_bytes"),
    [
        ("0", 0),
        ("+0", 0),
        ("0B", 0),
        ("1B", 1),
        ("10MB", 10_485_760),
        ("10MiB", 10_485_760),
        ("1.5KB", 1536),
        (".5KB", 512),
        ("1.KB", 1024),
        ("0.3KB", 307),
        ("1.9B", 1),
        ("1KB1B", 1025),
        ("1GiB512MiB", 1_610_612_736),
        ("-1MB", -1_048_576),
        ("+1KB", 1024),
        ("1TB", 1024**4),
        ("1PB", 1024**5),
        ("7.5EB", 8_646_911_284_551_352_320),
    ],
)
def test_reading(text: str, size_bytes: int) -> None:
    """Units are powers of 1024 in either spelling; numbers may have fractions and add up."""
    assert size.parse(text) == size_bytes


@pytest.mark.parametrize(
    "text",
    [
        "",
        "10",
        "10K",
        "10mb",
        "1kB",
        "1 MB",
        "1KiB1KB",
        "KB",
        ".KB",
        "1..5KB",
        "1.5",
        "-",
        "00",
        "٣MB",
    ],
)
def test_what_is_no_size_is_refused(text: str) -> None:
    """A size without a unit, or with one written otherwise, is refused with an example."""
    with pytest.raises(RuleError, match="such as 10MB") as caught:
        size.parse(text)
    assert repr(text) in str(caught.value)


@pytest.mark.parametrize("text", ["8EB", "9EB", "-8EB", "9999999999999999999B"])
def test_sizes_beyond_63_bits_are_refused(text: str) -> None:
    """What cannot be counted in 63 bits is refused instead of wrapping around."""
    with pytest.raises(RuleError, match="too large"):
        size.parse(text)


@given(st.integers(0, 2**53), st.sampled_from(["", "+"]))
def test_bytes_are_read_exactly(count: int, sign: str) -> None:
    """A number of bytes is read as that number."""
    assert size.parse(f"{sign}{count}B") == count


@given(st.integers(0, 1023), st.integers(0, 1023), st.sampled_from(["", "i"]))
def test_units_add_up(mega: int, kilo: int, spelling: str) -> None:
    """Parts of different units add up, in both spellings."""
    text = f"{mega}M{spelling}B{kilo}K{spelling}B"
    assert size.parse(text) == (mega * 1024 + kilo) * 1024
