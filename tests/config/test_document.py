"""Files as trees with places."""

import pytest

from cwgpu.config import document, limits
from cwgpu.config.document import Form
from cwgpu.config.node import Kind, same


def codes(data: bytes, form: Form = Form.YAML) -> list[str]:
    """Read a file and give what is said about its form."""
    return [each.code for each in document.read(data, "f", form).complaints]


def test_nothing_is_null() -> None:
    """An empty YAML file is an empty tree; an empty JSON file is none."""
    read = document.read(b"# nothing\n", "f", Form.YAML)
    assert (read.root.kind, read.broken) == (Kind.NULL, False)
    assert document.read(b"", "f", Form.JSON).broken


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"\xef\xbb\xbfa: 1", []),
        (b"a: 1\n---\nb: 1", ["second-document"]),
        (b"a: \xff", ["not-utf8"]),
        (b"a" * (limits.SIZE_BYTES + 1), ["file-too-large"]),
        (b"a: 1\r\nb: 2\r\n", []),
    ],
)
def test_the_form_of_a_file_is_checked(data: bytes, expected: list[str]) -> None:
    """What a file must not be is said before anything else."""
    assert codes(data) == expected


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_a_byte_order_mark_costs_nothing(encoding: str) -> None:
    """YAML may begin with one, which is no part of the first key."""
    read = document.read("a: é".encode(encoding), "f", Form.YAML)
    assert read.complaints == ()
    assert [member.name for member in read.root.members] == ["a"]


def test_a_byte_order_mark_in_json() -> None:
    """JSON is read, too; that the CloudWatch agent would refuse it is good to know."""
    read = document.read(b'\xef\xbb\xbf{"a": 1}', "f", Form.JSON)
    assert [(each.code, each.level.value) for each in read.complaints] == [
        ("byte-order-mark", "note")
    ]
    assert not read.broken


def test_a_bad_byte_has_a_place() -> None:
    """The place of a byte that is no UTF-8 counts the characters before it."""
    (said,) = document.read("a: 1\né: ".encode() + b"\xe9", "f", Form.YAML).complaints
    assert (said.line, said.column) == (2, 4)


@pytest.mark.parametrize("data", [b"\xff", b"a" * (limits.SIZE_BYTES + 1)])
def test_what_cannot_be_read_is_said_once(data: bytes) -> None:
    """That the text that is not there is wrong as well helps nobody."""
    assert len(document.read(data, "f", Form.JSON).complaints) == 1
    assert len(document.documents(data, "f")[1]) == 1


def test_every_document_of_a_manifest_is_read() -> None:
    """A stream of several documents gives a tree for each."""
    nodes, said = document.documents(b"a: 1\n---\nb: 2\n", "m.yaml")
    assert ([node.members[0].name for node in nodes], said) == (["a", "b"], ())


MANIFEST = """\
data:
  agent.json: |

    {
      "agnt": 1
    }
  folded: >
    {}
  blank: "  "
  empty: |

"""


def test_a_text_in_a_manifest_has_the_manifests_places() -> None:
    """A file inside a block of a manifest is read with the manifest's lines and columns."""
    (tree,), _ = document.documents(MANIFEST.encode(), "m.yaml")
    block = tree.at('data["agent.json"]')
    assert block is not None
    source = document.inside(block)
    assert source is not None
    member = document.parse(block.text, source, Form.JSON).root.members[0]
    assert (member.place.line, member.place.column) == (5, 7)
    assert member.place.excerpt == '      "agnt": 1'


@pytest.mark.parametrize("name", ["folded", "blank"])
def test_only_a_literal_block_has_lines_of_its_own(name: str) -> None:
    """In other styles the lines of the text are not lines of the file."""
    (tree,), _ = document.documents(MANIFEST.encode(), "m.yaml")
    node = tree.at(f"data.{name}")
    assert node is not None
    assert document.inside(node) is None


def test_an_empty_block_is_a_source_too() -> None:
    """A block without text has no indentation to know."""
    (tree,), _ = document.documents(MANIFEST.encode(), "m.yaml")
    node = tree.at("data.empty")
    assert node is not None
    source = document.inside(node)
    assert source is not None
    assert source.indent == 0


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        ("{a: 1, b: 2}", "{b: 2, a: 1}", True),
        ("[1, 2]", "[1, 2]", True),
        ("[1, 2]", "[2, 1]", False),
        ("[1]", "[1, 1]", False),
        ("{a: 1}", "{b: 1}", False),
        ("{a: 1}", "{a: 2}", False),
        ("1", "'1'", False),
    ],
)
def test_trees_are_the_same_wherever_they_stand(one: str, other: str, equal: bool) -> None:  # noqa: FBT001
    """Places and the order of keys do not count."""
    first, second = (
        document.read(f"\n{text}".encode(), "f", Form.YAML).root for text in (one, other)
    )
    assert same(first, second) is equal
