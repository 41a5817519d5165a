"""Whose target it is."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cwgpu.pace import shard
from cwgpu.prom import relabel


@given(st.text(min_size=1), st.integers(1, 50))
def test_a_rule_with_hashmod_chooses_the_same_targets(address: str, count: int) -> None:
    """Who sharded by relabelling before loses and doubles nothing."""
    rule = relabel.rule(
        action="hashmod", source_labels=("__address__",), modulus=count, target_label="owner"
    )
    labels = relabel.apply({"__address__": address}, (rule,))
    assert isinstance(labels, dict)
    assert labels["owner"] == str(shard.owner(address, count))


def test_shares_are_about_equal() -> None:
    """1,000 nodes over four agents."""
    owners = Counter(shard.owner(f"10.0.{n // 250}.{n % 250}:9400", 4) for n in range(1000))
    assert sorted(owners) == [0, 1, 2, 3]
    assert all(200 < share < 300 for share in owners.values())


@pytest.mark.parametrize(
    ("name", "expected"),
    [("cwgpu-0", 0), ("cwgpu-shard-12", 12), ("cwgpu", None), ("cwgpu-", None), ("a-x1", None)],
)
def test_the_ordinal_is_the_number_at_the_end_of_a_name(name: str, expected: int | None) -> None:
    """Names that a StatefulSet did not give have none."""
    assert shard.ordinal(name) == expected
