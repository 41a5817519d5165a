"""The labels of a sample and of its target become one set."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cwgpu.prom.merge import merge

_LABELS = st.dictionaries(
    st.sampled_from(["a", "b", "é", "pod", "exported_a", "exported_b", "exported_exported_a"]),
    st.sampled_from(["", "1", "2", "x"]),
)


@pytest.mark.parametrize(
    ("exposed", "target", "merged"),
    [
        ({"gpu": "0"}, {"job": "j"}, {"gpu": "0", "job": "j"}),
        ({"pod": "w"}, {"pod": "t"}, {"pod": "t", "exported_pod": "w"}),
        ({"pod": "t"}, {"pod": "t"}, {"pod": "t", "exported_pod": "t"}),
        ({"pod": ""}, {"pod": "t"}, {"pod": "t"}),
        ({"pod": "w"}, {"pod": ""}, {"pod": "w"}),
        ({"a": ""}, {}, {}),
        (
            {"a": "1", "exported_a": "2"},
            {"a": "t"},
            {"a": "t", "exported_a": "2", "exported_exported_a": "1"},
        ),
        (
            # The shorter name chooses first.
            {"a": "1", "exported_a": "2"},
            {"exported_a": "u", "a": "t"},
            {
                "a": "t",
                "exported_a": "u",
                "exported_exported_a": "1",
                "exported_exported_exported_a": "2",
            },
        ),
    ],
)
def test_target_labels_win(
    exposed: dict[str, str], target: dict[str, str], merged: dict[str, str]
) -> None:
    """Without honor_labels the target's label wins and the page's moves to exported_<name>."""
    assert merge(exposed, target, honor=False) == merged


@pytest.mark.parametrize(
    ("exposed", "target", "merged"),
    [
        ({"pod": "w"}, {"pod": "t", "job": "j"}, {"pod": "w", "job": "j"}),
        ({"pod": ""}, {"pod": "t", "job": "j"}, {"job": "j"}),
        ({}, {"pod": "t", "none": ""}, {"pod": "t"}),
    ],
)
def test_honoured_labels_win(
    exposed: dict[str, str], target: dict[str, str], merged: dict[str, str]
) -> None:
    """With honor_labels the page's label wins; an empty one removes the target's (idle GPUs)."""
    assert merge(exposed, target, honor=True) == merged


@given(_LABELS, _LABELS)
def test_no_exposed_value_is_lost(exposed: dict[str, str], target: dict[str, str]) -> None:
    """Every non-empty exposed value is kept or moved, every target label is set, none is empty."""
    before = (dict(exposed), dict(target))
    merged = merge(exposed, target, honor=False)
    for name, value in target.items():
        assert not value or merged[name] == value
    homes: set[str] = set()
    for name, value in exposed.items():
        if value:
            home = name
            if target.get(name):
                home = next(
                    other
                    for other in (f"{'exported_' * depth}{name}" for depth in range(1, 20))
                    if merged.get(other) == value and other not in homes
                )
            homes.add(home)
            assert merged[home] == value
    kept = {name for name, value in target.items() if value} | {n for n, v in exposed.items() if v}
    assert len(merged) == len(kept) + sum(
        1 for name, value in exposed.items() if value and target.get(name)
    )
    assert all(merged.values())
    assert (exposed, target) == before


@given(_LABELS, _LABELS)
def test_honouring_keeps_every_exposed_label(
    exposed: dict[str, str], target: dict[str, str]
) -> None:
    """With honor_labels nothing moves: names come from either side and none is empty."""
    merged = merge(exposed, target, honor=True)
    assert set(merged) <= set(exposed) | set(target)
    assert all(merged[name] == value for name, value in exposed.items() if value)
    assert all(merged.values())
