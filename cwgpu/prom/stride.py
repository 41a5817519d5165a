"""Labels of the common shapes, many at a stroke.

A sample may have a million labels, whether by accident or by malice. One pattern reads those that
need no second look; ``cwgpu.prom.series`` reads all others and says what is wrong with them.

Two bounds stand in the patterns. Python's ``re`` keeps a note for every round of a group until the
whole pattern is done, which for a million rounds comes to a hundred megabytes; and groups cannot be
possessive (tests/test_patterns.py says why). So groups go round a bounded number of times, and the
pattern is asked again.
"""

import re

from cwgpu.prom.cursor import Cursor

ROUNDS = "{1,1000}"
"""Of a group that is asked again and again: enough that the asking costs nothing."""
_ESCAPES = "{0,16}"
"""In one text: few have any."""

_TEXT = rf'"([^"\\\n\0]*+(?:\\[^\n\0][^"\\\n\0]*+){_ESCAPES})"'
_PLAIN = "([a-zA-Z_][a-zA-Z0-9_]*+)"

_ESCAPED_BACKSLASH = "\\\\"


class Stride:
    """What a label commonly looks like in one format."""

    __slots__ = ("_pair", "_run")

    def __init__(self, blank: str, comma: str, *, quoted_names: bool) -> None:
        """``blank`` and ``comma`` match what may stand between the tokens and after a label."""
        name = f'(?:{_PLAIN}|(?!""){_TEXT})' if quoted_names else f"{_PLAIN}()"
        pair = f"{name}{blank}={blank}{_TEXT}"
        self._pair = re.compile(pair)
        self._run = re.compile(f"(?:{blank}{pair}{blank}{comma}){ROUNDS}".encode())

    def take(self, cursor: Cursor, labels: list[tuple[str, str]]) -> None:
        """Step over the labels that stand here, as far as they are of this shape; collect them."""
        while found := self._run.match(cursor.body, cursor.at):
            text = cursor.decode(cursor.at, found.end())
            cursor.at = found.end()
            labels += [
                (plain or unescaped(quoted), unescaped(value))
                for plain, quoted, value in self._pair.findall(text)
            ]


def unescaped(text: str) -> str:
    r"""Resolve ``\\``, ``\"`` and ``\n``; a backslash before anything else stays."""
    if "\\" not in text:
        return text
    # Backslashes pair up from the left, and so does split: what is left between the pairs are
    # single ones.
    return "\\".join(
        part.replace('\\"', '"').replace("\\n", "\n") for part in text.split(_ESCAPED_BACKSLASH)
    )
