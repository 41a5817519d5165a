"""A tree of what is written in a file, JSON or YAML alike, each part with its place."""

import enum
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from cwgpu.config import secret
from cwgpu.config.source import Place

Loc: TypeAlias = tuple[str | int, ...]
"""The way from the root to a node: keys and indexes."""


class Kind(enum.Enum):
    """What a node is, in the words that complaints use."""

    NULL = "nothing (null)"
    BOOL = "the bool"
    INT = "the number"
    FLOAT = "the fraction"
    STR = "the string"
    SEQUENCE = "a list"
    MAPPING = "an object"


@dataclass(frozen=True, slots=True)
class Member:
    """One key of a mapping, and what it holds."""

    name: str
    place: Place
    """Where the key is written."""
    value: "Node"


@dataclass(frozen=True, slots=True)
class Node:
    """A value. Which of the last fields means something depends on ``kind``."""

    kind: Kind
    place: Place
    text: str = ""
    """A scalar as it is written, quotes and escapes resolved."""
    style: str = ""
    """How a YAML scalar is written: "" plain, quotes, or the block indicators."""
    items: "tuple[Node, ...]" = ()
    members: tuple[Member, ...] = ()
    size: int = 1
    """Nodes in all, each alias counted as what it stands for."""
    height: int = 0
    """Levels below."""

    def member(self, name: str) -> Member | None:
        """Give the member of that name."""
        return next((each for each in self.members if each.name == name), None)

    def get(self, step: str | int) -> "Node | None":
        """Go one step down."""
        if isinstance(step, int):
            return self.items[step] if -1 < step < len(self.items) else None
        found = self.member(step)
        return found.value if found else None

    def find(self, loc: Loc) -> "Node | None":
        """Go down all the way."""
        here: Node | None = self
        for step in loc:
            here = here.get(step) if here else None
        return here

    def at(self, path: str) -> "Node | None":
        """Find a node by its printed path, such as ``scrape_configs[0].job_name``."""
        return self.find(loc(path))

    def key_place(self, loc: Loc) -> Place:
        """Give the place of the key that ``loc`` ends with; of the nearest node above if none."""
        for length in range(len(loc), 0, -1):
            above, step = self.find(loc[: length - 1]), loc[length - 1]
            if above is None:
                continue
            if isinstance(step, str) and (member := above.member(step)):
                return member.place
            below = above.get(step)
            return below.place if below else self._named(loc[: length - 1], above)
        return self.place

    def value_place(self, loc: Loc) -> Place:
        """Give the place of a scalar; of anything larger, the place of its key."""
        node = self.find(loc)
        if node is None or (node.kind in (Kind.MAPPING, Kind.SEQUENCE, Kind.NULL) and loc):
            return self.key_place(loc)
        return node.place

    def _named(self, loc: Loc, node: "Node") -> Place:
        return self.key_place(loc) if loc and isinstance(loc[-1], str) else node.place


def sequence(place: Place, items: tuple[Node, ...]) -> Node:
    """Make a list of its items."""
    size = 1 + sum(item.size for item in items)
    height = 1 + max((item.height for item in items), default=0)
    return Node(Kind.SEQUENCE, place, items=items, size=size, height=height)


def mapping(place: Place, members: tuple[Member, ...]) -> Node:
    """Make an object of its members."""
    size = 1 + sum(member.value.size for member in members)
    height = 1 + max((member.value.height for member in members), default=0)
    return Node(Kind.MAPPING, place, members=members, size=size, height=height)


def walk(node: Node, loc: Loc = ()) -> Iterator[tuple[Loc, Node]]:
    """Yield every node below (and this one first) with its location."""
    yield loc, node
    for index, item in enumerate(node.items):
        yield from walk(item, (*loc, index))
    for member in node.members:
        yield from walk(member.value, (*loc, member.name))


def same(one: Node, other: Node) -> bool:
    """Do both say the same, wherever they are written? The order of keys does not count."""
    if (one.kind, one.text, len(one.items)) != (other.kind, other.text, len(other.items)):
        return False
    if not all(map(same, one.items, other.items)):
        return False
    ours = {each.name: each.value for each in one.members}
    theirs = {each.name: each.value for each in other.members}
    return ours.keys() == theirs.keys() and all(same(ours[name], theirs[name]) for name in ours)


def describe(node: Node) -> str:
    """Name what was found, briefly: ``the string 'abc'``."""
    if node.kind in (Kind.NULL, Kind.SEQUENCE, Kind.MAPPING):
        return str(node.kind.value)
    return f"{node.kind.value} {short(node.text)}"


def short(text: str) -> str:
    """Quote a text for a sentence; a long one is cut, and users of URLs are not shown."""
    text = secret.without_users(text)
    # Enough to recognise a value by, in a line of 100 characters.
    limit = 60
    return repr(text) if len(text) <= limit else repr(f"{text[: limit - 3]}...")


_WORD = re.compile(r"[^.\[\]\"\s]+")
_STEP = re.compile(r'\.?([^.\[\]"\s]+)|\[(\d+)\]|\["([^"]*)"\]')


def path(loc: Loc) -> str:
    """Print a location: ``a.b[3].c``; a key with dots is quoted, ``a["b.c"]``."""
    text = ""
    for step in loc:
        if isinstance(step, int):
            text += f"[{step}]"
        elif _WORD.fullmatch(step):
            text += f".{step}" if text else step
        else:
            text += f'["{step}"]'
    return text


def loc(text: str) -> Loc:
    """Read a printed location; the inverse of ``path``."""
    return tuple(
        int(index) if index else word or quoted for word, index, quoted in _STEP.findall(text)
    )
