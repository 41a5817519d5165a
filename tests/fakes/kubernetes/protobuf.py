"""The two kinds of objects that kubectl sends as protobuf, for ``create ns`` and ``auth can-i``.

https://kubernetes.io/docs/reference/using-api/api-concepts/#protobuf-encoding
https://protobuf.dev/programming-guides/encoding/
"""

from collections.abc import Iterator, Mapping
from typing import Any

Json = dict[str, Any]

CONTENT_TYPE = "application/vnd.kubernetes.protobuf"
_MAGIC = b"k8s\0"
_VARINT, _BYTES = 0, 2

_META = {1: ("name", None)}
_ATTRIBUTES = {
    1: ("namespace", None),
    2: ("verb", None),
    3: ("group", None),
    5: ("resource", None),
    6: ("subresource", None),
    7: ("name", None),
}
_SPEC = {1: ("resourceAttributes", _ATTRIBUTES)}
_FIELDS: Mapping[str, Mapping[int, Any]] = {
    "Namespace": {1: ("metadata", _META)},
    "SelfSubjectAccessReview": {1: ("metadata", _META), 2: ("spec", _SPEC)},
}
"""Numbers of fields -> name, and the fields of what is in it; None is text.

From generated.proto of k8s.io/api/core/v1 and k8s.io/api/authorization/v1.
"""
_TYPE = {1: ("apiVersion", None), 2: ("kind", None)}


def read(raw: bytes) -> Json | None:
    """Read an object; None when it is of another kind."""
    if not raw.startswith(_MAGIC):
        return None
    envelope = dict(_parts(raw[len(_MAGIC) :]))
    typed = _document(envelope.get(1, b""), _TYPE)
    fields = _FIELDS.get(typed.get("kind", ""))
    return None if fields is None else {**typed, **_document(envelope.get(2, b""), fields)}


def _document(raw: bytes, fields: Mapping[int, Any]) -> Json:
    document: Json = {}
    for number, value in _parts(raw):
        if number in fields:
            name, inner = fields[number]
            document[name] = value.decode() if inner is None else _document(value, inner)
    return document


def _parts(raw: bytes) -> Iterator[tuple[int, bytes]]:
    """Give the fields that hold bytes; numbers among them are passed over."""
    at = 0
    while at < len(raw):
        key, at = _varint(raw, at)
        size, at = _varint(raw, at)
        if key & 7 == _BYTES:
            yield key >> 3, raw[at : at + size]
            at += size
        elif key & 7 != _VARINT:
            raise ValueError(f"wire type {key & 7} is in none of these objects")


def _varint(raw: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        value |= (raw[at] & 0x7F) << shift
        shift, at = shift + 7, at + 1
        if not raw[at - 1] & 0x80:
            return value, at
