"""docs/spool.md shows what the code writes."""

import io
import re
from pathlib import Path

from cwgpu.spool import batch, intent, survey, wal
from tests.docs import pages

PAGE = "docs/spool.md"


def _example(word: str) -> bytes:
    """Give the example of a format."""
    (found,) = re.findall(rf"```text\n({word} .*?)```", pages.text(PAGE), re.DOTALL)
    return str(found).replace("⇥", "\t").encode()


def test_the_examples_are_files() -> None:
    """Each example of a format can be read."""
    head = _example("cwgpu-batch")
    first = batch.front(head)
    assert batch.waybill(first, head[first.header_at :]).events == 2
    log = _example("cwgpu-log")
    reading = wal.read(io.BytesIO(log), len(log))
    assert (len(reading.events), reading.fault) == (2, None)
    assert len(intent.decode(_example("cwgpu-commit")).made) == 1


def test_the_versions_are_those_of_the_code() -> None:
    """The table of formats has each with its version."""
    assert [row[:2] for row in pages.rows(PAGE, "## Formats")] == [
        ["cwgpu-batch", str(batch.VERSION)],
        ["cwgpu-log", str(wal.VERSION)],
        ["cwgpu-commit", str(intent.VERSION)],
    ]


def test_every_folder_is_there() -> None:
    """The table of what lies where has every folder."""
    table = pages.section(PAGE, "## What lies where")
    assert [name for name in survey.FOLDERS if f"| `{name}/" not in table] == []


def test_the_reasons_are_those_of_the_code() -> None:
    """What the page calls a reason is in the code, word for word."""
    code = " ".join(path.read_text("utf-8") for path in Path(batch.__file__).parent.glob("*.py"))
    said = {part for row in pages.rows(PAGE, "## Quarantine") for part in row[0].split("`, `")}
    pieces = {piece.strip() for reason in said for piece in reason.split("...")} - {""}
    assert len(said) > 10
    assert [piece for piece in sorted(pieces) if piece not in code] == []
