"""Templates as Go's Regexp.Expand reads them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cwgpu.prom import regex, template

_MATCH = regex.anchored("(?P<name>[a-z]+)-([0-9]+)(x)?").match("abc-42")


@pytest.mark.parametrize(
    ("text", "expanded"),
    [
        ("", ""),
        ("plain", "plain"),
        ("$1", "abc"),
        ("${1}x", "abcx"),
        ("$1x", ""),
        ("$1_", ""),
        ("$1é", ""),
        ("$1٣", ""),
        ("$2$1", "42abc"),
        ("$0", "abc-42"),
        ("$3|$4|$10", "||"),
        ("$name-${name}", "abc-abc"),
        ("$01", ""),
        ("$$1", "$1"),
        ("$$$1", "$abc"),
        ("$", "$"),
        ("$-$1", "$-abc"),
        ("${", "${"),
        ("${1", "${1"),
        ("${}", "${}"),
        ("${1-2}", "${1-2}"),
        ("${ 1}", "${ 1}"),
        (r"\1\$1", r"\1\abc"),
        ("$999999999$1000000000", ""),
    ],
)
def test_expansion(text: str, expanded: str) -> None:
    """References are filled in by Go's rules, and what is no reference stays as it is."""
    assert _MATCH is not None
    assert template.parse(text).expand(_MATCH) == expanded


def test_filled_in_text_is_not_read_again() -> None:
    """A value that looks like a reference is only text."""
    match = regex.anchored("(.*)").match("$1${2}$$")
    assert match is not None
    assert template.parse("<$1>").expand(match) == "<$1${2}$$>"


def test_huge_numbers_are_names() -> None:
    """Go gives up reading a number at ten digits; then a group of that name may be meant."""
    match = regex.anchored("(?P<1000000000>a)").match("a")
    assert match is not None
    assert template.parse("$1000000000").expand(match) == "a"
    assert template.parse("$999999999").expand(match) == ""


@given(st.text())
def test_doubled_dollars_give_the_text_back(text: str) -> None:
    """Any text can be written as a template by doubling its dollars."""
    assert _MATCH is not None
    assert template.parse(text.replace("$", "$$")).expand(_MATCH) == text
