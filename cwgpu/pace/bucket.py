"""How fast a repeated act may go, with some of them at once after a rest: a token bucket.

Kept as the time at which the bucket is full again (the generic cell rate algorithm, ITU-T I.371): a
count of tokens would be a little short of one after any wait, as floats are, and again after the
next.
"""

import math


class Bucket:
    """Full at first; a token comes back every ``1 / rate_per_s`` seconds, up to ``burst``."""

    def __init__(self, rate_per_s: float, burst: int) -> None:
        """Both are more than 0."""
        self._each_s = 1 / rate_per_s
        self._burst = burst
        self._full_s = -math.inf

    def wait_s(self, now_s: float) -> float:
        """Give how long it takes until there is a token; 0: there is one."""
        # A clock that was set back would keep everybody waiting for a time that is long gone.
        self._full_s = min(self._full_s, now_s + self._burst * self._each_s)
        return max(0.0, self._full_s - (self._burst - 1) * self._each_s - now_s)

    def take(self, now_s: float) -> None:
        """Take a token; of an empty bucket, all that has dripped since."""
        self._full_s = max(self._full_s, now_s) + self._each_s
