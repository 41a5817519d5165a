"""A stream of bytes, cut into lines of any length.

Each event of a watch is a line, and an object may have megabytes: etcd takes 1.5 MiB
(--max-request-bytes), and JSON writes some of it larger. Pieces of a line are kept apart until its
end is there, so that a long line costs what its length is and not the square of it.
"""

# Far beyond any object: what has no line break by then is no watch.
LONGEST_BYTES = 64 << 20


class Lines:
    """The line that is not complete yet."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._held_bytes = 0
        self.complete = 0
        """How many lines were given."""

    def feed(self, chunk: bytes) -> list[bytes]:
        """Take what has come and give the lines that are complete; raises ValueError."""
        before, found, rest = chunk.rpartition(b"\n")
        if not found:
            self._hold(rest)
            return []
        whole = b"".join((*self._pieces, before))
        self._pieces.clear()
        self._held_bytes = 0
        self._hold(rest)
        lines = [line for line in whole.split(b"\n") if line and not line.isspace()]
        self.complete += len(lines)
        return lines

    def _hold(self, piece: bytes) -> None:
        if piece:
            self._pieces.append(piece)
            self._held_bytes += len(piece)
        if self._held_bytes > LONGEST_BYTES:
            raise ValueError(f"a line has more than {LONGEST_BYTES >> 20} MiB")
