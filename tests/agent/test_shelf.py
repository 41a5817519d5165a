"""What the shelf says of what it holds is what a list would say, only faster."""

import gc
from dataclasses import dataclass, field

from hypothesis import given, settings
from hypothesis import strategies as st

from cwgpu.agent.shelf import Held, Shelf
from cwgpu.model.event import Parcel, Waybill
from cwgpu.spool.found import Slip
from tests.agent.stage import START_MS, A


def waybill(events: int = 1) -> Waybill:
    """Make the waybill of so many events that are alike."""
    return Waybill(A, START_MS, START_MS, ((events, 1, 2),), 10)


def held(born_s: float, size: int = 10) -> Held:
    """Make a batch in memory whose body has this size."""
    return Held(waybill(), born_s, Parcel(waybill(), bytes(size)))


def slip(size: int) -> Slip:
    """Make what says that a batch lies on the disk."""
    return Slip("", waybill(), size)


@dataclass
class Model:
    """A shelf, and a list beside it."""

    shelf: Shelf = field(default_factory=Shelf)
    every: list[Held] = field(default_factory=list)

    def oldest_first(self) -> list[Held]:
        """Sort, keeping what came first first."""
        return sorted(self.every, key=lambda each: each.born_s)

    def check(self) -> None:
        """Compare."""
        memory = [each for each in self.every if each.slip is None]
        disk = [each for each in self.every if each.slip is not None]
        assert set(self.shelf.memory) == set(memory)
        assert set(self.shelf.disk) == set(disk)
        assert self.shelf.memory_bytes == sum(each.size_bytes for each in memory)
        assert self.shelf.disk_bytes == sum(each.size_bytes for each in disk)
        assert self.shelf.size_bytes == sum(each.size_bytes for each in self.every)
        assert len(self.shelf) == len(self.every)
        assert all(each in self.shelf for each in self.every)
        assert self.shelf.oldest() is next(iter(self.oldest_first()), None)


ACTS = st.tuples(
    st.sampled_from(["add", "spooled", "remove", "move", "busy", "drop", "crowd"]),
    st.integers(0, 9),
    st.integers(0, 5),
)


@settings(max_examples=200, deadline=None)
@given(acts=st.lists(ACTS, max_size=60))
def test_it_is_as_good_as_a_list(acts: list[tuple[str, int, int]]) -> None:
    """Bytes, the oldest, and those that can be dropped, whatever came and went before."""
    model = Model()
    for act, number, other in acts:
        some = model.every[number : number + 1]
        if act == "add":
            model.every.append(model.shelf.add(held(other, size=number)))
        elif act == "spooled":
            new = Held(waybill(), other, slip=slip(4096 * number))
            model.every.append(model.shelf.add(new))
        elif act in {"drop", "crowd"}:
            _drop(model, most=other, memory=act == "crowd")
        for each in some:
            if act == "remove":
                model.shelf.remove(each)
                model.every.remove(each)
            elif act == "move" and each.slip is None:
                model.shelf.moved(each, slip(4096))
            elif act == "busy":
                each.busy, each.moving = bool(other & 1), bool(other & 2)
        model.check()


def _drop(model: Model, most: int, *, memory: bool) -> None:
    """Drop the oldest until there are no more than so many that can be dropped."""
    free = [
        each
        for each in model.oldest_first()
        if not each.busy and not each.moving and (not memory or each.slip is None)
    ]
    expected = free[: max(0, len(free) - most)]
    dropped: list[Held] = []
    for each in model.shelf.idle(memory=memory):
        if len(dropped) == len(expected):
            assert each is free[len(expected)]
            break
        model.shelf.remove(each)
        model.every.remove(each)
        dropped.append(each)
    assert dropped == expected


def test_what_is_not_held_can_be_removed() -> None:
    """Two may decide on a batch; the second one finds it gone."""
    shelf = Shelf()
    batch = shelf.add(held(1.0))
    shelf.remove(batch)
    shelf.remove(batch)
    assert (len(shelf), shelf.size_bytes, shelf.oldest()) == (0, 0, None)


def test_one_that_stays_keeps_no_others() -> None:
    """A stream that is refused for a day must not hold in memory what others delivered."""
    shelf = Shelf()
    first = shelf.add(held(0.0))
    for number in range(1000):
        shelf.remove(shelf.add(held(1.0 + number)))
    assert sum(isinstance(each, Held) for each in gc.get_objects()) < 100
    assert shelf.oldest() is first


def test_a_batch_takes_more_than_its_body() -> None:
    """Ten thousand events that all differ have a waybill that is not small."""
    runs = tuple((1, number, 0) for number in range(10_000))
    bill = Waybill(A, START_MS, START_MS, runs, 10)
    assert Held(bill, 0.0, Parcel(bill, b"body")).size_bytes > 500_000
    assert Held(bill, 0.0, slip=Slip("", bill, 4096)).size_bytes == 4096
