"""Plain values from JSON and YAML, and faults that say where."""

import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cwgpu.discovery import compose, document
from cwgpu.discovery.document import DocumentError, Value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("# nothing\n", None),
        ("~", None),
        ("[]", []),
        ("- targets: [a:9400, b:9400]\n", [{"targets": ["a:9400", "b:9400"]}]),
        ("zone: 010\nyes: on\nday: 2001-01-01\nhex: 0x1F\n",
         {"zone": "010", "yes": "on", "day": "2001-01-01", "hex": "0x1F"}),
        ("a:\nb: ~\nc: null\nd: 'null'\ne: ''\nf: !!str null\n",
         {"a": None, "b": None, "c": None, "d": "null", "e": "", "f": "null"}),
        ("- &a [x]\n- *a\n- *a\n", [["x"], ["x"], ["x"]]),
        ("- &a x\n- b: *a\n", ["x", {"b": "x"}]),
        ("- !!int x\n- !!python/object:os.system y\n", ["x", "y"]),
        ("- a\n---\n- b\n", ["a"]),
        ('{"a": ["b", "\\u0041"]}', {"a": ["b", "A"]}),
    ],
)  # fmt: skip
def test_yaml_is_text_lists_and_mappings(text: str, value: Value) -> None:
    """Scalars stay as written, only a plain null is none; what follows a document is not read."""
    assert document.from_yaml(text) == value


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("- a\n- *x\n", r"line 2, column 3: \*x names no anchor: write &x"),
        ("a: 1\nb: 2\na: 3\n", "line 3, column 1: the key 'a' comes twice: remove one"),
        ("? [a]\n: b\n", "line 1, column 3: a key is no text"),
        ("~: b\n", "line 1, column 1: a key is no text"),
        ("- a: b: c\n", r"line 1, column 7: this is no YAML \(mapping values are not allowed"),
        ("- 'a\n", r"line 2, column 1: this is no YAML \(found unexpected end of stream"),
        ("- \x00\n", r"this is no YAML \(.*control characters are not allowed"),
        ("[" * 5000, r"line 1, column \d+: this is no YAML \(exceeded maximum nesting depth"),
    ],
)
def test_yaml_faults_say_where(text: str, fault: str) -> None:
    """What is no YAML, or ambiguous, is refused with its line and column."""
    with pytest.raises(DocumentError, match=fault):
        document.from_yaml(text)


def test_yaml_of_countless_values_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bound counts whatever takes memory, aliases too."""
    monkeypatch.setattr(compose, "_MOST_VALUES", 4)
    assert document.from_yaml("- &a x\n- *a\n- *a\n") == ["x", "x", "x"]
    with pytest.raises(DocumentError, match="line 4, column 3: it holds more than 4 values"):
        document.from_yaml("- &a x\n- *a\n- *a\n- *a\n")


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "line 1, column 1: this is no JSON"),
        ('[\n  {"targets": ["a:9400"]},\n]', "line 3, column 1: this is no JSON"),
        ("[" * 100_000, "this is no JSON that can be read"),
        ("1" * 5000, "this is no JSON that can be read"),
    ],
)
def test_json_faults_say_where(text: str, fault: str) -> None:
    """What is no JSON is refused with its line and column."""
    with pytest.raises(DocumentError, match=fault):
        document.from_json(text)


PLAIN = st.recursive(
    st.none() | st.text(st.characters(exclude_categories=["C", "Zl", "Zp"]), max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text("abc\"'\\: ", max_size=4), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(PLAIN)
def test_yaml_reads_what_json_says(value: Value) -> None:
    """JSON that spells its characters out is YAML of the same values."""
    text = json.dumps(value, ensure_ascii=False)
    assert document.from_yaml(text) == document.from_json(text) == value


@given(st.text(max_size=60) | st.text("-[]{},:&*!|>'\"#%?~ \nab", max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    """Whatever stands in a file, there is a value or a fault, and nothing else."""
    for read in (document.from_json, document.from_yaml):
        with contextlib.suppress(DocumentError):
            value = read(text)
            assert value is None or isinstance(value, str | list | dict | int | float)
