"""Inputs of explain that do not end."""

import io
from collections.abc import Callable
from pathlib import Path
from typing import IO

import pytest

from cwgpu.cli.explain import bound
from cwgpu.model.errors import UsageError


def _lines(file: IO[bytes], flag: str) -> list[bytes]:
    return list(bound.lines(file, flag))


@pytest.mark.parametrize("read", [bound.whole, _lines], ids=["whole", "lines"])
def test_what_does_not_end_is_refused(read: Callable[[IO[bytes], str], object]) -> None:
    """The flag is named, and what to give instead."""
    with Path("/dev/zero").open("rb") as endless, pytest.raises(UsageError, match="64 MiB") as told:
        read(endless, "--page zero")
    assert "--page zero" in str(told.value)


def test_what_ends_is_read_to_its_end() -> None:
    """Whole or line by line, up to the bound itself."""
    assert bound.whole(io.BytesIO(b"a\nb"), "--page") == b"a\nb"
    assert _lines(io.BytesIO(b"a\nb"), "--labels") == [b"a\n", b"b"]
