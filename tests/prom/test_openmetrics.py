"""OpenMetrics: what is refused, and in which words."""

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
LABEL = "a label name or }"
EQUAL = '= after a label name (a quote within a value is written \\")'
FAMILY = "the name of a metric family"
BEGINNING = "a metric name, { or # (there are no blank lines)"
META = "# HELP, # TYPE, # UNIT or # EOF (there are no comments)"
KIND = "one of gauge, counter, summary, histogram, gaugehistogram, info, stateset, unknown"
LINE_END = "the end of the line"
ONE_BLANK = "one blank and a value"


@pytest.mark.parametrize(
    ("line", "column", "found", "allowed"),
    [
        (b"m  1", 2, "a blank", ONE_BLANK),
        (b"m\t1", 2, "a tab", ONE_BLANK),
        (b"m 1 ", 4, "a blank", "one blank and a timestamp, or the end of the line"),
        (b"m 1 NaN", 5, '"NaN"', "a timestamp in seconds"),
        (b"m 1 2 3", 6, "a blank", LINE_END),
        (b'm 1 #{a="b"} 2', 5, '"#{a="b"}"', NUMBER),
        (b'm 1 # {a="b" 2', 13, "a blank", ", or } after a label"),
        (b"m 1 # {a} 2", 9, '"}"', EQUAL),
        (b'm 1 # {"a"="b"} 2', 8, "a double quote", LABEL),
        (b'm 1 # {a="b"}', 14, "the end of the line", "one blank and the exemplar's value"),
        (b'm 1 # {a="b"} x', 15, '"x"', NUMBER),
        (b'm 1 # {a="b"} 1 +Inf', 17, '"+Inf"', "a timestamp in seconds"),
        (b'm 1 # {a="b"} 1 2 3', 18, "a blank", LINE_END),
        (b"# comment", 1, '"#"', META),
        (b"#EOF", 1, '"#EOF"', META),
        (b"", 1, "the end of the line", BEGINNING),
        (b" m 1", 1, "a blank", BEGINNING),
        (b'm{a="b", c="d"} 1', 9, "a blank", LABEL),
        (b'm{a="b"c="d"} 1', 8, '"c"', ", or } after a label"),
        (b'm{a="x', 5, "a double quote", "a label value with a closing quote"),
        (b"# TYPE m untyped", 10, '"untyped"', KIND),
        (b"# TYPE  m gauge", 8, "a blank", FAMILY),
        (b"# TYPE m  gauge", 10, '" gauge"', KIND),
        (b"# HELP m", 9, "the end of the line", "one blank after the name"),
        (b"# UNIT m", 9, "the end of the line", "one blank after the name"),
        (b"# UNIT m seconds", 10, '"seconds"', "the unit that the name ends with, after _"),
        (b"m 1 # 0.5", 5, '"#"', NUMBER),
    ],
)
def test_faults(line: bytes, column: int, found: str, allowed: str) -> None:
    """The format is strict about blanks, newlines and comments, and a fault says so."""
    fault = f"column {column}: found {found}, allowed is {allowed}"
    page = line + b"\n# EOF\n"
    item = exposition.item(page, 0, Context(Format.OPENMETRICS))
    assert item == BadItem(0, len(line) + 1, fault, column - 1)


@pytest.mark.parametrize("page", [b"m 1", b"# TYPE m gauge", b"# HELP m x", b"# UNIT m "])
def test_a_line_that_is_cut_off(page: bytes) -> None:
    """The last line needs its newline: without it, the number may be half a number."""
    item = exposition.item(page, 0, Context(Format.OPENMETRICS))
    fault = f"column {len(page) + 1}: found the end of the page, allowed is the end of the line"
    assert item == BadItem(0, len(page), fault, len(page))


@pytest.mark.parametrize(
    ("page", "item"),
    [
        pytest.param(b"# EOF", EofItem(0, 5), id="end"),
        pytest.param(b"# HELP m \n", HelpItem(0, 10, "m"), id="empty help"),
        pytest.param(b"# UNIT m_s s\n", OtherItem(0, 13), id="unit"),
        pytest.param(b"# UNIT m \n", OtherItem(0, 10), id="empty unit"),
        pytest.param(
            b"# TYPE m stateset\n", TypeItem(0, 18, "m", Kind.STATESET), id="a type of its own"
        ),
        pytest.param(
            b'{"x.y",a="b",} 1e3 -1.0019\n',
            SeriesItem(0, 27, b'{"x.y",a="b",}', "x.y", (("a", "b"),), b"1e3", -1001),
            id="time in seconds, cut off towards zero",
        ),
        pytest.param(
            b'm{a="b"} 1 2 # {t="x",u="y",} 3 4\n',
            SeriesItem(0, 34, b'm{a="b"}', "m", (("a", "b"),), b"1", 2000),
            id="exemplar with a time, behind a time",
        ),
        pytest.param(
            b"m 1 # {} 3\n", SeriesItem(0, 11, b"m", "m", (), b"1", None), id="bare exemplar"
        ),
    ],
)
def test_what_is_allowed(page: bytes, item: Item) -> None:
    """The rest of the format is read as in the text format."""
    assert exposition.item(page, 0, Context(Format.OPENMETRICS)) == item


def test_a_type_line_that_is_cut_off_leaves_the_kind_alone() -> None:
    """The kind comes into force with the line's end."""
    context = Context(Format.OPENMETRICS)
    exposition.item(b"# TYPE h histogram", 0, context)
    assert context.kind is Kind.UNKNOWN
