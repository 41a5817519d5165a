"""The format of the file that makes several changes one."""

import zlib

import pytest

from cwgpu.spool import intent
from cwgpu.spool.found import Damaged
from tests.spool import samples

MEANT = intent.Intent(
    ("001700000000000-0a1b2c3d-000002.batch",), ("001700000000000-0a1b2c3d-000001.log",)
)
LINE = (
    b'cwgpu-commit 1 57327bf9 {"made":["001700000000000-0a1b2c3d-000002.batch"],'
    b'"gone":["001700000000000-0a1b2c3d-000001.log"]}\n'
)
FILE = LINE + b"\n" + LINE


def test_it_looks_as_documented() -> None:
    """The first version's bytes stay as they are."""
    assert intent.encode(MEANT) == FILE
    assert intent.decode(FILE) == MEANT


def test_one_line_of_the_two_is_enough() -> None:
    """A damaged byte, and a cut after the first line, change nothing."""
    for _, data in samples.flips(FILE):
        assert intent.decode(data) == MEANT
    for end in range(len(LINE), len(FILE)):
        assert intent.decode(FILE[:end]) == MEANT


def test_less_than_a_line_says_nothing() -> None:
    """Cut within the first line it is damaged."""
    for end in range(len(LINE) - 1):
        with pytest.raises(Damaged):
            intent.decode(LINE[:end])


@pytest.mark.parametrize(
    "text",
    [
        b"{}",
        b"[" * 100_000,
        b'{"made":["../../etc/passwd"],"gone":[]}',
        b'{"made":[],"gone":["001700000000000-0a1b2c3d-000001.log/.."]}',
        b'{"made":[],"gone":["001700000000000-0a1b2c3d-000001.log\\n"]}',
    ],
    ids=["empty", "deep", "above", "beside", "newline"],
)
def test_it_names_files_of_the_spool_and_no_others(text: bytes) -> None:
    """What it names is removed: names that the spool does not give are not believed."""
    with pytest.raises(Damaged, match="none of ours"):
        intent.decode(b"cwgpu-commit 1 %08x %s\n" % (zlib.crc32(text), text))


def test_a_newer_format_is_refused() -> None:
    """What another version means is not guessed."""
    with pytest.raises(Damaged, match="another format"):
        intent.decode(FILE.replace(b"commit 1", b"commit 2"))
