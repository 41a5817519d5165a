"""The parser as a whole: against Prometheus, against any bytes, against real pages."""

import base64
import json
import math
from collections.abc import Iterator, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from prometheus_client.openmetrics.parser import (
    text_string_to_metric_families as openmetrics_families,
)
from prometheus_client.parser import text_string_to_metric_families as text_families

from cwgpu.model.errors import ExpositionError
from cwgpu.model.kind import Kind
from cwgpu.prom import content, exposition, number
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

DATA = Path(__file__).parents[1] / "data"
TEXT, OPENMETRICS = Format.TEXT, Format.OPENMETRICS


# --- Against Prometheus 3.0.1, whose parsers answered these rows ---------------------------------

ROWS: list[dict[str, Any]] = [
    json.loads(line) for line in (DATA / "exposition.jsonl").read_text().splitlines()
]
"""Rows of all groups: what comes after the parser (limits, merge, relabelling, duplicates) is not
in the answers, but its inputs are pages all the same."""

ANSWERED = [row for row in ROWS if "entries" in row]

HANDED_OUT = {"om_exemplar_no_labels", "om_trailing_space"}
"""Prometheus gives the sample of these lines, and then fails the page for the rest of them; here a
line is good or bad as a whole. Strictly read, the page fails both ways."""


def body_of(row: dict[str, Any]) -> bytes:
    """Give the page of a row."""
    if "body_b64" in row:
        return base64.b64decode(row["body_b64"])
    return str(row["body"]).encode("utf-8", "surrogateescape")


def strictly(body: bytes, form: Format) -> tuple[list[Item], BadItem | None]:
    """Read as Prometheus does: up to the first fault."""
    items: list[Item] = []
    for item in exposition.scan(body, form):
        if isinstance(item, BadItem):
            return items, item
        items.append(item)
    return items, None


def go_number(value: float) -> str:
    """Write a value as the rows have it: Go's format ``f``, shortest."""
    if not math.isfinite(value):
        return {"nan": "NaN", "inf": "+Inf", "-inf": "-Inf"}[str(value)]
    return format(Decimal(repr(value)), "f").removesuffix(".0")


def entry(item: Item) -> list[Any] | None:
    """Give an item as the rows write it; None for what they leave out."""
    match item:
        case TypeItem():
            return ["type", item.name, item.kind.value]
        case HelpItem():
            return ["help", item.name]
        case SeriesItem():
            series: dict[str, Any] = {
                "name": item.name,
                "labels": dict(item.labels),
                "value": go_number(number.parse(item.value)),
            }
            if item.timestamp_ms is not None:
                series["timestamp_ms"] = item.timestamp_ms
            repeated = exposition.repeated(item.labels)
            return ["series", series if repeated is None else series | {"repeated": repeated}]
        case _:
            return None


def test_rows_that_are_not_the_parsers_concern() -> None:
    """Only what is about HTTP (status, redirects, gzip, time-outs) has no answer of the parser."""
    unanswered = [row for row in ROWS if "entries" not in row]
    assert {row["group"] for row in unanswered} == {"http"}
    assert len(unanswered) == 21
    assert len(ANSWERED) == 276


@pytest.mark.parametrize("row", ANSWERED, ids=lambda row: row["id"])
def test_content_types_are_told_as_prometheus_does(row: dict[str, Any]) -> None:
    """A page whose Content-Type Prometheus refuses is refused, and no other."""
    try:
        content.choose(row["content_type"], None)
    except ExpositionError:
        assert "content_type_error" in row
    else:
        assert "content_type_error" not in row


@pytest.mark.parametrize(
    "row", [row for row in ANSWERED if "content_type_error" not in row], ids=lambda row: row["id"]
)
def test_pages_are_read_as_prometheus_does(row: dict[str, Any]) -> None:
    """Strictly read, a page gives Prometheus' entries up to the fault that Prometheus finds."""
    items, fault = strictly(body_of(row), content.choose(row["content_type"], None))
    entries = [found for found in map(entry, items) if found is not None]
    expected = row["entries"][:-1] if row["id"] in HANDED_OUT else row["entries"]
    assert entries == expected
    assert (fault is not None) == ("error" in row)


def test_a_compressed_page_that_was_not_unpacked_is_no_page() -> None:
    """Gzip's bytes taken for text are a fault of the first line."""
    row = next(row for row in ROWS if row["id"] == "h_gzip_upper")
    items, fault = strictly(body_of(row), TEXT)
    assert items == []
    assert fault is not None


MUTATED: list[dict[str, Any]] = [
    json.loads(line) for line in (DATA / "exposition-mutated.jsonl").read_text().splitlines()
]
"""Lines of every shape, broken at random; the answers are again those of 3.0.1's parsers, where a
sample whose names are no valid UTF-8 counts as refused."""


@pytest.mark.parametrize("row", MUTATED, ids=lambda row: f"{row['format']}-{row['body']!a}")
def test_broken_pages_are_read_as_prometheus_does(row: dict[str, Any]) -> None:
    """Names, labels, bytes of the series, values and times are Prometheus', and so is refusal."""
    items, fault = strictly(body_of(row), Format[row["format"]])
    entries: list[list[Any]] = []
    for item in items:
        if isinstance(item, SeriesItem):
            labels = sorted([["__name__", item.name], *map(list, item.labels)])
            text = item.text.decode("utf-8", "surrogateescape")
            value = repr(number.parse(item.value))
            entries.append(["series", text, labels, value, item.timestamp_ms])
        elif isinstance(item, TypeItem):
            entries.append(["type", item.kind.value])
        elif isinstance(item, HelpItem):
            entries.append(["help"])
    for expected in row["entries"]:
        if expected[0] == "series":
            expected[2].sort()
    assert entries == row["entries"]
    assert (fault is not None) == row.get("refused", False)


# --- Against any bytes ---------------------------------------------------------------------------

TOKENS = [
    *[b" ", b"\t", b"\n", b"\n", b"\r", b"\0", b"{", b"}", b",", b"=", b'"', b"\\", b"#", b"\xff"],
    *[b"m", b"le", b"quantile", b"__name__", b'"a"', b'"x\\n\\"y"', b'"x\ny"', "é".encode()],
    *[b"1", b"2.5", b"NaN", b"-Inf", b"1e400", b"0x1p2", b"1_0", b"99999999999999999999"],
    *[b"# ", b"# HELP ", b"# TYPE ", b"# UNIT ", b"# EOF", b"# EOF\n", b" # {"],
    *[b"gauge", b"counter", b"summary", b"histogram", b"untyped", b"unknown"],
    *[b'm{a="b",c="d"} 1\n', b'm{le="1"} 1 2\n', b'{"m","a"="b"} 1\n', b"# TYPE m gauge\n"],
    *[b'm{quantile="0.50",a=""} 1.5\n', b"# TYPE m histogram\n", b"# TYPE m summary\n"],
]
PAGES = st.binary(max_size=60) | st.lists(st.sampled_from(TOKENS), max_size=20).map(b"".join)
FORMATS = st.sampled_from(Format)


def tiles(items: Sequence[Item], body: bytes) -> Iterator[Item]:
    """Give the items that have a length, having seen that each begins where the last ended."""
    at = 0
    for item in items:
        assert item.start == at
        if item.end == len(body) == at:
            assert item is items[-1]
            assert isinstance(item, BadItem)
            continue
        assert item.end > item.start
        yield item
        at = item.end
    assert at == len(body)


@settings(max_examples=200, deadline=None)
@given(body=PAGES, form=FORMATS)
@example(body=b"m 1\n\0\nn 2\n", form=TEXT)
@example(body=b"m 1\n# EOF\nn 2\n", form=OPENMETRICS)
def test_any_bytes_are_read(body: bytes, form: Format) -> None:
    """Whatever comes, reading makes progress, leaves no gap, and names a fault where there is one.

    A bad item ends at the next newline, so that it costs one line.
    """
    for item in tiles(list(exposition.scan(body, form)), body):
        part = body[item.start : item.end]
        match item:
            case SeriesItem():
                assert part.startswith(item.text)
                assert item.value in part
                assert math.isfinite(number.parse(item.value)) or b"n" in item.value.lower()
            case BadItem():
                assert item.fault
                assert item.fault.isprintable()
                if not item.fault.endswith("after # EOF, allowed is nothing"):
                    assert part.find(b"\n") in {-1, len(part) - 1}
            case EofItem():
                assert part.startswith((b"# EOF", b"\0")) or part.lstrip(b" \t").startswith(b"\0")
            case _:
                assert part[-1:] == b"\n" or item.end == len(body)


@settings(max_examples=200, deadline=None)
@given(body=PAGES, form=FORMATS, kind=st.sampled_from(Kind))
def test_the_quick_way_is_the_slow_way(body: bytes, form: Format, kind: Kind) -> None:
    """What the one pattern reads, the lexers read alike, whatever TYPE came before."""
    at = 0
    while at < len(body):
        quickly, slowly = Context(form, kind), Context(form, kind)
        item = exposition.item(body, at, quickly)
        assert item == exposition.slowly(body, at, slowly)
        assert quickly == slowly
        at = item.end


@settings(max_examples=100, deadline=None)
@given(body=PAGES, form=FORMATS)
def test_reading_can_begin_at_any_item(body: bytes, form: Format) -> None:
    """An item is the same when its reader did not read the ones before, but knows the kind."""
    kind = Kind.UNKNOWN
    for item in exposition.scan(body, form):
        if item.start == len(body) or (isinstance(item, BadItem) and "# EOF" in item.fault):
            continue
        assert exposition.item(body, item.start, Context(form, kind)) == item
        if isinstance(item, TypeItem):
            kind = item.kind


NAMES = st.from_regex(r"[a-zA-Z_:][a-zA-Z0-9_:]*", fullmatch=True)
LABELS = st.dictionaries(
    st.from_regex(r"[a-zA-Z_][a-zA-Z0-9_]*", fullmatch=True),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=10),
    max_size=5,
)


@settings(max_examples=100, deadline=None)
@given(name=NAMES, labels=LABELS, value=st.floats(), form=FORMATS)
def test_what_is_written_is_read(
    name: str, labels: dict[str, str], value: float, form: Format
) -> None:
    """Any text survives as a label's value, and any float as the sample's."""
    escaped = {
        label: text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
        for label, text in labels.items()
    }
    inner = ",".join(f'{label}="{text}"' for label, text in escaped.items())
    body = f"{name}{{{inner}}} {value!r}\n".encode()
    item = exposition.item(body, 0, Context(form))
    assert isinstance(item, SeriesItem)
    assert (item.name, item.labels) == (name, tuple(labels.items()))
    assert number.parse(item.value) == pytest.approx(value, rel=0, abs=0, nan_ok=True)


BAD_LINES = [
    b"this is not prometheus",
    b"m ERROR - FAILED TO CONVERT TO STRING",
    b'm{a="b"',
    b'm{a="x"y"} 1',
    b"# TYPE m nonsense",
    b"m 1\r",
    b"<html>",
    b"\xff",
]


@given(bad=st.sampled_from(BAD_LINES), at=st.integers(0, 4))
def test_a_bad_line_costs_itself_alone(bad: bytes, at: int) -> None:
    """The samples around a bad line are read as if it were not there."""
    good = [b"m 1", b'm{a="b"} 2', b"# TYPE n counter", b"n 3 4"]
    lines = [*good[:at], bad, *good[at:]]
    items = list(exposition.scan(b"\n".join(lines) + b"\n", TEXT))
    faults = [item for item in items if isinstance(item, BadItem)]
    assert [item.start for item in faults] == [sum(len(line) + 1 for line in lines[:at])]
    samples = [(item.text, item.value) for item in items if isinstance(item, SeriesItem)]
    assert samples == [(b"m", b"1"), (b'm{a="b"}', b"2"), (b"n", b"3")]


# --- Against the pages of real exporters ---------------------------------------------------------

SAMPLES = sorted(path for path in (DATA / "samples").iterdir() if path.suffix in {".prom", ".om"})

BAD = {
    "17-sentinels-and-bad-lines.prom": [
        'column 134: found "ERROR", allowed is a number such as 42, 0.5, 1e3, NaN, +Inf or -Inf'
    ]
}
"""The faults of each page; all other pages have none."""

REFUSED_BY_CLIENT = {"17-sentinels-and-bad-lines.prom"}
"""The client library's parser has no mercy for a bad line."""


def form_of(path: Path) -> Format:
    """Give the format of a sample page, as its exporter's Content-Type would."""
    served = "application/openmetrics-text; version=1.0.0" if path.suffix == ".om" else "text/plain"
    return content.choose(served, None)


def test_the_pages_are_all_there() -> None:
    """No page of the field goes missing."""
    assert len(SAMPLES) == 18
    assert [path.name for path in SAMPLES if form_of(path) is OPENMETRICS] == [
        "11-openmetrics-synthetic.om"
    ]


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_exporter_pages(path: Path) -> None:
    """Every line of every exporter is read; those known to be broken, and no others, are bad."""
    body = path.read_bytes()
    items = list(exposition.scan(body, form_of(path)))
    assert list(tiles(items, body)) == items
    assert [item.fault for item in items if isinstance(item, BadItem)] == BAD.get(path.name, [])
    assert len(items) == body.count(b"\n")
    kinds = {item.kind for item in items if isinstance(item, TypeItem)}
    assert kinds <= {Kind.GAUGE, Kind.COUNTER}


@pytest.mark.parametrize(
    "path",
    [path for path in SAMPLES if path.name not in REFUSED_BY_CLIENT],
    ids=lambda path: path.stem,
)
def test_the_client_library_reads_the_same(path: Path) -> None:
    """Names, labels, values and times are those that Prometheus' own Python library reads."""
    form = form_of(path)
    families = text_families if form is TEXT else openmetrics_families
    theirs = [
        (sample.name, sample.labels, repr(float(sample.value)), sample.timestamp)
        for family in families(path.read_text())
        for sample in family.samples
    ]
    ours = []
    counters: set[str] = set()
    for item in exposition.scan(path.read_bytes(), form):
        if isinstance(item, TypeItem) and item.kind is Kind.COUNTER:
            counters.add(item.name)
        elif isinstance(item, SeriesItem):
            # The library renames a text page's counters.
            name = f"{item.name}_total" if item.name in counters else item.name
            time = None if item.timestamp_ms is None else item.timestamp_ms / 1000
            ours.append((name, dict(item.labels), repr(number.parse(item.value)), time))
    assert len(ours) == len(theirs)
    for mine, other in zip(sorted(ours, key=repr), sorted(theirs, key=repr), strict=True):
        assert mine[:3] == other[:3]
        assert mine[3] == (None if other[3] is None else float(other[3]))


# --- The door itself -----------------------------------------------------------------------------


def test_the_items_of_a_page() -> None:
    """Every kind of item has its place, its name and what it says."""
    body = (
        b"# HELP m Some help.\n# TYPE m summary\n\n# free\n"
        b'm{quantile="1",a="\\"x\\"",b=""} 1e3 5\n oops\n'
    )
    assert list(exposition.scan(body, TEXT)) == [
        HelpItem(0, 20, "m"),
        TypeItem(20, 37, "m", Kind.SUMMARY),
        OtherItem(37, 38),
        OtherItem(38, 45),
        SeriesItem(
            start=45,
            end=82,
            text=b'm{quantile="1",a="\\"x\\"",b=""}',
            name="m",
            labels=(("quantile", "1.0"), ("a", '"x"'), ("b", "")),
            value=b"1e3",
            timestamp_ms=5,
        ),
        BadItem(
            start=82,
            end=88,
            fault="column 6: found the end of the line, allowed is a value after the metric",
            at=87,
        ),
    ]


def test_a_raw_newline_makes_an_item_of_two_lines() -> None:
    """A quoted value may hold a newline; its fault is found on the line where it stands."""
    body = b'm{a="x\ny"} 1\nn{a="x\ny",!} 1\n'
    first, *rest = exposition.scan(body, TEXT)
    assert first == SeriesItem(0, 13, b'm{a="x\ny"}', "m", (("a", "x\ny"),), b"1", None)
    assert [type(item) for item in rest] == [BadItem, BadItem]
    assert rest[0] == BadItem(
        13,
        20,
        'column 4, 1 line further down: found "!", allowed is a label name or }',
        23,
    )


@pytest.mark.parametrize(
    ("body", "form", "fault"),
    [
        pytest.param(b"", TEXT, None, id="text needs no end"),
        pytest.param(b"m 1\n\0rest", TEXT, None, id="NUL ends a text"),
        pytest.param(b"m 1\n# EOF\n", OPENMETRICS, None, id="end"),
        pytest.param(b"m 1\n# EOF", OPENMETRICS, None, id="end without a newline"),
        pytest.param(
            b"m 1\n",
            OPENMETRICS,
            BadItem(4, 4, "the page ends without # EOF: it is cut off, or it is no OpenMetrics", 4),
            id="no end",
        ),
        pytest.param(
            b"",
            OPENMETRICS,
            BadItem(0, 0, "the page ends without # EOF: it is cut off, or it is no OpenMetrics", 0),
            id="empty",
        ),
        pytest.param(
            b"# EOF\nm 1\nn 2\n",
            OPENMETRICS,
            BadItem(6, 14, "found 8 bytes after # EOF, allowed is nothing", 6),
            id="data after the end",
        ),
        pytest.param(
            b"# EOF \n",
            OPENMETRICS,
            BadItem(5, 7, "found 2 bytes after # EOF, allowed is nothing", 5),
            id="a blank after the end",
        ),
    ],
)
def test_the_end_of_a_page(body: bytes, form: Format, fault: BadItem | None) -> None:
    """OpenMetrics has to say where it ends; what is wrong with that is the page's last item."""
    context = Context(form)
    at = 0
    while at < len(body) and context.ended_at is None:
        at = exposition.item(body, at, context).end
    assert exposition.finish(body, context) == fault
    faults = [item for item in exposition.scan(body, form) if isinstance(item, BadItem)]
    assert faults == ([] if fault is None else [fault])


@pytest.mark.parametrize(
    ("labels", "name"),
    [
        ((), None),
        ((("a", "1"), ("b", "1")), None),
        ((("a", "1"), ("b", "2"), ("a", "1")), "a"),
        ((("__name__", "m"),), "__name__"),
    ],
)
def test_repeated_labels(labels: tuple[tuple[str, str], ...], name: str | None) -> None:
    """A label name may come once, and ``__name__`` not at all."""
    assert exposition.repeated(labels) == name


def test_the_kind_can_be_set_from_outside() -> None:
    """A caller that passes over known TYPE lines says so, and ``le`` is read by that."""
    context = Context(TEXT)
    body = b'h_bucket{le="1"} 1\n'
    plain = exposition.item(body, 0, context)
    context.kind = Kind.HISTOGRAM
    bound = exposition.item(body, 0, context)
    assert isinstance(plain, SeriesItem)
    assert isinstance(bound, SeriesItem)
    assert (plain.labels, bound.labels) == ((("le", "1"),), (("le", "1.0"),))
