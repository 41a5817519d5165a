"""Labels at a stroke are what the lexers read one by one."""

import dataclasses
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cwgpu.model.errors import ExpositionError
from cwgpu.model.kind import Kind
from cwgpu.prom import exposition, openmetrics, series, stride, text
from cwgpu.prom.cursor import Cursor
from cwgpu.prom.exposition import BadItem, Context, Format, SeriesItem
from cwgpu.prom.series import Dialect, Head
from cwgpu.prom.stride import Stride

DIALECTS = {
    "text": text._DIALECT,  # noqa: SLF001 - the laws hold for what the formats really use
    "openmetrics": openmetrics._DIALECT,  # noqa: SLF001
    "exemplar": openmetrics._EXEMPLAR_DIALECT,  # noqa: SLF001
}

NAMES = ["a", "le", "_x9", '"a"', '"a b"', '"\\""', '""', '"a\nb"', '"\\', "é", "9", ""]
EQUALS = ["=", "=", "=", " = ", "\t=", "", "=="]
VALUES = ['""', '"v"', '"\\n\\\\"', '"a\nb"', '"\0"', '"\\\0"', '"é"', '"', "x", '"\\x"']
COMMAS = [",", ",", ",", " , ", "", ",,", " ", "\n"]
PAIRS = st.tuples(*map(st.sampled_from, (NAMES, EQUALS, VALUES, COMMAS))).map("".join)
INSIDE = st.lists(PAIRS, max_size=8).map("".join)
ENDS = st.sampled_from(["}", "} 1", "", ",}", " }"])


def read(body: bytes, dialect: Dialect) -> Head | str:
    """Give what stands before the value, or the fault."""
    try:
        return series.head(Cursor(body, 0), dialect, Kind.UNKNOWN)
    except ExpositionError as fault:
        return str(fault)


@pytest.mark.parametrize("name", DIALECTS)
@settings(max_examples=200, deadline=None)
@given(inside=INSIDE, end=ENDS, byte=st.sampled_from([b"", b"\xff"]))
def test_a_stroke_changes_nothing(name: str, inside: str, end: str, byte: bytes) -> None:
    """The same labels, or the same fault at the same place, as without any strokes."""
    dialect = DIALECTS[name]
    nothing = Stride("(?!)", "", quoted_names=False)
    body = b"m{" + inside.encode().replace("é".encode(), "é".encode() + byte) + end.encode()
    one_by_one = dataclasses.replace(dialect, stride=nothing)
    assert read(body, dialect) == read(body, one_by_one)


@given(st.text(alphabet='\\"nx', max_size=20))
def test_escapes_are_resolved_from_the_left(written: str) -> None:
    """As if the text were read character by character, three escapes being known."""
    known = {"\\\\": "\\", '\\"': '"', "\\n": "\n"}
    expected = re.sub(r'\\[\\"n]', lambda escape: known[escape[0]], written)
    assert stride.unescaped(written) == expected


LARGE = 300_000
"""Enough that work which grows with the square would be ended by the time limit of all tests."""

HOSTILE = {
    "labels": b"m{" + b'a="",' * LARGE + b"} 1 1 1\n",
    "labels with blanks": b"m{" + b' a = "" ' * LARGE + b"} 1 1 1\n",
    "labels in quotes": b"m{" + b'"a"="",' * LARGE + b"} 1 1 1\n",
    "labels with escapes": b"m{" + b'a="\\n\\"",' * LARGE + b"} 1 1 1\n",
    "labels, a wrong byte": b"m{" + b'a="",' * LARGE + b'b="\xff"} 1\n',
    "escapes": b'm{a="' + b"\\n" * LARGE + b'"} x\n',
    "escaped quotes": b'm{a="' + b'\\"' * LARGE,
    "backslashes": b'm{a="' + b"\\" * LARGE + b"\n",
    "name in quotes": b'{"' + b"\\n" * LARGE + b'"} x\n',
    "digits": b"m " + b"1" * LARGE + b"x\n",
    "fraction": b"m 1." + b"1" * LARGE + b"x\n",
    "exponent": b"m 1e" + b"1" * LARGE + b"x\n",
    "time": b"m 1 " + b"1" * LARGE + b"x\n",
    "exemplar": b"m 1 # {" + b'a="",' * LARGE + b"} x\n",
    "exemplars": b"m 1" + b" # {}" * LARGE + b"\n",
}


@pytest.mark.parametrize("form", Format)
@pytest.mark.parametrize("line", HOSTILE)
def test_a_long_bad_line_is_a_bad_line(line: str, form: Format) -> None:
    """However long, it is read to its end and refused."""
    item = exposition.item(HOSTILE[line], 0, Context(form))
    assert isinstance(item, BadItem)
    assert item.end == len(HOSTILE[line])


@pytest.mark.parametrize("form", Format)
def test_a_long_good_line_is_a_sample(form: Format) -> None:
    """A million labels are labels; that most are there twice is for others to see."""
    body = b"m{" + b'a="\\n",b="",' * LARGE + b"} 1\n"
    item = exposition.item(body, 0, Context(form))
    assert isinstance(item, SeriesItem)
    assert item.labels == (("a", "\n"), ("b", "")) * LARGE
    assert exposition.repeated(item.labels) == "a"
