"""The complaints about one tree, collected while it is read and translated."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from cwgpu.config import secret
from cwgpu.config.complaint import Complaint, Level, at
from cwgpu.config.node import Loc, Node, short


@dataclass(slots=True)
class Report:
    """Turns locations in a tree into complaints with places."""

    root: Node
    complaints: list[Complaint] = field(default_factory=list)
    pruned: set[Loc] = field(default_factory=set)
    """What was refused and left out: nothing more is said about it, nor about its absence."""

    def error(self, loc: Loc, code: str, message: str, advice: str = "") -> None:
        """Complain that the configuration cannot be used."""
        self._add(Level.ERROR, loc, code, words=(message, advice))

    def warning(self, loc: Loc, code: str, message: str, advice: str = "") -> None:
        """Complain that something will not happen as it was meant."""
        self._add(Level.WARNING, loc, code, words=(message, advice))

    def note(self, loc: Loc, code: str, message: str, advice: str = "") -> None:
        """Say something that is good to know."""
        self._add(Level.NOTE, loc, code, words=(message, advice))

    def refuse(self, loc: Loc, code: str, message: str, advice: str = "") -> None:
        """Complain about a key itself, and say no more about it."""
        place = self.root.key_place(loc)
        message = self._discreet(loc, message)
        self.complaints.append(at(place, code, message, loc=loc, advice=advice))
        self.pruned.add(loc)

    def said(self, loc: Loc) -> bool:
        """Tell whether it was complained about already, or about something above it."""
        return any(loc[:length] in self.pruned for length in range(len(loc) + 1))

    def said_within(self, loc: Loc) -> bool:
        """Tell whether something inside it was refused: what is then missing may be just that."""
        return any(refused[: len(loc)] == loc for refused in self.pruned)

    def lacks(self, loc: Loc, keys: Iterable[str]) -> bool:
        """Tell whether something of one of these keys was refused, or a slip in its name."""
        return any(self.said_within((*loc, key)) for key in keys)

    def _add(self, level: Level, loc: Loc, code: str, *, words: tuple[str, str]) -> None:
        if self.said(loc):
            return
        place = self.root.value_place(loc)
        message, advice = self._discreet(loc, words[0]), words[1]
        self.complaints.append(at(place, code, message, level=level, loc=loc, advice=advice))

    def _discreet(self, loc: Loc, message: str) -> str:
        """Take the value that was found out of a sentence if it is a secret."""
        node = self.root.find(loc) if secret.private(loc) else None
        return message.replace(short(node.text), secret.STARS) if node and node.text else message
