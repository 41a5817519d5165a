"""Names of log groups and streams."""

import pytest

from cwgpu.logs import names


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("/aws/containerinsights/eks-lab/prometheus", None),
        ("a.b_c#d-e/9", None),
        ("g" * 512, None),
        ("g" * 513, "has 513 characters, 512 are allowed"),
        ("", "is empty"),
        ("aws/mine", "begins with aws/, which is kept for AWS (/aws/ is allowed)"),
        ("my group", "holds characters other than A-Z a-z 0-9 _ / . # -"),
        ("größe", "holds characters other than A-Z a-z 0-9 _ / . # -"),
        ("group\n", "holds characters other than A-Z a-z 0-9 _ / . # -"),
    ],
)
def test_group_names(name: str, fault: str | None) -> None:
    """A log group's name is what CreateLogGroup takes."""
    assert names.group_fault(name) == fault


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("gpu-endpoints", None),
        ("kubernetes pods/größe", None),
        ("two\nlines", None),
        ("s" * 512, None),
        ("s" * 513, "has 513 characters, 512 are allowed"),
        ("", "is empty"),
        ("node:9400", "holds a colon or an asterisk"),
        ("all*", "holds a colon or an asterisk"),
    ],
)
def test_stream_names(name: str, fault: str | None) -> None:
    """A log stream's name is anything but colons and asterisks."""
    assert names.stream_fault(name) == fault


def test_retention_is_one_of_the_days_of_the_api() -> None:
    """The allowed days rise from a day to ten years, without doubles."""
    assert list(names.RETENTION_DAYS) == sorted(set(names.RETENTION_DAYS))
    assert {1, 14, 365, 1096, 3653} <= set(names.RETENTION_DAYS)
    assert len(names.RETENTION_DAYS) == 22
