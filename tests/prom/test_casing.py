"""Case mapping, one character for one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cwgpu.prom import casing


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("NVIDIA A10G", "nvidia a10g"),
        ("ΣΑΣ", "σασ"),  # noqa: RUF001 - no final sigma, which the full mapping would write
        ("İI", "ii"),
        ("ŻÓŁĆ", "żółć"),
    ],
)
def test_lower(text: str, expected: str) -> None:
    """Lower case is the simple mapping, whatever stands beside a letter."""
    assert casing.lower(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("nvidia a10g", "NVIDIA A10G"),
        ("żółć ß ŉ ﬁ ı ǆ", "ŻÓŁĆ ß ŉ ﬁ I Ǆ"),  # noqa: RUF001 - the dotless i is meant
        ("ᾳ ᾷ ΐ", "ᾼ ᾷ ΐ"),
    ],
)
def test_upper(text: str, expected: str) -> None:
    """Upper case never makes two characters of one."""
    assert casing.upper(text) == expected


@given(st.text())
def test_length_is_kept(text: str) -> None:
    """Mapping a text keeps its number of characters, and mapping again changes nothing."""
    for mapped in (casing.lower, casing.upper):
        assert len(mapped(text)) == len(text)
        assert mapped(mapped(text)) == mapped(text)
