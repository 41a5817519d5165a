"""What a run begins with."""

import resource

from cwgpu.cli import start


def test_all_open_files_are_taken() -> None:
    """More targets than the usual soft limit has files can be connected to."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (before[1] - 1, before[1]))
        start.open_files()
        assert resource.getrlimit(resource.RLIMIT_NOFILE) == (before[1], before[1])
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
