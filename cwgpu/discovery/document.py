"""JSON or YAML text to plain values, with bounds on what a wrong file may cost."""

import json
from typing import Any, TypeAlias

Value: TypeAlias = Any
"""None, str, list or dict of these; of JSON also numbers and booleans."""


class DocumentError(Exception):
    """The text is none that can be used. Says where, what was found and what to write."""


def text(data: bytes) -> str:
    """Read UTF-8, with or without a byte order mark; raises DocumentError."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DocumentError(
            f"byte {error.start + 1} is not UTF-8: write it in that encoding"
        ) from error


def from_json(text: str) -> Value:
    """Read JSON; raises DocumentError."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise DocumentError(
            f"line {error.lineno}, column {error.colno}: this is no JSON ({error.msg})"
        ) from error
    except (ValueError, RecursionError) as error:  # thousands of digits, or of brackets
        raise DocumentError(f"this is no JSON that can be read ({error})") from error


def from_yaml(text: str) -> Value:
    """Read the first YAML document, or None where there is none; raises DocumentError."""
    from cwgpu.discovery import compose  # noqa: PLC0415 - most have no target files, least in YAML

    return compose.read(text)
