"""JSON with places."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cwgpu.config import limits, scan
from cwgpu.config.node import Kind, Node, walk
from cwgpu.config.source import Source

_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def read(text: str) -> Node:
    """Read a text that is right."""
    node, complaints = scan.read(text, Source.of("f.json", text))
    assert node is not None
    assert complaints == []
    return node


def value(node: Node) -> object:
    """Make the value that the standard library would have made."""
    if node.kind is Kind.MAPPING:
        return {member.name: value(member.value) for member in node.members}
    if node.kind is Kind.SEQUENCE:
        return [value(item) for item in node.items]
    return node.text if node.kind is Kind.STR else json.loads(node.text)


@given(_VALUES, st.sampled_from((None, 1, "\t")))
@settings(max_examples=150)
def test_reads_what_the_standard_library_reads(written: object, indent: int | str | None) -> None:
    """Any JSON value is read as the value that it is."""
    text = json.dumps(written, indent=indent, ensure_ascii=indent is None)
    if "\\ud8" in text.lower() or any("\ud800" <= char <= "\udfff" for char in text):
        return
    assert value(read(text)) == json.loads(text)


@given(st.text(alphabet='{}[]",:0123456789.eE+-truefalsn \n\\u"/', max_size=40))
@settings(max_examples=200)
def test_accepts_exactly_what_is_json(text: str) -> None:
    """What the standard library refuses is refused, and nothing else is."""
    try:
        json.loads(text, parse_constant=lambda word: json.loads(f"not {word}"))
        right = "\\ud" not in text.lower()
    except (ValueError, RecursionError):
        right = False
    node, complaints = scan.read(text, Source.of("f", text))
    assert (node is not None) == right or any("half" in each.message for each in complaints)
    assert (node is None) <= bool(complaints)


@given(_VALUES)
@settings(max_examples=100)
def test_places_lie_where_the_text_stands(written: object) -> None:
    """Each scalar's place holds the scalar's text."""
    text = json.dumps(written, indent=2)
    node, _ = scan.read(text, Source.of("f.json", text))
    for _, each in walk(node) if node else ():
        if each.kind not in (Kind.MAPPING, Kind.SEQUENCE):
            start = each.place.column - 1
            shown = each.place.excerpt[start : start + each.place.width]
            assert json.loads(shown) == value(each)


def test_keys_have_places_too() -> None:
    """A member knows where its key stands."""
    member = read('{\n  "a":  1}').members[0]
    assert (member.place.line, member.place.column, member.place.width) == (2, 3, 3)
    assert (member.value.place.line, member.value.place.column) == (2, 9)


def test_the_first_of_two_equal_keys_counts() -> None:
    """A repeated key is complained about and not read."""
    text = '{"a": 1, "a": 2}'
    node, complaints = scan.read(text, Source.of("f", text))
    assert node is not None
    assert [member.value.text for member in node.members] == ["1"]
    assert [each.code for each in complaints] == ["duplicate-key"]


@pytest.mark.parametrize("text", ["01", "1.", ".5", "+1", "1e", "0x10", "NaN", "-", "1_0", "-a"])
def test_numbers_are_those_of_json(text: str) -> None:
    """No number of another language is let in."""
    node, complaints = scan.read(text, Source.of("f", text))
    assert node is None
    assert [each.code for each in complaints] == ["json-syntax"]


def test_the_number_of_values_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that is too large is refused before it fills the memory."""
    monkeypatch.setattr(limits, "NODES", 3)
    assert len(read("[1, 2]").items) == 2
    _, complaints = scan.read("[1, 2, 3]", Source.of("f", ""))
    assert complaints[0].message == "more than 3 values in one file"


def test_an_embedded_text_has_the_places_of_its_file() -> None:
    """A text inside another file is read with that file's lines and columns."""
    manifest = 'data:\n  agent.json: |\n    {\n      "a": tru\n    }\n'
    source = Source.of("manifest.yaml", manifest).embedded(2, 4)
    _, complaints = scan.read('{\n  "a": tru\n}\n', source)
    assert (complaints[0].line, complaints[0].column) == (4, 12)
    assert complaints[0].excerpt == '      "a": tru'


@pytest.mark.parametrize(
    ("text", "named"),
    [("global: {}", True), ("- job_name: a", True), ('{"a": yes}', False), ("// a", False)],
)
def test_another_language_is_told(text: str, named: bool) -> None:  # noqa: FBT001 - a table
    """Who gives a prometheus.yml in the place of JSON learns how it is given."""
    _, [said] = scan.read(text, Source.of("f.json", text))
    assert ("--prometheus-config" in said.help) is named
