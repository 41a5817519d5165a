"""A file's text as a tree with places, and the complaints about its form."""

import codecs
import enum
from dataclasses import dataclass

from cwgpu.config import limits, scan
from cwgpu.config.complaint import Complaint, Level, about, at, errors_in
from cwgpu.config.node import Kind, Node
from cwgpu.config.source import Source


class Form(enum.Enum):
    """The two languages that configuration is written in."""

    JSON = "json"
    YAML = "yaml"


@dataclass(frozen=True, slots=True)
class Document:
    """What was read. A broken document has an empty root and an error among its complaints."""

    source: Source
    root: Node
    complaints: tuple[Complaint, ...] = ()

    @property
    def broken(self) -> bool:
        """Tell whether its form is wrong, so that there is no tree."""
        return errors_in(self.complaints)


def read(data: bytes, name: str, form: Form) -> Document:
    """Read a file's bytes; ``name`` is what complaints call the file. Never raises."""
    text, complaints = decode(data, name, form)
    source = Source.of(name, text)
    if errors_in(complaints):
        return Document(source, empty(source), complaints)
    document = parse(text, source, form)
    return Document(document.source, document.root, (*complaints, *document.complaints))


def parse(text: str, source: Source, form: Form) -> Document:
    """Read a text; its ``source`` may say that it is embedded in a file. Of YAML, one document."""
    if form is Form.JSON:
        node, complaints = scan.read(text, source)
        return Document(source, node or empty(source), tuple(complaints))
    nodes, complaints = _composed(text, source)
    root = nodes[0] if nodes else empty(source)
    if len(nodes) > 1:
        complaints.append(_second(nodes[1]))
    return Document(source, root, tuple(complaints))


def documents(data: bytes, name: str) -> tuple[list[Node], tuple[Complaint, ...]]:
    """Read every document of a YAML stream, as a Kubernetes manifest has them."""
    text, complaints = decode(data, name, Form.YAML)
    if errors_in(complaints):
        return [], complaints
    nodes, more = _composed(text, Source.of(name, text))
    return nodes, (*complaints, *more)


def inside(node: Node) -> Source | None:
    """Give the source of the text that a literal block scalar (``|``) holds; of others None.

    Only in a literal block does each line of the text stand on a line of the file.
    """
    if node.style != "|":
        return None
    for number, line in enumerate(node.text.split("\n")):
        if line.strip():
            written = node.place.source.place(node.place.line + number + 1, 1).excerpt
            indent = len(written) - len(line)
            break
    else:
        indent = 0
    return Source(node.place.source.name, node.place.source.lines, node.place.line, indent)


def decode(data: bytes, name: str, form: Form) -> tuple[str, tuple[Complaint, ...]]:
    """Decode UTF-8, complaining about size and bytes that are no UTF-8.

    YAML may begin with a byte order mark, and may then be UTF-16 (section 5.2 of YAML 1.1).
    """
    if len(data) > limits.SIZE_BYTES:
        found = f"the file has {len(data)} bytes, more than the {limits.SIZE_BYTES} that are read"
        return "", (about(name, "file-too-large", found),)
    if form is Form.YAML and data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        data = data.decode("utf-16", errors="replace").encode()
    marked = data.startswith(codecs.BOM_UTF8)
    data = data.removeprefix(codecs.BOM_UTF8)
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        return "", (_undecodable(data, error, name),)
    is_told = marked and form is Form.JSON
    return text, (_mark(Source.of(name, text)),) if is_told else ()


def empty(source: Source) -> Node:
    """Give the tree of nothing."""
    return Node(Kind.NULL, source.place(1, 1))


def _composed(text: str, source: Source) -> tuple[list[Node], list[Complaint]]:
    from cwgpu.config import compose  # noqa: PLC0415 - a configuration may be one file of JSON

    return compose.read(text, source)


def _mark(source: Source) -> Complaint:
    return at(
        source.place(1, 1),
        "byte-order-mark",
        "the file begins with a byte order mark, which the CloudWatch agent refuses",
        level=Level.NOTE,
        advice="nothing to do, unless the agent reads it too: then save it as UTF-8 without BOM",
    )


def _undecodable(data: bytes, error: UnicodeDecodeError, name: str) -> Complaint:
    before = Source.of(name, data[: error.start].decode()).lines
    source = Source.of(name, data.decode(errors="replace"))
    return at(
        source.place(len(before), len(before[-1]) + 1),
        "not-utf8",
        f"the byte 0x{data[error.start]:02x} is no UTF-8 here",
        advice="save the file as UTF-8",
    )


def _second(node: Node) -> Complaint:
    return at(
        node.place,
        "second-document",
        "a second YAML document begins here; only the first of a file is read",
        level=Level.WARNING,
        advice="put all of it into one document, without ---",
    )
