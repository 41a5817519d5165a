"""The real clocks."""

import time

from cwgpu.agent.clock import Clock


def test_the_time_in_which_the_machine_slept_counts() -> None:
    """Since the machine began no less has passed than the time in which it was awake."""
    assert 0 < time.monotonic() <= Clock().boottime()
