"""The list of a page's samples: types, places of faults, and where strict reading ends."""

import pytest

from cwgpu.model.kind import Kind
from cwgpu.prom import samples
from cwgpu.prom.exposition import Format
from cwgpu.prom.samples import Fault

TEXT, OPENMETRICS = Format.TEXT, Format.OPENMETRICS


def test_a_sample_has_the_type_of_its_family() -> None:
    """Also when the TYPE stands below it; the parts of a histogram are of its type."""
    body = b"a 1\nb_sum 2\nc 3\nb_bucket 4\n# TYPE a gauge\n# TYPE b histogram\n"
    found = samples.read(body, TEXT, strict=True)
    assert [(one.item.name, one.kind) for one in found.samples] == [
        ("a", Kind.GAUGE),
        ("b_sum", Kind.HISTOGRAM),
        ("c", Kind.UNKNOWN),
        ("b_bucket", Kind.HISTOGRAM),
    ]
    assert found.faults == ()


def test_strict_reading_ends_at_the_first_fault() -> None:
    """What stands before it was read; the rest is nobody's concern."""
    body = b"a 1\nb x\nc 3\nd y\n"
    strictly = samples.read(body, TEXT, strict=True)
    assert [one.item.name for one in strictly.samples] == ["a"]
    assert strictly.faults == (
        Fault(2, 3, 'found "x", allowed is a number such as 42, 0.5, 1e3, NaN, +Inf or -Inf'),
    )
    leniently = samples.read(body, TEXT, strict=False)
    assert [one.item.name for one in leniently.samples] == ["a", "c"]
    assert [(fault.line, fault.column) for fault in leniently.faults] == [(2, 3), (4, 3)]


@pytest.mark.parametrize(
    ("body", "form", "line", "column", "text"),
    [
        pytest.param(
            b'\n\nm{a="x\ny",!} 1\n',
            TEXT,
            4,
            4,
            'found "!", allowed is a label name or }',
            id="a line of an item further down",
        ),
        pytest.param(
            'm{a="żż",!} 1\n'.encode(),
            TEXT,
            1,
            10,
            'found "!", allowed is a label name or }',
            id="characters and not bytes",
        ),
        pytest.param(
            b'm 1\nm{a="1",a="2"} 1\n', TEXT, 2, 1, 'label "a" is there twice', id="a label twice"
        ),
        pytest.param(
            b"m 1\n",
            OPENMETRICS,
            2,
            1,
            "the page ends without # EOF: it is cut off, or it is no OpenMetrics",
            id="no end",
        ),
        pytest.param(
            b"# EOF\nm 1\n",
            OPENMETRICS,
            2,
            1,
            "found 4 bytes after # EOF, allowed is nothing",
            id="more after the end",
        ),
    ],
)
def test_a_fault_has_line_and_column(
    body: bytes, form: Format, line: int, column: int, text: str
) -> None:
    """Where an editor would jump to; a page's own fault is at its end."""
    for strict in (True, False):
        assert samples.read(body, form, strict=strict).faults[0] == Fault(line, column, text)


def test_a_sample_with_a_label_twice() -> None:
    """Prometheus' parser hands it out before the page fails; leniently read, it is a bad line."""
    body = b'm{a="1",a="2"} 1\nn 2\n'
    for strict, names in ((True, ["m"]), (False, ["n"])):
        found = samples.read(body, TEXT, strict=strict)
        assert [one.item.name for one in found.samples] == names
        assert len(found.faults) == 1
