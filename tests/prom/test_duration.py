"""Durations as Prometheus reads and prints them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cwgpu.model.errors import RuleError
from cwgpu.prom import duration

_YEAR_MS = 365 * 24 * 3_600_000


@pytest.mark.parametrize(
    ("text", "ms", "printed"),
    [
        ("0", 0, "0s"),
        ("0s", 0, "0s"),
        ("15s", 15_000, "15s"),
        ("90s", 90_000, "1m30s"),
        ("120m", 7_200_000, "2h"),
        ("1500ms", 1500, "1s500ms"),
        ("1h30m", 5_400_000, "1h30m"),
        ("1h0s", 3_600_000, "1h"),
        ("1d", 86_400_000, "1d"),
        ("7d", 604_800_000, "1w"),
        ("2w", 1_209_600_000, "2w"),
        ("90d", 7_776_000_000, "90d"),
        ("1y", _YEAR_MS, "1y"),
        ("1y2w3d4h5m6s7ms", 33_019_506_007, "382d4h5m6s7ms"),
        ("0000000000000000000000000001s", 1000, "1s"),
        ("292y", 292 * _YEAR_MS, "292y"),
        ("9223372036854ms", 9_223_372_036_854, "106751d23h47m16s854ms"),
    ],
)
def test_reading_and_printing(text: str, ms: int, printed: str) -> None:
    """A duration is read to the millisecond and printed in Prometheus' one form."""
    assert duration.parse(text) == ms
    assert duration.format(ms) == printed


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "such as 30s"),
        ("30", "write 30s for seconds"),
        ("00", "write 00s"),
        ("1.5s", "1s500ms"),
        ("30S", "lower case"),
        (" 30s", "no blanks"),
        ("-1s", "each once and largest first"),
        ("30s1m", "each once and largest first"),
        ("1m1m", "each once and largest first"),
        ("abc", "units y w d h m s ms"),
        ("٣s", "write whole numbers"),
        ("293y", "the longest is about 292y"),
        ("9223372036855ms", "the longest is about 292y"),
        ("1" * 5000 + "s", "the longest is about 292y"),
    ],
)
def test_refusals_say_what_to_write(text: str, words: str) -> None:
    """What is no duration is refused with the text found and what to write."""
    with pytest.raises(RuleError) as caught:
        duration.parse(text)
    assert words in str(caught.value)
    assert repr(text) in str(caught.value)


@given(st.integers(0, 9_223_372_036_854))
def test_round_trip(ms: int) -> None:
    """Every duration that can be read is printed so that it is read back the same."""
    assert duration.parse(duration.format(ms)) == ms
