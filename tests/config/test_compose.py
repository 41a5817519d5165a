"""YAML with places, read as go-yaml reads it."""

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from cwgpu.config import compose, limits
from cwgpu.config.node import Kind, Node, path, walk
from cwgpu.config.source import Source


def read(text: str) -> Node:
    """Read a text of one document that is right."""
    nodes, complaints = compose.read(text, Source.of("f.yml", text))
    assert complaints == []
    (node,) = nodes
    return node


def fault(text: str) -> str:
    """Read a text that is wrong, and give the sentence about it."""
    _, complaints = compose.read(text, Source.of("f.yml", text))
    (complaint,) = complaints
    return complaint.message


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("yes", Kind.BOOL),
        ("On", Kind.BOOL),
        ("n", Kind.BOOL),
        ("yEs", Kind.STR),
        ("'yes'", Kind.STR),
        ('"1"', Kind.STR),
        ("! 1", Kind.INT),
        ("!!str 1", Kind.STR),
        ("!!int '1'", Kind.INT),
        ("1_000", Kind.INT),
        ("0x1F", Kind.INT),
        ("0o17", Kind.INT),
        ("0b101", Kind.INT),
        ("0755", Kind.INT),
        ("-0x10", Kind.INT),
        ("089", Kind.FLOAT),
        ("1.5e3", Kind.FLOAT),
        (".5", Kind.FLOAT),
        ("-.inf", Kind.FLOAT),
        ("~", Kind.NULL),
        ("null", Kind.NULL),
        ("", Kind.NULL),
        ("2001-01-01", Kind.STR),
        ("1m30s", Kind.STR),
        ("|\n  1", Kind.STR),
    ],
)
def test_scalars_are_what_go_yaml_makes_of_them(text: str, kind: Kind) -> None:
    """Plain scalars resolve by YAML 1.1's rules; quoted ones are strings."""
    found = read(f"a: {text}\n").at("a")
    assert found is not None
    assert found.kind is kind


def test_a_scalar_keeps_its_text() -> None:
    """The text of a scalar is as it is written, whatever it resolves to."""
    tree = read("a: 0x1F\nb: yes\nc: 1.50\n")
    assert [member.value.text for member in tree.members] == ["0x1F", "yes", "1.50"]


# PyYAML writes these breaks of YAML 1.1 in a way that it does not read back itself.
_TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\x85\u2028\u2029"), max_size=8)


@given(
    st.recursive(
        _TEXTS | st.integers() | st.booleans(),
        lambda inner: (
            st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
        ),
        max_leaves=8,
    )
)
@settings(max_examples=100)
def test_reads_what_pyyaml_writes(written: object) -> None:
    """Any value that is dumped comes back, the text of its strings unchanged.

    Their kind may differ: Go's YAML takes a bare ``Y`` for a bool and ``1e3`` for a number.
    """
    tree = read(yaml.safe_dump(written, allow_unicode=True))
    assert set(_strings(written)) <= {node.text for _, node in walk(tree)}


def _strings(written: object) -> list[str]:
    if isinstance(written, dict):
        return [text for value in written.values() for text in _strings(value)]
    if isinstance(written, list):
        return [text for value in written for text in _strings(value)]
    return [written] if isinstance(written, str) else []


def test_merge_keys_merge() -> None:
    """``<<`` brings the members of another object, and the own ones win."""
    tree = read("x: &x {a: 1, b: 2}\ny: &y {a: 3, c: 4}\nz: {<<: [*x, *y], b: 5}\nw: {<<: *x}\n")
    merged = tree.at("z")
    assert merged is not None
    assert {m.name: m.value.text for m in merged.members} == {"a": "1", "b": "5", "c": "4"}


def test_a_quoted_merge_key_is_a_key() -> None:
    """Only the plain ``<<`` merges."""
    assert read("'<<': {a: 1}\n").at('["<<"].a') is not None


def test_an_alias_is_what_its_anchor_is() -> None:
    """The aliased node appears in both places, with the place where it is written."""
    tree = read("a: &x [1]\nb: *x\n")
    one, other = tree.at("a[0]"), tree.at("b[0]")
    assert one is not None
    assert one is other


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a: *x\n", "no anchor &x stands before"),
        ("a: &x [*x]\n", "inside its own anchor"),
        ("a: !foo 1\n", "the tag '!foo' means nothing"),
        ("a: !foo [1]\n", "the tag '!foo' means nothing"),
        ("a: !!binary aGk\n", "no text in base64"),
        ("a: !!binary /w==\n", "no text in base64"),
        ("password: *x\n", "no anchor *** stands before"),
        ("password: !x 1\n", "the tag *** means nothing"),
        ("[a]: 1\n", "a key must be a word"),
        ("a: [1\n", "expected"),
        ("a: \x00\n", "may not stand in YAML"),
        ("a: \x7f\n", "may not stand in YAML"),
    ],
)
def test_what_yaml_cannot_say_is_refused(text: str, words: str) -> None:
    """A syntax error is a complaint and never an exception."""
    assert words in fault(text)


@given(st.text(max_size=60) | st.text(alphabet="a:-[]{}&*!|>'\"#%@ \n\t<", max_size=60))
@settings(max_examples=200)
def test_any_text_gives_a_tree_or_a_complaint(text: str) -> None:
    """Reading never raises, and what gives no tree is complained about unless it is empty."""
    nodes, complaints = compose.read(text, Source.of("f", text))
    for node in nodes:
        assert len(list(walk(node))) == node.size
    assert all(each.line >= 1 and each.column >= 1 for each in complaints)


def test_depth_is_bounded() -> None:
    """Deep nesting is refused, written out or made by aliases."""
    assert read("[" * limits.DEPTH + "]" * limits.DEPTH).height == limits.DEPTH
    assert "deep" in fault("[" * (limits.DEPTH + 1))
    deep = "[" * 60 + "]" * 60
    assert "deep" in fault(f"a: &a {deep}\nb: {'[' * 60}*a{']' * 60}\n")


def test_aliases_cannot_blow_up() -> None:
    """Aliases of aliases are followed only so far."""
    lines = ["- &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]"]
    lines += [f"- &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    assert "aliases followed" in fault("\n".join(lines))


def test_the_number_of_values_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """So is a file that is simply too large."""
    monkeypatch.setattr(limits, "NODES", 3)
    assert len(read("[1, 2]").items) == 2
    assert "more than 3 values" in fault("[1, 2, 3]")


def test_all_documents_of_a_stream_are_read() -> None:
    """A stream's documents come one by one, and those before a fault are kept."""
    nodes, complaints = compose.read("a: 1\n---\nb: 2\n---\n[", Source.of("f", ""))
    assert [path((node.members[0].name,)) for node in nodes] == ["a", "b"]
    assert len(complaints) == 1


def test_places_count_characters() -> None:
    """A column counts characters and not bytes."""
    member = read("é: {ü: x}\n").members[0].value.members[0]
    assert (member.place.column, member.value.place.column) == (5, 8)


@pytest.mark.parametrize("tag", ["!!binary", "!<tag:yaml.org,2002:binary>"])
def test_base64_is_decoded(tag: str) -> None:
    """A text may be written in base64, as go-yaml has it; a number it never is."""
    (node,), complaints = compose.read(f"a: {tag} MTI=\n", Source.of("f.yml", ""))
    found = node.at("a")
    assert found is not None
    assert (found.kind, found.text, complaints) == (Kind.STR, "12", [])


def test_a_key_of_nothing_is_empty() -> None:
    """A null key of a mapping is the empty text, as in Go."""
    (node,), _ = compose.read("a: {~: 1}\n", Source.of("f.yml", ""))
    found = node.at("a")
    assert found is not None
    assert [member.name for member in found.members] == [""]


def test_numbers_begin_with_no_underscore() -> None:
    """Within them underscores are passed over."""
    (node,), _ = compose.read("[_1, 1_0, -_1]\n", Source.of("f.yml", ""))
    assert [each.kind for each in node.items] == [Kind.STR, Kind.INT, Kind.INT]
