"""The types of the models' fields: how a written value becomes a Python one.

Two readings exist. What Prometheus reads, go-yaml reads: a string field takes any scalar as it is
written, ``null`` is the zero value and not the default, a bool must not be quoted. What the
CloudWatch agent reads is checked against a JSON schema: a string is a string.
Models are validated on ``plain`` trees, whose scalars are still nodes.
"""

from collections.abc import Callable
from typing import Annotated, Any, NoReturn, TypeAlias, TypeVar

from pydantic import AfterValidator, BeforeValidator, Field
from pydantic_core import PydanticCustomError

from cwgpu.config import scalar
from cwgpu.config.node import Kind, Node, describe, short
from cwgpu.model.errors import RuleError
from cwgpu.prom import duration, size

T = TypeVar("T")

# Go's unsigned integers, which limits and moduli are.
UINT64_MAX = 2**64 - 1


def plain(node: Node) -> Any:  # noqa: ANN401 - whatever was written
    """Turn a tree into dicts and lists; scalars stay nodes, so that fields see how they stand."""
    if node.kind is Kind.MAPPING:
        return {member.name: plain(member.value) for member in node.members}
    if node.kind is Kind.SEQUENCE:
        return [plain(item) for item in node.items]
    return node


def found(value: object) -> str:
    """Describe a part of a plain tree for a sentence."""
    if isinstance(value, Node):
        return describe(value)
    return Kind.MAPPING.value if isinstance(value, dict) else Kind.SEQUENCE.value


def refuse(code: str, message: str, advice: str = "") -> NoReturn:
    """Refuse a value from within a validator."""
    raise PydanticCustomError("complaint", "{message}", _context(code, message, advice))


def _context(code: str, message: str, advice: str) -> dict[str, str]:
    return {"code": code, "message": message, "advice": advice}


def _wrong(value: object, wanted: str) -> NoReturn:
    refuse("wrong-type", f"wanted {wanted}, found {found(value)}")


# --- As go-yaml reads -------------------------------------------------------------------------


def is_null(value: object) -> bool:
    """Tell whether nothing is written for a key, which is Go's zero value and not the default."""
    return isinstance(value, Node) and value.kind is Kind.NULL


def as_text(value: object) -> str:
    """Read any scalar as it is written."""
    if isinstance(value, Node):
        return "" if value.kind is Kind.NULL else value.text
    return _wrong(value, "a string")


def _name_of_a_file(text: str) -> str:
    """Refuse what no system call takes."""
    if "\0" in text:
        refuse("bad-file-name", f"the name of a file holds a NUL: {short(text)}", "take it out")
    return text


def _flag(value: object) -> bool:
    if is_null(value):
        return False
    read = scalar.boolean(value) if isinstance(value, Node) else None
    return _wrong(value, "true or false, unquoted") if read is None else read


def _count(value: object) -> int:
    if is_null(value):
        return 0
    read = scalar.integer(value) if isinstance(value, Node) else None
    in_range = read is not None and 0 <= read <= UINT64_MAX
    return read if read is not None and in_range else _wrong(value, "a number of 0 or more")


def _real(value: object) -> float:
    if is_null(value):
        return 0.0
    read = scalar.real(value) if isinstance(value, Node) else None
    return _wrong(value, "a number") if read is None else read


def _ruled(parse: Callable[[str], int], code: str) -> Callable[[object], int]:
    def read(value: object) -> int:
        if is_null(value):
            return 0
        try:
            return parse(as_text(value))
        except RuleError as error:
            refuse(code, str(error))

    return read


def _zero(empty: Callable[[], object]) -> Callable[[object], object]:
    return lambda value: empty() if is_null(value) else value


_size = _ruled(size.parse, "bad-size")
Text = Annotated[str, BeforeValidator(as_text)]
FileText = Annotated[Text, AfterValidator(_name_of_a_file)]
Flag = Annotated[bool, BeforeValidator(_flag)]
Count = Annotated[int, BeforeValidator(_count)]
Real = Annotated[float, BeforeValidator(_real)]
Duration = Annotated[int, BeforeValidator(_ruled(duration.parse, "bad-duration"))]
"""Milliseconds; 0 is the same as unset."""
Size = Annotated[int, BeforeValidator(_size)]
"""Bytes."""
Listed: TypeAlias = Annotated[list[T], BeforeValidator(_zero(list))]
Mapped: TypeAlias = Annotated[dict[str, T], BeforeValidator(_zero(dict))]
Section: TypeAlias = Annotated[T | None, BeforeValidator(_zero(lambda: None))]
Zero: TypeAlias = Annotated[T, BeforeValidator(_zero(dict))]
"""An object that is there even where nothing is written for it."""
Free = Annotated[Any, Field()]
"""Whatever is written: nothing here reads it."""


# --- As a JSON schema reads -------------------------------------------------------------------


def as_string(value: object) -> str:
    """Read a string, and nothing else."""
    if isinstance(value, Node) and value.kind is Kind.STR:
        return value.text
    return _wrong(value, "a string")


def _bool(value: object) -> bool:
    read = scalar.boolean(value) if isinstance(value, Node) else None
    return _wrong(value, "true or false") if read is None else read


def _whole(value: object) -> int:
    read = scalar.integer(value) if isinstance(value, Node) else None
    # Draft 4 of JSON schema calls 5.0 an integer; 5.5 is none.
    if read is None or (isinstance(value, Node) and float(value.text) != read):
        return _wrong(value, "a whole number")
    return read


def _bytes(value: object) -> int:
    number = isinstance(value, Node) and value.kind in (Kind.INT, Kind.FLOAT)
    return _whole(value) if number else _size(value)


String = Annotated[str, BeforeValidator(as_string)]
FileString = Annotated[String, AfterValidator(_name_of_a_file)]
Bool = Annotated[bool, BeforeValidator(_bool)]
Whole = Annotated[int, BeforeValidator(_whole)]
Bytes = Annotated[int, BeforeValidator(_bytes)]
"""A whole number, or a size as Prometheus writes them."""
