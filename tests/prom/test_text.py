"""The text format: what is refused, and in which words."""

import pytest

from cwgpu.model.kind import Kind
from cwgpu.prom import exposition
from cwgpu.prom.exposition import (
    BadItem,
    Context,
    EofItem,
    Format,
    HelpItem,
    Item,
    OtherItem,
    SeriesItem,
    TypeItem,
)

NUMBER = "a number such as 42, 0.5, 1e3, NaN, +Inf or -Inf"
VALUE = "a value after the metric"
TIME_OR_END = "a timestamp in milliseconds or the end of the line"
END = "nothing but the end of the line"
BEGINNING = "a metric name, {, # or a blank line"
LABEL = "a label name or }"
EQUAL = '= after a label name (a quote within a value is written \\")'
LABEL_VALUE = '="..." after a label name (a metric name is quoted)'
FAMILY = "the name of a metric family"
KIND = "one of counter, gauge, histogram, summary, untyped"


def read(line: bytes) -> Item:
    """Read the first item of a page."""
    return exposition.item(line, 0, Context(Format.TEXT))


@pytest.mark.parametrize(
    ("line", "column", "found", "allowed"),
    [
        (b"this is not prometheus", 6, '"is"', NUMBER),
        (b"m", 2, "the end of the line", VALUE),
        (b'm{a="b"}', 9, "the end of the line", VALUE),
        (b"m 1,5", 3, '"1,5"', NUMBER),
        (b"m 1e400", 3, '"1e400"', "a number up to 1.8e308 (the largest 64-bit float)"),
        (b"m 1\r", 3, '"1\\r"', NUMBER),
        (b"m 1 \r", 5, "a carriage return (lines end with a line feed alone)", TIME_OR_END),
        (b"\xef\xbb\xbfm 1", 1, "a byte order mark", BEGINNING),
        (
            b"<html><body>Unauthorized, go away please, thank you</body></html>",
            1,
            '"<html><body>Unauthorized"',
            BEGINNING,
        ),
        (b"m 1 2.5", 6, '".5"', END),
        (
            b"m 1 99999999999999999999",
            5,
            '"99999999999999999999"',
            "a timestamp in whole milliseconds below 2^63",
        ),
        (b"m 1 2 3", 7, '"3"', END),
        (b'm 1 # {a="b"} 2', 5, '"#"', TIME_OR_END),
        (b"m 1\x00", 4, "a NUL byte", TIME_OR_END),
        (b"1m 1", 1, '"1m"', BEGINNING),
        (b"my-metric 1", 3, '"-metric"', NUMBER),
        (b'm{a="x"y"} 1', 9, "a double quote", EQUAL),
        (b'm{a="b",,c="d"} 1', 9, '","', LABEL),
        (b'm{a="b"', 8, "the end of the line", LABEL),
        (b'm{a="b" 1', 9, '"1"', LABEL),
        (b"m{a} 1", 4, '"}"', LABEL_VALUE),
        (b'm{a:b="c"} 1', 4, '":b"', EQUAL),
        (b"m{a='b'} 1", 5, "\"'b'\"", "a label value in double quotes"),
        (b'm{a="b} 1', 5, "a double quote", "a label value with a closing quote"),
        (b'm{"a} 1', 3, "a double quote", "a name with a closing quote"),
        (b'm{a="\xff"} 1', 6, "the byte 0xff", "UTF-8"),
        (b'm{"n"} 1', 6, '"}"', LABEL_VALUE),
        (
            b'{a="b"} 1',
            1,
            '"{"',
            'a metric name, before the braces or quoted within, as in {"m",a="b"}',
        ),
        (b"{abc} 1", 5, '"}"', LABEL_VALUE),
        (b'{""} 1', 2, "a double quote", "a name that is not empty"),
        (b'{"\xff"} 1', 3, "the byte 0xff", "UTF-8"),
        (b'{"a","b"} 1', 9, '"}"', LABEL_VALUE),
        (b"# TYPE m nonsense", 10, '"nonsense"', KIND),
        (b"# TYPE m unknown", 10, '"unknown"', KIND),
        (b"# TYPE m gauge ", 10, '"gauge "', KIND),
        (b"# TYPE m", 9, '""', KIND),
        (b"# TYPE 1m gauge", 8, '"1m"', FAMILY),
        (b"# TYPE ", 8, "the end of the line", FAMILY),
        (b'# TYPE "m gauge', 8, "a double quote", "a name with a closing quote"),
        (b"# TYPE m\x00gauge", 9, "a NUL byte", "a blank after the name"),
        (b"# HELP m caf\xe9", 13, "the byte 0xe9", "UTF-8"),
        (b'm{\xc3\xa9="x"} 1', 3, '"é"', LABEL),
        (b'm{a="\xc5\xbc\xc5\xbc",!} 1', 10, '"!"', LABEL),
        (b"m \x1b[31m1", 3, '"\\x1b[31m1"', NUMBER),
        (b'm{a="b"\x00} 1', 8, "a NUL byte", LABEL),
    ],
)
def test_faults(line: bytes, column: int, found: str, allowed: str) -> None:
    """A fault says where it is, what stands there and what is allowed, in one printable line."""
    fault = f"column {column}: found {found}, allowed is {allowed}"
    item = read(line + b"\n")
    assert isinstance(item, BadItem)
    assert item == BadItem(0, len(line) + 1, fault, item.at)
    assert len(line[: item.at].decode(errors="replace")) == column - 1


@pytest.mark.parametrize(
    ("page", "item"),
    [
        pytest.param(b"", None, id="nothing"),
        pytest.param(b" \t", OtherItem(0, 2), id="blanks"),
        pytest.param(b"#", OtherItem(0, 1), id="comment without a newline"),
        pytest.param(b"#TYPE m nonsense\nm 1", OtherItem(0, 17), id="no blank, so a comment"),
        pytest.param(b"# HELPER m\n", OtherItem(0, 11), id="another word, so a comment"),
        pytest.param(b"# a\0b\nm 1", OtherItem(0, 6), id="NUL in a comment"),
        pytest.param(b"  \0m 1", EofItem(0, 6), id="NUL where an item could begin"),
        pytest.param(b"# HELP m", HelpItem(0, 8, "m"), id="empty help"),
        pytest.param(b"#\tHELP  m\tx\0\r\n", HelpItem(0, 14, "m"), id="NUL and CR in a help"),
        pytest.param(b"# HELP my-metric x", HelpItem(0, 18, "my"), id="the name ends early"),
        pytest.param(b"# TYPE m untyped", TypeItem(0, 16, "m", Kind.UNKNOWN), id="untyped"),
        pytest.param(b"# TYPE m-gauge", TypeItem(0, 14, "m", Kind.GAUGE), id="odd separator"),
        pytest.param(
            b'# TYPE "a\\"\nb" gauge', TypeItem(0, 20, 'a"\nb', Kind.GAUGE), id="quoted family"
        ),
        pytest.param(
            b'# TYPE "\xff" gauge', TypeItem(0, 16, "\ufffd", Kind.GAUGE), id="family of no text"
        ),
        pytest.param(b"m+1", SeriesItem(0, 3, b"m", "m", (), b"+1", None), id="glued"),
        pytest.param(b" m 1 ", SeriesItem(0, 5, b" m", " m", (), b"1", None), id="indented"),
        pytest.param(
            b'm { "a b" = "c" d="e" , }.5\t007\n',
            SeriesItem(
                0, 32, b'm { "a b" = "c" d="e" , }', "m", (("a b", "c"), ("d", "e")), b".5", 7
            ),
            id="blanks everywhere",
        ),
        pytest.param(
            b' {a="b","x.y"}1',
            SeriesItem(0, 15, b' {a="b","x.y"}', "x.y", (("a", "b"),), b"1", None),
            id="quoted name, last",
        ),
        pytest.param(
            b'm{a="\0\\\0"b"} 1',
            SeriesItem(0, 14, b'm{a="\0\\\0"b"}', "m", (("a", '\0\\\0"b'),), b"1", None),
            id="NUL in quotes, where it hides from escapes",
        ),
    ],
)
def test_what_is_allowed(page: bytes, item: Item | None) -> None:
    """The lexer's liberties are Prometheus' own."""
    assert next(exposition.scan(page, Format.TEXT), None) == item


def test_a_bad_type_leaves_the_kind_alone() -> None:
    """The kind of the last good TYPE line stays in force."""
    context = Context(Format.TEXT)
    exposition.item(b"# TYPE h histogram\n", 0, context)
    exposition.item(b"# TYPE h nonsense\n", 0, context)
    assert context.kind is Kind.HISTOGRAM
