"""What is told of a regex without a text."""

import pytest
import re2  # type: ignore[import-untyped]
from hypothesis import given, settings
from hypothesis import strategies as st

from cwgpu.config.lint import pattern
from cwgpu.model.errors import RuleError
from cwgpu.prom import regex

LOWER = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-")


@pytest.mark.parametrize(
    "text",
    [
        "^DCGM.*$",
        ".*DCGM.*",
        "(DCGM|GPU).*",
        "(?:DCGM|GPU){1,2}",
        "(?P<kind>A)",
        "[A-Z]+x",
        "[AB\\]_]",
        "a_b",
        "a\\.b",
        "a b",
        "B{2}",
        "B{2,}",
        "x(?s)A",
        "(?s:A)",
        "A+?",
        "B{x",
        "\\AGPU\\z",
    ],
)
def test_what_needs_a_character_that_cannot_be(text: str) -> None:
    """A pattern all of whose matches hold a capital, a blank or the like is known."""
    assert pattern.needs(text, LOWER.__contains__)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "dcgm.*",
        "DCGM|dcgm",
        "(?:DCGM|dcgm)",
        "(DCGM)?x",
        "(DCGM)*x",
        "D?x",
        "D*?x",
        "D{0,2}x",
        "[A-Za-z]+",
        "[^A]+",
        "[]A-z]",
        "\\d+",
        "\\w+",
        "[\\w]+",
        "\\bx",
        "(?i)DCGM",
        "(?i:DCGM)",
        "A(?s)*",
        "(?#A)A",
        "\\QA\\E",
        "\\pL",
        "[[:upper:]]",
        "[A-\\w]",
        "[\x00-\uffff]",
        "A)|(B",
        "A)",
        "(A",
        "[A",
        "A\\",
        "[\\d-x]A?",
        "(" * 900 + "A" + ")" * 900,
    ],
)
def test_what_does_not_or_is_not_understood(text: str) -> None:
    """A pattern that can match without, or that is not understood, raises no alarm."""
    assert not pattern.needs(text, LOWER.__contains__)


PIECES = st.sampled_from(
    ["a", "B", "_", ".", "\\d", "\\.", "[a-c]", "[A-C]", "[^a]", "(?:", "(", ")", "|", "*", "?",
     "+", "{2}", "{0,1}", "^", "$", "(?i)"]
)  # fmt: skip


@settings(max_examples=200)
@given(st.lists(PIECES, max_size=8).map("".join), st.text("ab1-", max_size=5))
def test_no_possible_text_matches_what_needs_an_impossible_one(text: str, value: str) -> None:
    """If a pattern is said to need what cannot be, RE2 matches none of the texts that can."""
    try:
        compiled = regex.anchored(text)
    except RuleError:
        return
    if pattern.needs(text, LOWER.__contains__):
        assert not compiled.matches(value)


@pytest.mark.parametrize(
    ("text", "count", "names"),
    [
        ("(.*)", 1, set()),
        ("([^:]+)(?::\\d+)?;(\\d+)", 2, set()),
        ("(?P<a>x)(?<b>y)", 2, {"a", "b"}),
        ("[(](\\()(?i)", 1, set()),
        ("(?s:x)", 0, set()),
    ],
)
def test_groups_are_counted(text: str, count: int, names: set[str]) -> None:
    """Brackets that capture nothing, stand in a class or behind a backslash are no groups."""
    assert pattern.groups(text) == (count, frozenset(names))


@settings(max_examples=200)
@given(st.lists(PIECES, max_size=8).map("".join))
def test_groups_are_those_of_re2(text: str) -> None:
    """RE2 counts the same groups."""
    options = re2.Options()
    options.log_errors = False
    try:
        compiled = re2.compile(text, options)
    except re2.error:
        return
    assert pattern.groups(text)[0] == compiled.groups


@pytest.mark.parametrize(
    ("text", "lower"), [("^DCGM\\S.*$", "^dcgm\\S.*$"), ("[A-Z]\\\\X", "[a-z]\\\\x"), ("", "")]
)
def test_lower_case(text: str, lower: str) -> None:
    """Letters become small but for those that a backslash makes something else."""
    assert pattern.lowered(text) == lower


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("([^:]+)(?::d+)?", "([^:]+)(?::\\d+)?"),
        ("([^:]+)(?::d*)?", "([^:]+)(?::\\d*)?"),
        (":d{1,5};w+", ":\\d{1,5};\\w+"),
        ("d+", "\\d+"),
        ("^s+x", "^\\s+x"),
        ("(d+)", "(\\d+)"),
    ],
)
def test_a_lost_backslash_is_put_back(text: str, meant: str) -> None:
    """A d, w or s that is repeated where no word goes on was to be a class."""
    assert pattern.restored(text) == meant


@pytest.mark.parametrize(
    "text",
    [
        "([^:]+)(?::\\d+)?",
        "pods+",
        "https?",
        "[d+]",
        "[:d+]",
        "team-d*",
        "d*",
        "dcgm",
        "\\\\d+",
        "_d+",
    ],
)
def test_words_and_globs_have_lost_nothing(text: str) -> None:
    """A letter at the end of a word, in a class, or before a star is what it is."""
    assert pattern.restored(text) is None
