"""What must not be shown: secrets that stand in the configuration, as far as they can be told.

Complaints show lines of files and quote what they found, and end in journals. Told is by keys,
misspelt ones too, since it is about them that there are complaints; whether a file is JSON or
YAML, and whether it can be read at all, makes no difference. Better too many stars than too few.
"""

import functools
import re
from collections.abc import Iterator, Sequence

STARS = "***"

# Their values are secrets, however they are written; but not names of files, nor URLs.
_KEY = (
    r"(?:[\w-]{0,40}(?:pass|pasw|secret|token|credential|authorization)[\w-]{0,40}(?<!_file)(?<!_files)"
    r"(?<!_url)|keys?|values*|basic_auth\w*|proxy_connect_header\w*)"
)
_SCALAR = r"""(?:"(?:[^"\\]|\\.)*"?[^,}\]]*|'[^']*'?|[^\s{\[|>"'][^,}\]]*)"""
_ITEMS = r"""\[(?:"(?:[^"\\]|\\.)*"?|'[^']*'?|[^"'\]])*"""
_IN_LINE = re.compile(rf"""(?i)(["']?\b{_KEY}["']?\s*:\s*)({_SCALAR}|{_ITEMS}|\{{[^{{}}:]*\}})""")
# Where a key begins the line of a YAML file, its value goes on to the end, commas and all.
_AT_START = re.compile(
    rf"""(?i)^(\s*(?:-\s+)*["']?{_KEY}["']?\s*:\s+)((?![|>][-+0-9]*\s*(?:#.*)?$)[^\s{{\[].*)"""
)
_OF_HEADERS = re.compile(
    r"""(?i)((?:proxy_connect_header|http_headers)\w*["']?\s*:\s*)"""
    r"""(\{(?:[^{}]|\{[^{}]*\}?)*|\[[^\]]*)"""
)
_USER = re.compile(r"""(://)([^\s"']{1,200})(?=@)""")
# A file that was cut off may end before the @; a port and a path are no password.
_CUT_OFF = re.compile(r"""(://[^\s"'/@:\[]{1,200}:)(?!\d{1,5}(?:[/?#]|$))([^\s"'@]+)$""")
_QUERY = re.compile(
    r"""(?i)([?&][\w-]{0,40}(?:pass|secret|token|key|sig|auth)[\w-]{0,40}=)([^&\s"']+)"""
)
_PATTERNS = (_AT_START, _IN_LINE, _OF_HEADERS, _USER, _CUT_OFF, _QUERY)

_SECRET_STEP = re.compile(rf"(?i){_KEY}|http_headers\w*")
# A line whose last key is a secret's: the more indented lines below it belong to its value.
_OPENS = re.compile(rf"""(?i)["']?\b({_KEY}|http_headers\w*)["']?\s*:(?!.*[\w"']\s*:(?:\s|$))""")
_GROUPS = re.compile(r"(?i)(?:basic_auth|authorization|credentials)\w*")
_HEADERS = re.compile(r"(?i)http_headers\w*")
_NO_VALUE = re.compile(r"""\s*["']?(?:files\b.*|[\w-]+["']?\s*:\s*[{\[]?\s*)""")
_HAS_KEY = re.compile(r"""[\w"']\s*:(?:\s|$)""")
_FAR = 1000
"""Lines that are looked at above a line; a certificate with its chain has some hundred."""
_LONGEST = 1_000_000
"""A minified ConfigMap is no longer; looking through more takes seconds where it is hostile."""
_WIDE = 500
"""How much of the end of each; nobody wraps a longer line."""


def private(loc: Sequence[str | int]) -> bool:
    """Tell whether a secret stands at a place in a tree, or something else where one should."""
    steps = [step for step in loc if isinstance(step, str)]
    secret = [step for step in steps if _SECRET_STEP.fullmatch(step)]
    # What stands in a group beside the secret is none, but what stands in the group's place may be.
    return any(not _GROUPS.fullmatch(step) or step is steps[-1] for step in secret)


def without_users(text: str) -> str:
    """Put stars for ``user:password@`` in URLs."""
    return _QUERY.sub(_hidden, _USER.sub(_hidden, text))


def masked(lines: Sequence[str], number: int) -> str:
    """Give a line, its number counted from 1, with stars over secrets; columns stay."""
    if not 0 < number <= len(lines):
        return ""
    line = lines[number - 1]
    if _continues(lines, number - 1):
        indent = len(line) - len(line.lstrip())
        return line[:indent] + "*" * (len(line) - indent)
    return _masked(line)


# A minified file is one line, and all complaints are about it.
@functools.lru_cache(maxsize=16)
def _masked(line: str) -> str:
    if len(line) > _LONGEST:
        return "*" * len(line)
    for pattern in _PATTERNS:
        line = pattern.sub(_hidden, line)
    return line


def _hidden(found: re.Match[str]) -> str:
    return found[1] + "*" * len(found[2])


def _continues(lines: Sequence[str], index: int) -> bool:
    """Tell whether a line is part of a secret that begins further up."""
    for above in _above(lines, index):
        found = _OPENS.search(above[-_WIDE:])
        if found and not _is_open(found[1], lines[index]):
            return True
    return False


def _above(lines: Sequence[str], index: int) -> Iterator[str]:
    """Yield the lines within whose values a line stands, going by indentation."""
    indent, is_item = _indent(lines[index])
    for above in reversed(lines[max(0, index - _FAR) : index]):
        width, is_sibling = _indent(above)
        if above.strip() and (width < indent or (width == indent and is_item and not is_sibling)):
            yield above
            indent, is_item = width, is_sibling


def _is_open(above: str, line: str) -> bool:
    """Tell whether a line is none of the secrets of the group in which it stands."""
    if _GROUPS.fullmatch(above):
        return bool(_HAS_KEY.search(line))
    return bool(_HEADERS.fullmatch(above) and _NO_VALUE.fullmatch(line))


def _indent(line: str) -> tuple[int, bool]:
    """Give the width of a line's beginning, and whether it is an item of a list."""
    bare = line.lstrip()
    return len(line) - len(bare), bare.startswith("-")
