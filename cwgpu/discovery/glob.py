"""File names with wildcards, as Go reads them and Prometheus with it.

``*`` is any text, ``?`` any character, ``[a-c]`` and ``[^a-c]`` one that is or is not among these,
and a backslash makes the character after it a plain one: https://pkg.go.dev/path/filepath#Match
"""

import re
from collections.abc import Iterator

_ITEM = r"(?:\\.|[^]\\-])"
_RANGE = re.compile(rf"({_ITEM})(?:-({_ITEM}))?", re.DOTALL)
_PART = re.compile(
    rf"(?P<any>[*?])|\[(?P<not>\^|(?!\^))(?P<of>(?:{_ITEM}(?:-{_ITEM})?)+)\]|\\?(?P<plain>.)",
    re.DOTALL,
)
_ANY = {"*": ".*", "?": "."}


def is_plain(name: str) -> bool:
    """Tell whether a name stands for itself alone."""
    return not re.search(r"[*?[\\]", name)


def compiled(pattern: str) -> re.Pattern[str]:
    """Give what matches the whole of the names that a pattern means; ValueError if it is none."""
    return re.compile("".join(_translated(pattern)), re.DOTALL)


def _translated(pattern: str) -> Iterator[str]:
    for part in _PART.finditer(pattern):
        if part["any"]:
            yield _ANY[part["any"]]
        elif part["of"]:
            yield f"[{part['not']}{''.join(_ranges(part['of']))}]"
        elif part[0] in {"[", "\\"}:
            raise ValueError(f"{part[0]} begins something that does not end")
        else:
            yield re.escape(part["plain"])


def _ranges(items: str) -> Iterator[str]:
    for low, high in _RANGE.findall(items):
        first, last = low[-1], (high or low)[-1]
        # Where nothing lies between the two Go finds nothing; "\0" stands in no file's name.
        yield f"{re.escape(first)}-{re.escape(last)}" if first <= last else "\0"
