"""What a target file, or a discovery service's answer, may hold."""

import json
import re

import pytest

from cwgpu.discovery import shape
from cwgpu.discovery.document import DocumentError, Value
from cwgpu.discovery.shape import Group


@pytest.mark.parametrize(
    ("document", "groups"),
    [
        (None, ()),
        ([], ()),
        ([{}], (Group((), {}),)),
        ([{"targets": None, "labels": None}], (Group((), {}),)),
        (
            [{"targets": ["a:9400", "b:9400"], "labels": {"zone": "1", "none": None}},
             {"targets": ["a:9400", None]}],
            (Group(("a:9400", "b:9400"), {"zone": "1", "none": ""}), Group(("a:9400", ""), {})),
        ),
    ],
)  # fmt: skip
def test_groups_come_as_written(document: Value, groups: tuple[Group, ...]) -> None:
    """Targets and labels may be missing; an empty file names nothing, an empty item no address."""
    assert shape.groups(document) == groups


@pytest.mark.parametrize(
    ("document", "fault"),
    [
        ({"targets": []}, "it holds a mapping: write a list such as [{"),
        ("a:9400", "it holds the text 'a:9400': write a list"),
        ([None], "[0] is empty: write a group such as {"),
        ([{}, "a:9400"], "[1] is the text 'a:9400': write a group"),
        ([["a:9400"]], "[0] is a list: write a group"),
        ([{"target": ["a:9400"]}], "[0] has the key 'target': write targets or labels"),
        ([{"targets": "a:9400"}], "[0].targets is the text 'a:9400': write a list such as ["),
        ([{"targets": {"a": "b"}}], "[0].targets is a mapping: write a list"),
        ([{"targets": ["a:9400", 9400]}], "[0].targets[1] is 9400: write text in quotes"),
        ([{"Targets": []}], "[0] has the key 'Targets': write targets or labels"),
        ([{"labels": ["a"]}], "[0].labels is a list: write names and values such as {"),
        ([{"labels": {"zone": 1}}], "[0].labels.zone is 1: write text in quotes"),
        ([{"labels": {"zone": True}}], "[0].labels.zone is True: write text in quotes"),
        ([{"labels": {"zone": ["a"]}}], "[0].labels.zone is a list: write text in quotes"),
        ([{"labels": {"": "a"}}], "[0].labels has an empty name: give that label a name"),
        ([{"targets": ["\ud800"]}], "[0].targets[0] holds half of a \\u pair: write both"),
        ([{"labels": {"\udc00": "a"}}], "a name in [0].labels holds half of a \\u pair"),
        ([{"labels": {"a": "x" * 99}}, {"labels": {"b": 10**50}}],
         f"[1].labels.b is 1{'0' * 39}: write text"),
    ],
)  # fmt: skip
def test_faults_name_the_place_and_what_to_write(document: Value, fault: str) -> None:
    """Each fault says where it is, what stands there and what should."""
    with pytest.raises(DocumentError, match=re.escape(fault)) as error:
        shape.groups(document)
    assert str(error.value).isprintable()


def test_keys_of_json_are_known_in_any_case() -> None:
    """Go, which others write their discovery services for, takes them so; other keys stay wrong."""
    document = [{"Targets": ["a:9400"], "LABELS": {"Zone": "A"}}]
    assert shape.groups(document, any_case=True) == (Group(("a:9400",), {"Zone": "A"}),)
    with pytest.raises(DocumentError, match="has the key 'Target'"):
        shape.groups([{"Target": []}], any_case=True)


def test_the_example_is_right() -> None:
    """What the faults say to write can be written."""
    (group,) = shape.groups(json.loads(shape.EXAMPLE))
    assert group == Group(("10.0.0.1:9400",), {"Service": "dcgm-exporter"})


def test_repeated_lists_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """One list that is shared by many groups counts in each of them."""
    monkeypatch.setattr(shape, "_MOST_ENTRIES", 10)
    group = {"targets": ["a:9400"] * 3, "labels": {"a": "b"}}
    assert len(shape.groups([group] * 2)) == 2
    with pytest.raises(DocumentError, match=r"\[2\]: .* more than 10 groups"):
        shape.groups([group] * 3)
