"""When calls may go to a service that may be down, for all who call it together.

After a few failures in a row one call at a time goes, as a probe; its outcome speaks for all the
others (https://learn.microsoft.com/azure/architecture/patterns/circuit-breaker). A service that
comes back is not met by everything that waited, and one that is away costs a call a minute.

Calls that were out when it opened are probes that have begun already: nobody begins another before
they end. So nothing has to be known of which call it is that ends, and it does not matter in which
order they do.
"""

import math

OPENS_AFTER = 3
"""Failures in a row. One or two are everyday: a connection that was closed while it was idle, a
server that is being replaced."""


class Breaker:
    """What is known from the calls of one account and region.

    Who was told by ``wait_s`` that a call may go says ``begin`` before anybody else can ask. Every
    ``begin`` is followed by one of ``succeeded``, ``failed`` and ``abandoned``. ``now_s`` is read
    from a clock that only goes forward.
    """

    def __init__(self) -> None:
        """Start closed: the service is taken to be well."""
        self.failures = 0
        """In a row. When it is open, those of probes only: many calls that meet one outage are no
        reason to wait longer for its end."""
        self._out = 0
        self._probing = False
        self._next_s = -math.inf

    @property
    def open(self) -> bool:
        """Whether only one call at a time may go."""
        return self.failures >= OPENS_AFTER

    def wait_s(self, now_s: float) -> float:
        """Give how long to wait before asking again; 0: a call may go now.

        Infinity: until the call that is out has ended, however it does.
        """
        if not self.open:
            return 0.0
        return math.inf if self._out else max(0.0, self._next_s - now_s)

    def begin(self) -> None:
        """Take in that a call goes out."""
        self._out += 1
        self._probing = self.open

    def succeeded(self) -> None:
        """Take in that the service is well, though it may have refused this very call."""
        self._out -= 1
        self.failures = 0
        self._next_s = -math.inf

    def failed(self, now_s: float, wait_s: float) -> None:
        """Take in a failure that others would meet, too; the next probe waits so long at least."""
        self._out -= 1
        if self._probing or not self.open:
            self.failures += 1
        self._next_s = max(self._next_s, now_s + wait_s)

    def abandoned(self) -> None:
        """Take in that a call was ended by us: nothing was learned, and another may go."""
        self._out -= 1
