"""The lines that a page remembers, by what stands before their values.

Most of a page's text are labels, which all metrics of a GPU repeat. A line holds them once for all
of them (``Line.rest``), and is found by the hash of the whole: a thousand targets' pages kept as
keys would be most of the agent's memory.
"""

from collections.abc import Callable, Iterator, Sequence

from cwgpu.digest.line import Line


def split(head: bytes) -> tuple[bytes, bytes]:
    """Give name and rest of what stands before a value."""
    cut = head.find(b"{")
    cut = cut if cut >= 0 else len(head)
    return head[:cut], head[cut:]


class Lines:
    """A dictionary of lines by ``Line.head``, which is held nowhere.

    It is made when somebody looks for a line: a page that keeps its shape asks for none.
    """

    def __init__(self) -> None:
        """Know nothing yet."""
        self._all: Sequence[Line] = ()
        self._by_hash: dict[int, Line] = {}
        """Empty, or all of them."""

    def __len__(self) -> int:
        return len(self._by_hash) or len(self._all)

    def __iter__(self) -> Iterator[Line]:
        return iter(self._by_hash.values() or self._all)

    def get(self, head: bytes) -> Line | None:
        """Give the line that begins like this, if it is known."""
        self._open()
        return self._by_hash.get(self._key(head))

    def put(self, line: Line) -> None:
        """Know this line; one with its head goes."""
        self._open()
        self._by_hash[self._key(line.head)] = line

    def keep(self, wanted: Callable[[Line], bool]) -> None:
        """Forget all other lines, and take as little memory as can be until the next look."""
        self._all = [line for line in self if wanted(line)]
        self._by_hash = {}

    def _open(self) -> None:
        lines, self._all = self._all, ()
        for line in lines:
            self._by_hash[self._key(line.head)] = line

    def _key(self, head: bytes) -> int:
        """Give the key that this line has, or would have: its hash, or the next one to be free."""
        key = hash(head)
        while (line := self._by_hash.get(key)) is not None and not _begins(line, head):
            key += 1
        return key


def _begins(line: Line, head: bytes) -> bool:
    text, rest = line.exposed.text, line.rest
    whole = len(text) + len(rest) == len(head)
    return whole and head.startswith(text) and head.endswith(rest)
