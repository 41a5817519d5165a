"""RE2 behind two doors, held against answers of Go's own regexp package (data/regex.jsonl)."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import re2  # type: ignore[import-untyped]
from hypothesis import given, settings
from hypothesis import strategies as st

from cwgpu.model.errors import RuleError
from cwgpu.prom import regex, template

_DATA = Path(__file__).parents[1] / "data" / "regex.jsonl"
_ROWS: list[dict[str, Any]] = [json.loads(line) for line in _DATA.read_text("utf-8").splitlines()]
_ACCEPTED = [row for row in _ROWS if row["compiles"]]
_REFUSED = [row["pattern"] for row in _ROWS if not row["compiles"]]


@pytest.mark.parametrize("row", _ACCEPTED, ids=lambda row: repr(row["pattern"]))
def test_groups_and_expansion_are_those_of_go(row: dict[str, Any]) -> None:
    """What matches, its groups and a template filled with them equal Go's answers."""
    compiled = regex.anchored(row["pattern"])
    match = compiled.match(row["text"])
    assert compiled.matches(row["text"]) is (match is not None)
    if row["groups"] is None:
        assert match is None
    else:
        assert match is not None
        assert [group or "" for group in match.groups] == row["groups"]
        assert template.parse(row["template"]).expand(match) == row["expanded"]


@pytest.mark.parametrize("row", _ACCEPTED, ids=lambda row: repr(row["pattern"]))
def test_replacing_is_that_of_go(row: dict[str, Any]) -> None:
    """Every match is replaced as ReplaceAllString does, also where the anchors are undone."""
    expand = template.parse(row["template"]).expand
    replaced = regex.anchored(row["pattern"]).replace(row["text"], expand)
    assert (replaced if replaced is not None else row["text"]) == row["replaced"]
    assert (replaced is None) is (row["groups"] is None)


@pytest.mark.parametrize("pattern", _REFUSED, ids=repr)
def test_what_go_refuses_is_refused(pattern: str) -> None:
    """A pattern that Go does not compile is a RuleError that shows the pattern."""
    with pytest.raises(RuleError) as caught:
        regex.anchored(pattern)
    assert repr(pattern) in str(caught.value)


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("*", "any text is .*"),
        ("+x", "any text is .*"),
        ("(?=x)", "no lookahead"),
        ("(?!x).*", "action: drop"),
        ("(?<=x)a", "no lookbehind"),
        ("(?<!x)a", "no lookbehind"),
        ("(?>a)", "write (?:...)"),
        ("(a)?(?(1)b|c)", "write both cases with |"),
        ("(?|a|b)", "its own group"),
        ("(?#c)a", "no comments"),
        ("(?x) a", "no verbose mode"),
        ("(?P=n)", "no back-references"),
        ("(?y)a", "the flags are i, m, s and U"),
        (r"(a)\1", "no back-references"),
        (r"a\Z", r"the end of the text is \z"),
        (r"\h", r"[ \t]"),
        (r"\R", r"\r?\n"),
        ("\\u0041", r"\x{0041}"),
        (r"\xZ", "at most 10FFFF"),
        (r"a\E", r"\Q"),
        (r"\C", "any one character"),
        (r"a\\\Cb", "any one character"),
        ("a++", "possessive"),
        ("a{1001}", "at most {1000}"),
        ("(?P<a-b>x)", "ASCII letters"),
        ("(?P<é>x)", "ASCII letters"),
        ("(a", r"never closed; the character itself is \("),
        ("a)", r"closes nothing; the character itself is \)"),
        ("[a", r"never closed; the character itself is \["),
        (r"\p{Nope}", "no such class"),
        ("[[:foo:]]", "[[:alpha:]]"),
        ("[z-a]", "the lower end first"),
        (r"\pL{1000}", "too big"),
        ("(x)" * 1001, "(?:...)"),
        ("(" * 20_000 + ")" * 20_000, "(?:...)"),
        ("\\", r"a backslash itself is \\"),
        ("a\ud800", "half a surrogate pair"),
    ],
)
def test_refusals_say_what_to_write(pattern: str, words: str) -> None:
    """Both doors refuse what Go's RE2 refuses and say what to write instead."""
    for door in (regex.anchored, regex.searching):
        with pytest.raises(RuleError) as caught:
            door(pattern)
        assert words in str(caught.value)


def test_a_long_pattern_is_shown_by_its_beginning() -> None:
    """A complaint about a pattern of a megabyte is no megabyte."""
    with pytest.raises(RuleError, match="never closed") as caught:
        regex.anchored("(" + "x" * 1_000_000)
    assert str(caught.value).startswith("regex '(xxx")
    assert len(str(caught.value)) < 1200


def test_fault_of_the_wrapping_alone_is_explained() -> None:
    """A quotation left open is fine alone, but not with the anchors that Prometheus puts around."""
    with pytest.raises(RuleError, match="never closed"):
        regex.anchored(r"\Qa")
    assert regex.searching(r"\Qa.")("xa.x")


@pytest.mark.parametrize("pattern", [r"\Q\C\E", r"\\C", r"x\\Cy", "C", r"(?P<_1>C)"])
def test_literal_any_byte_is_no_escape(pattern: str) -> None:
    """Only the escape itself is refused, not text that looks like it."""
    assert regex.anchored(pattern).pattern == pattern


@pytest.mark.parametrize("text", ["", "x", "a\nb", "é"])
def test_shortcuts_give_groups_as_re2_does(text: str) -> None:
    """Patterns that are decided without RE2 give the groups that RE2 gives for a twin pattern."""
    for quick, twin in (
        ("(.*)", "((?:.)*)"),
        (".*", "(?:.)*"),
        ("(.+)", "((?:.)+)"),
        (".+", "(?:.)+"),
        ("x|é", "(?:x|é)"),
        ("", "(?:)"),
    ):
        found, expected = regex.anchored(quick).match(text), regex.anchored(twin).match(text)
        assert (found and found.groups) == (expected and expected.groups)


_PIECES = st.sampled_from(
    [
        "a",
        "b",
        "ab",
        "(a)",
        "|",
        "*",
        "?",
        "a)*(b",
        "(?U)",
        "(?i)",
        ".",
        "[ab]",
        "^",
        "$",
        r"\Q",
        r"\E",
    ]
)


@settings(max_examples=200)
@given(st.lists(_PIECES, max_size=5).map("".join), st.text("abA\n", max_size=4))
def test_quick_paths_never_decide_otherwise(pattern: str, text: str) -> None:
    """Whatever is decided without RE2 is decided as RE2 would."""
    options = re2.Options()
    options.log_errors = False
    doors: list[tuple[Callable[[], Callable[[str], bool]], str]] = [
        (lambda: regex.anchored(pattern).matches, f"^(?s:{pattern})$"),
        (lambda: regex.searching(pattern), pattern),
    ]
    for door, wrapped in doors:
        try:
            expected = re2.compile(wrapped, options).search(text) is not None
        except re2.error:
            with pytest.raises(RuleError):
                door()
        else:
            assert door()(text) is expected


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        ("^DCGM_FI_DEV_GPU_UTIL$", "DCGM_FI_DEV_GPU_UTIL", True),
        ("^DCGM_FI_DEV_GPU_UTIL$", "DCGM_FI_DEV_GPU_UTIL2", False),
        ("^$", "", True),
        ("^$", "a", False),
        ("^a|b$", "xb", True),
        (r"^a\$", "a$b", True),
        ("GPU", "a GPU b", True),
        ("gpu", "a GPU b", False),
        ("a.b", "a\nb", False),
        (r"\d", "٣", False),
        ("(?i)k", "\N{KELVIN SIGN}", True),
    ],
)
def test_searching_finds_anywhere(pattern: str, text: str, *, found: bool) -> None:
    """The searching door matches anywhere, and its dot does not match a newline."""
    assert regex.searching(pattern)(text) is found


def test_regexes_of_one_pattern_are_equal() -> None:
    """Two plans of one configuration hold equal regexes, so a job that did not change is seen."""
    assert regex.anchored("a(b)") == regex.anchored("a(b)")
    assert hash(regex.searching("a.")) == hash(regex.searching("a."))
    assert regex.anchored("a") != regex.anchored("b")


def test_names_in_classes_are_told_from_groups_in_time() -> None:
    """A pattern with thousands of what looks like named groups compiles while somebody waits."""
    pattern = "(?P<n>a)" + "[(?P<n>]" * 5000
    assert regex.anchored(f"{pattern}(?P<n>b)|.*").match("x")


HOSTILE = ["(a+)+$", "(a*)*b", "(a|aa)+$", "(.*)*x", "(.*)(.*)(.*)(.*)x", ".*a.{20}b", "(x?){999}y"]
"""What takes an engine that backtracks for ever, and one that does not all its memory."""


@pytest.mark.parametrize("pattern", HOSTILE)
def test_a_hostile_regex_takes_no_longer_than_the_text(pattern: str) -> None:
    """A million characters are looked at and refused."""
    text = "a" * 1_000_000 + "!"
    assert regex.anchored(pattern).match(text) is None
    assert not regex.searching(f"^(?:{pattern})$")(text)


def test_groups_by_name_and_number() -> None:
    """A group is read by number or name; of two of one name, the one that took part."""
    match = regex.anchored("(?P<n>a)|(?P<n>b)|[(?P<n>]").match("b")
    assert match is not None
    assert [match.group(key) for key in (0, 1, 2, 3, "n", "m")] == ["b", "", "b", "", "b", ""]
