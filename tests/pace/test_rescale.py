"""By how many shards the targets are divided, and who says so."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cwgpu.pace import rescale
from cwgpu.pace.election import Record, Write
from cwgpu.pace.rescale import Division


def lease(holder: str, transitions: int = 4) -> Record:
    """Have a lease."""
    return Record(holder, rescale.LASTS_S, "7", transitions)


@given(st.integers(1, 10**18))
def test_a_count_is_a_holder_and_back(count: int) -> None:
    """What is written can be read, by people too."""
    assert rescale.count(rescale.holder(count)) == count


@pytest.mark.parametrize(
    ("written", "count"),
    [
        ("1 shard", 1),
        ("4 shards", 4),
        ("", None),
        ("0 shards", None),
        ("04 shards", None),
        ("-4 shards", None),
        ("4", None),
        ("4 shards\n", None),
        ("4 shards or so", None),
        ("\N{ARABIC-INDIC DIGIT FOUR} shards", None),
        ("9" * 20 + " shards", None),
        ("cwgpu-7d4f_0a1b2c3d", None),
    ],
)
def test_what_is_no_count(written: str, count: int | None) -> None:
    """Only what shard 0 would have written is one."""
    assert rescale.count(written) == count


@pytest.mark.parametrize("index", [0, 1, 7])
def test_the_lease_counts_and_not_the_configuration(index: int) -> None:
    """Also for shard 0, until its write was accepted."""
    now, _ = Division(index, 3).observe(lease("2 shards"))
    assert now.in_force == 2


def test_shard_0_writes_what_it_is_told() -> None:
    """Over the version that it has read; what is there already is not written."""
    now, write = Division(0, 3).observe(lease("2 shards"))
    assert write == Write("7", 5, takes_over=True)
    now = now.written(lease("3 shards", 5))
    assert now.in_force == 3
    assert now.observe(lease("3 shards", 5)) == (now, None)


def test_shard_0_makes_a_lease() -> None:
    """Where there is none; until it is there no count is in force."""
    now, write = Division(0, 3).observe(None)
    assert write == Write(None, 0, takes_over=True)
    assert now.in_force is None
    assert now.written(lease("3 shards", 0)).in_force == 3


@given(st.integers(1, 9), st.integers(1, 9), st.none() | st.text(max_size=9))
def test_nobody_else_writes(index: int, configured: int, written: str | None) -> None:
    """Whatever the lease says, or if there is none."""
    record = None if written is None else lease(written)
    assert Division(index, configured).observe(record)[1] is None


@pytest.mark.parametrize("index", [0, 1])
@pytest.mark.parametrize("record", [None, lease("nonsense")], ids=["deleted", "nonsense"])
def test_what_was_in_force_stays(index: int, record: Record | None) -> None:
    """A lease that somebody deleted or spoiled changes nothing; shard 0 repairs it."""
    known = Division(index, 3, 3)
    now, write = known.observe(record)
    assert now == known
    assert (write is not None) == (index == 0)
