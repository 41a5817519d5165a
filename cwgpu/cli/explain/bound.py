"""Files and pipes that are handed to explain, and no more of them than can be looked at."""

from collections.abc import Iterator
from typing import IO

from cwgpu.model.errors import UsageError

LARGEST_BYTES = 64 << 20
"""As much as a scrape reads where body_size_limit says nothing."""


def whole(file: IO[bytes], flag: str) -> bytes:
    """Read all of it; UsageError when that does not end in time."""
    data = file.read(LARGEST_BYTES + 1)
    if len(data) > LARGEST_BYTES:
        raise _too_large(flag)
    return data


def lines(file: IO[bytes], flag: str) -> Iterator[bytes]:
    """Read line by line; UsageError for a line that does not end in time."""
    while line := file.readline(LARGEST_BYTES + 1):
        if len(line) > LARGEST_BYTES:
            raise _too_large(flag)
        yield line


def _too_large(flag: str) -> UsageError:
    most = f"{LARGEST_BYTES >> 20} MiB"
    return UsageError(f"{flag} is longer than {most}: give a part of it, or a file that ends")
