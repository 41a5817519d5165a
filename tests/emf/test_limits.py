"""What CloudWatch takes as names, values and namespaces."""

import pytest

from cwgpu.emf import limits, units

BLANK = "is empty or blank"
CONTROL = "holds a control character"


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("pod", None),
        ("a" * 250, None),
        ("with space", None),
        ("a" * 251, "has 251 characters, 250 are allowed"),
        ("", BLANK),
        (" ", BLANK),
        (":pod", "begins with a colon"),
        ("po\td", CONTROL),
        ("größe", "holds a character outside ASCII"),
        ("_aws", "is _aws, which the format keeps for itself"),
    ],
)
def test_dimension_names(name: str, fault: str | None) -> None:
    """A dimension name is short printable ASCII that does not begin with a colon."""
    assert limits.dimension_name_fault(name) == fault


@pytest.mark.parametrize(
    ("value", "fault"),
    [
        ("gpu-burn-c68d8c774-ltg9s", None),
        (":1", None),
        ("_aws", None),
        ("v" * 1024, None),
        ("v" * 1025, "has 1025 characters, 1024 are allowed"),
        ("", BLANK),
        ("\u00a0", BLANK),
        ("a\x7fb", CONTROL),
        ("a\nb", CONTROL),
        ("№ 5", "holds a character outside ASCII"),
    ],
)
def test_dimension_values(value: str, fault: str | None) -> None:
    """A dimension value is printable ASCII of at most 1024 characters, at least one not blank."""
    assert limits.dimension_value_fault(value) == fault


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("DCGM_FI_DEV_GPU_UTIL", None),
        ("node.größe", None),
        ("m" * 255, None),
        ("m" * 256, "has 256 characters, 255 are allowed"),
        ("", BLANK),
        ("a\x00", CONTROL),
        ("_aws", "is _aws, which the format keeps for itself"),
    ],
)
def test_metric_names(name: str, fault: str | None) -> None:
    """A metric name has at most 255 characters and does not take the place of the directives."""
    assert limits.metric_name_fault(name) == fault


@pytest.mark.parametrize(
    ("namespace", "fault"),
    [
        ("ContainerInsights/Prometheus", None),
        ("a.b_c#d:e-f/9", None),
        ("n" * 255, None),
        ("n" * 256, "has 256 characters, 255 are allowed"),
        ("", BLANK),
        (":n", "begins with a colon"),
        ("AWS/EC2", "begins with AWS/, which is kept for AWS' own services"),
        ("AWSome", None),
        ("GPU metrics", "holds characters other than A-Z a-z 0-9 . _ # : / -"),
        ("näme", "holds characters other than A-Z a-z 0-9 . _ # : / -"),
        ("a\n", CONTROL),
    ],
)
def test_namespaces(namespace: str, fault: str | None) -> None:
    """A namespace holds the characters that every source allows, and is not one of AWS' own."""
    assert limits.namespace_fault(namespace) == fault


def test_a_message_leaves_room_for_its_share_of_a_batch() -> None:
    """The largest message, its 26 bytes and the margin make one whole batch."""
    assert limits.MESSAGE_BYTES + 26 + 1024 == 1024 * 1024


STANDARD_UNIT = """
Seconds Microseconds Milliseconds Bytes Kilobytes Megabytes Gigabytes Terabytes Bits Kilobits
Megabits Gigabits Terabits Percent Count Bytes/Second Kilobytes/Second Megabytes/Second
Gigabytes/Second Terabytes/Second Bits/Second Kilobits/Second Megabits/Second Gigabits/Second
Terabits/Second Count/Second None
"""


def test_there_are_the_27_units_of_the_api() -> None:
    """The units are those of StandardUnit, spelled the same."""
    assert set(STANDARD_UNIT.split()) == units.UNITS
    assert len(units.UNITS) == 27
