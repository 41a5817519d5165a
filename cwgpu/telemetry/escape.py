"""Foreign text on one line of a terminal or a log.

Names, labels and error texts come from the network. A newline in one would forge a journal line, an
escape sequence would recolour or rewrite the operator's screen (CWE-117, CWE-150).
"""

import re

# C0 and C1 controls, line and paragraph separators, what turns the reading direction, and lone
# surrogates, which no encoding can write.
_UNSAFE = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
_BYTE = 0xFF
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def line(text: str) -> str:
    """Give the text with every character that could do something written as an escape."""
    return _UNSAFE.sub(_escaped, text)


def cut(text: str, longest: int) -> str:
    """Give at most so many characters, the last three of them dots where something is missing."""
    return text if len(text) <= longest else text[: max(0, longest - 3)] + "..."


def _escaped(found: re.Match[str]) -> str:
    character = found[0]
    code = ord(character)
    return _SHORT.get(character) or (f"\\x{code:02x}" if code <= _BYTE else f"\\u{code:04x}")
