"""The format of the file that makes several changes one (docs/spool.md).

It names what is made and what is gone. As ``*.begun`` it says that nothing of it counts yet: what
was made is to be removed. Renamed to ``*.done``, which is one step for every reader and for the
disk, all of it counts: what is gone is to be removed. Its line is there twice, with an empty one
between, so that one damaged byte changes nothing.
"""

import re
import zlib

import msgspec

from cwgpu.spool import names
from cwgpu.spool.found import Damaged

VERSION = 1
"""Of the format."""

_LINE = re.compile(rb"cwgpu-commit ([0-9]{1,9}) ([0-9a-f]{8}) (.*)")
_BROKEN = (msgspec.MsgspecError, RecursionError)


class Intent(msgspec.Struct, frozen=True):
    """Names of files; what their names end in says in which folder they are."""

    made: tuple[str, ...]
    """Batches."""
    gone: tuple[str, ...]
    """Batches and segments."""


def encode(intent: Intent) -> bytes:
    """Give the file's content."""
    text = msgspec.json.encode(intent)
    line = b"cwgpu-commit %d %08x %s\n" % (VERSION, zlib.crc32(text), text)
    return b"%s\n%s" % (line, line)


def decode(data: bytes) -> Intent:
    """Read the file; raises Damaged."""
    for line in data.split(b"\n"):
        found = _LINE.fullmatch(line)
        if found and int(found[1]) == VERSION and int(found[2], 16) == zlib.crc32(found[3]):
            return _intent(found[3])
    raise Damaged("it is damaged, or of another format than this cwgpu reads")


def _intent(text: bytes) -> Intent:
    try:
        intent = msgspec.json.decode(text, type=Intent)
    except _BROKEN as error:
        raise Damaged(f"it is none of ours: {error}") from error
    for name in (*intent.made, *intent.gone):
        if not names.BATCH.fullmatch(name) and not names.SEGMENT.fullmatch(name):
            raise Damaged("it names files that are none of ours")
    return intent
