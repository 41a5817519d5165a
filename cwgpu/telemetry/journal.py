"""The journal: what the program did, one event a line, to stderr.

Events have stable names in snake_case and fields; there is no prose to parse. The standard
library's logging carries them, so that the lines of other libraries come out in the same form.
"""

import contextlib
import logging
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import TextIO

from cwgpu.model import errors
from cwgpu.telemetry import lines
from cwgpu.telemetry.lines import Style
from cwgpu.telemetry.repeats import Repeats

_LEVELS = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "warning": logging.WARNING,
    "error": logging.ERROR,
}
# Loggers below this one are ours; all others are heard from a warning upwards.
_OURS = "cwgpu"


def event(
    logger: logging.Logger,
    level: int,
    name: str,
    /,
    *,
    exc_info: BaseException | None = None,
    **fields: object,
) -> None:
    """Write down an event; ``exc_info`` adds the traceback of a bug."""
    if logger.isEnabledFor(level):
        # No arguments: a "%" in a name is no format.
        logger.log(level, name, exc_info=exc_info, extra={lines.EVENT: name, lines.FIELDS: fields})


class Journal(logging.Handler):
    """Takes the process's log records from ``open`` to ``close``."""

    def __init__(
        self, style: Style, monotonic: Callable[[], float], stream: TextIO | None = None
    ) -> None:
        """``monotonic`` gives seconds; without a stream it is stderr."""
        super().__init__()
        self._style = style
        self._stream = stream or sys.stderr
        self._repeats = Repeats(monotonic)
        self._former: list[tuple[logging.Logger, int]] = []
        self._others: list[logging.Handler] = []

    def open(self, level: str) -> None:
        """Take over the root logger. ``level`` is the least severe of our events to write."""
        if level not in _LEVELS:
            known = ", ".join(_LEVELS)
            raise errors.UsageError(f"log level {level!r} is not known: write one of {known}")
        root, ours = logging.getLogger(), logging.getLogger(_OURS)
        self._former = [(logger, logger.level) for logger in (root, ours)]
        self._others = root.handlers[:]
        root.handlers[:] = [self]
        root.setLevel(max(logging.WARNING, _LEVELS[level]))
        ours.setLevel(_LEVELS[level])
        logging.captureWarnings(capture=True)

    def tick(self) -> None:
        """Write counts of repeated lines that are due. To be called every few seconds."""
        with self._locked():
            self._write(self._repeats.over())

    def settle(self) -> None:
        """Write every count that is held, so that what is said next is the last line."""
        with self._locked():
            self._write(self._repeats.all())

    def close(self) -> None:
        """Write every count that is held and leave logging as it was found."""
        self.settle()
        if self._former:
            logging.captureWarnings(capture=False)
            logging.getLogger().handlers[:] = self._others
            for logger, level in self._former:
                logger.setLevel(level)
            self._former = []
        super().close()

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record, or count it as one that was written before."""
        try:
            self._write(self._repeats.take(record))
        except Exception:  # noqa: BLE001 - a value that cannot be written must not stop its writer
            self.handleError(record)

    def _write(self, records: Iterable[logging.LogRecord]) -> None:
        # A journal that cannot be written (its reader is gone, the disk is full) stops nothing.
        with contextlib.suppress(OSError, ValueError):
            for record in records:
                self._stream.write(lines.render(record, self._style) + "\n")
            self._stream.flush()

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        self.acquire()
        try:
            yield
        finally:
            self.release()
