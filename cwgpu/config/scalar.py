"""What an unquoted YAML scalar is, as go-yaml v2 resolves it (Prometheus reads files with it).

YAML 1.1: ``yes`` and ``on`` are bools, ``0x10`` and ``1_000`` are integers, ``~`` is null.
Rules: https://github.com/go-yaml/yaml/blob/v2/resolve.go
"""

import re

from cwgpu.config.node import Kind, Node

_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
_TRUE = ("y", "yes", "true", "on")
_FALSE = ("n", "no", "false", "off")
_SPECIAL = frozenset({".nan", ".NaN", ".NAN", ".inf", ".Inf", ".INF"})
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_BASES = {"0x": 16, "0o": 8, "0b": 2}
_INTEGER = re.compile(r"([-+]?)(0[xX][0-9a-fA-F]+|0[oO][0-7]+|0[bB][01]+|0[0-7]*|[1-9][0-9]*)")


def _spellings(words: tuple[str, ...]) -> frozenset[str]:
    return frozenset(form for word in words for form in (word, word.capitalize(), word.upper()))


_BOOLS = {**dict.fromkeys(_spellings(_TRUE), True), **dict.fromkeys(_spellings(_FALSE), False)}


def kind(text: str) -> Kind:
    """Tell what a plain scalar is."""
    if text in _NULLS:
        return Kind.NULL
    if text in _BOOLS:
        return Kind.BOOL
    if text.startswith("_"):
        return Kind.STR  # elsewhere an underscore in a number is passed over
    if _whole(text) is not None:
        return Kind.INT
    if text.lstrip("+-") in _SPECIAL or _FLOAT.fullmatch(text.replace("_", "")):
        return Kind.FLOAT
    return Kind.STR


def boolean(node: Node) -> bool | None:
    """Give the value of a bool; None when the node is none."""
    return _BOOLS[node.text] if node.kind is Kind.BOOL else None


def integer(node: Node) -> int | None:
    """Give a number's value, its fraction cut off as Go does; None when the node is no number."""
    if node.kind is Kind.INT:
        return _whole(node.text)
    if node.kind is Kind.FLOAT and node.text.lstrip("+-") not in _SPECIAL:
        value = float(node.text.replace("_", ""))
        return int(value) if abs(value) != float("inf") else None
    return None


def real(node: Node) -> float | None:
    """Give a number's value, whole or not; None when the node is no number."""
    if node.kind is Kind.FLOAT:
        text = node.text.replace("_", "").lower()
        return float(text.replace(".inf", "inf").replace(".nan", "nan"))
    whole = integer(node)
    return None if whole is None else float(whole)


# An int of Python has no bound, but turning thousands of digits into one costs quadratic time;
# 64 binary digits with a prefix is the longest that any field can hold.
_LONGEST = 80


def _whole(text: str) -> int | None:
    found = _INTEGER.fullmatch(text.replace("_", "")) if len(text) <= _LONGEST else None
    if not found:
        return None
    sign, digits = found.groups()
    base = _BASES.get(digits[:2].lower(), 8 if digits[0] == "0" else 10)
    return int(f"{sign}{digits}", base)
