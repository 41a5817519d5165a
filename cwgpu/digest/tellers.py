"""Targets that tell of the same GPU: who they are, and whose word counts.

Two exporters of a node, as an add-on's and the GPU operator's, tell of the same GPUs. Where the
plan prefers one, what both tell is taken of that one alone. What a page tells is known from its
shape, so all of this happens when a page is learnt; where it matters to other pages, they are
learnt anew.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from cwgpu.digest.derived import GPU_IDLE, XID_FATAL
from cwgpu.gpu import part
from cwgpu.model.labels import LabelPairs
from cwgpu.model.reading import Part, Told
from cwgpu.model.target import Identity
from cwgpu.plan.plan import Prefer

_FIELDS = ("DCGM_", XID_FATAL, GPU_IDLE)
"""How the names begin that are compared. Other programs, as inference servers, tell of a GPU too;
of those there may be as many as share it."""
_MOST = 8
"""Targets that are compared for a GPU: there are two or three. More are a page served many times,
and comparing all of them would take the square of their number."""
_MOST_KINDS = 4096
"""Sets of metrics that are shared between targets: there is one for each version and CSV file."""
_NONE: frozenset[str] = frozenset()


@dataclass(eq=False, slots=True)
class Teller:
    """One target, as far as the others have to do with it."""

    identity: Identity
    rank: int
    parts: dict[Part, tuple["Teller", ...]] = field(repr=False)
    """Who tells of each GPU: the same for all tellers."""
    told: Told = field(default_factory=dict)
    shares: dict["Teller", frozenset[str]] = field(default_factory=dict)
    """The GPUs of which another tells the same."""
    stale: bool = False
    """Whether something changed since its page was learnt that may decide otherwise."""

    def better(self, one: Part) -> frozenset[str]:
        """Give what those who are preferred to this one tell of a GPU."""
        others = [each for each in self.parts.get(one, ()) if each.rank < self.rank]
        return _NONE.union(*(each.told.get(one, _NONE) for each in others))


class Telling:
    """What one page tells, noted while it is learnt."""

    def __init__(self, teller: Teller) -> None:
        """Nothing yet."""
        self._teller = teller
        teller.stale = False  # what changes from now on may be too late for what is asked now
        self._told: dict[Part, set[str]] = {}

    def take(self, labels: LabelPairs, names: Iterable[str]) -> frozenset[str]:
        """Note metrics of a row with these labels; gives those of them that are not to be sent."""
        gpu = part.of(labels)
        if gpu is None:
            return _NONE
        told = {name for name in names if name.startswith(_FIELDS)}
        if told:
            self._told.setdefault(gpu, set()).update(told)
        return self._teller.better(gpu) & told

    def done(self) -> Told:
        """Give all that was noted; what is told of several GPUs is there once."""
        kinds: dict[frozenset[str], frozenset[str]] = {}
        frozen = {gpu: frozenset(names) for gpu, names in self._told.items()}
        return {gpu: kinds.setdefault(names, names) for gpu, names in frozen.items()}


class Share(NamedTuple):
    """Two targets that tell the same of some GPUs."""

    first: Identity
    """The preferred one, if one is."""
    second: Identity
    gpus: int
    """How many; 0: none any more."""
    decided: bool
    """Whether one of them is preferred."""


class Tellers:
    """All targets that tell of GPUs, over all reloads."""

    def __init__(self) -> None:
        """Begin with none, and prefer none."""
        self._prefer = Prefer()
        self._tellers: dict[Identity, Teller] = {}
        self._parts: dict[Part, tuple[Teller, ...]] = {}
        self._kinds: dict[frozenset[str], frozenset[str]] = {}

    def follow(self, prefer: Prefer) -> list[Share]:
        """Prefer others from now on, as all pages are learnt anew; gives all shares again."""
        self._prefer = prefer
        for one in self._tellers.values():
            one.rank = self._rank(one.identity)
        return [_between(one, other) for one in self._tellers.values() for other in one.shares]

    def of(self, identity: Identity) -> Teller:
        """Give a target, which need not be known yet."""
        one = self._tellers.get(identity)
        if one is None:
            one = Teller(identity, self._rank(identity), self._parts)
            self._tellers[identity] = one
        return one

    @property
    def twice(self) -> int:
        """How many GPUs there are of which several targets tell, none of them preferred."""
        found: set[str] = set()
        for one in self._tellers.values():
            found.update(*(gpus for other, gpus in one.shares.items() if other.rank == one.rank))
        return len(found)

    def take(self, identity: Identity, told: Told) -> list[Share]:
        """Take what a target's page tells now; gives what is otherwise with others since."""
        one = self._tellers.get(identity)
        if one is None or one.told == told:
            return []
        former = one.told
        one.told = {gpu: self._share(names) for gpu, names in told.items()}
        for gpu in former.keys() | told.keys():
            if former.get(gpu) != told.get(gpu):
                self._enter(one, gpu)
        return self._compare(one)

    def forget(self, *identities: Identity) -> list[Share]:
        """Forget what targets told; their pages are learnt anew when they come again."""
        found = []
        for identity in identities:
            found += self.take(identity, {})
            self.of(identity).stale = True
        return found

    def keep(self, wanted: Collection[Identity]) -> list[Share]:
        """Forget all targets but these."""
        gone = [identity for identity in self._tellers if identity not in wanted]
        found = self.forget(*gone)
        for identity in gone:
            del self._tellers[identity]
        return found

    def silence(self) -> None:
        """Forget what all of them told."""
        self.forget(*self._tellers)

    def _rank(self, identity: Identity) -> int:
        job, _, labels = identity
        by, order = self._prefer.by, self._prefer.order
        value = job if by == "job" else dict(labels).get(by)
        return order.index(value) if value in order else len(order)

    def _share(self, names: frozenset[str]) -> frozenset[str]:
        # All exporters of one version tell the same: one set for all of their GPUs.
        if len(self._kinds) >= _MOST_KINDS:
            self._kinds.clear()
        return self._kinds.setdefault(names, names)

    def _enter(self, one: Teller, gpu: Part) -> None:
        """Note whether it tells of a GPU, and have those learnt anew who have to do with that."""
        others = tuple(each for each in self._parts.get(gpu, ()) if each is not one)
        for each in others:
            each.stale = each.stale or each.rank > one.rank
        tells = gpu in one.told and len(others) < _MOST
        found = (*others, one) if tells else others
        if found:
            self._parts[gpu] = found
        else:
            self._parts.pop(gpu, None)

    def _compare(self, one: Teller) -> list[Share]:
        """Note with whom it shares GPUs now; gives those with whom it does, or did."""
        found: dict[Teller, set[str]] = {}
        for gpu, names in one.told.items():
            tellers = self._parts.get(gpu, ())
            for other in tellers if one in tellers else ():
                if other is not one and not names.isdisjoint(other.told[gpu]):
                    found.setdefault(other, set()).add(gpu[0])
        for other in one.shares:
            del other.shares[one]
        changed = [*one.shares, *found]
        one.shares = {other: frozenset(gpus) for other, gpus in found.items()}
        for other, gpus in one.shares.items():
            other.shares[one] = gpus
        return [_between(one, other) for other in dict.fromkeys(changed)]


def _between(one: Teller, other: Teller) -> Share:
    first, second = sorted((one, other), key=lambda each: (each.rank, each.identity))
    gpus = len(first.shares.get(second, ()))
    return Share(first.identity, second.identity, gpus, first.rank != second.rank)
