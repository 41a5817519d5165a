"""Names of files."""

from hypothesis import given
from hypothesis import strategies as st

from cwgpu.spool import names


@given(st.lists(st.integers(0, 10**15 - 1), min_size=2))
def test_names_sort_by_time(times: list[int]) -> None:
    """Files sort as their times do, also of different starts."""
    given_names = [names.Names(f"{number:08x}").batch(at) for number, at in enumerate(times)]
    by_name = [int(name[:15]) for name in sorted(given_names)]
    assert by_name == sorted(times)


@given(st.lists(st.integers(-(2**70), 2**70)))
def test_names_do_not_come_twice(times: list[int]) -> None:
    """A clock that stands or jumps makes no name come again, and all are recognised."""
    source = names.Names("0a1b2c3d")
    batches = [source.batch(at) for at in times]
    segments = [source.segment(at) for at in times]
    assert len({*batches, *segments}) == 2 * len(times)
    assert all(names.BATCH.fullmatch(name) for name in batches)
    assert all(names.SEGMENT.fullmatch(name) for name in segments)


def test_two_starts_have_no_name_in_common() -> None:
    """The token makes the same moment two names."""
    assert names.Names("00000001").batch(7) != names.Names("00000002").batch(7)
    assert names.Names("00000001").commit() != names.Names("00000002").commit()
