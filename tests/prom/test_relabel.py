"""The eleven actions, held against the answers of Prometheus 3.0.1 (data/relabel.jsonl)."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cwgpu.prom import relabel

_DATA = Path(__file__).parents[1] / "data" / "relabel.jsonl"
_ROWS: list[dict[str, Any]] = [json.loads(line) for line in _DATA.read_text("utf-8").splitlines()]


def _rule(config: dict[str, Any]) -> relabel.Rule:
    """Make a rule of JSON keys; scalars are taken as they are written, null is an empty text."""
    texts = {
        key: "" if value is None else value if isinstance(value, str) else json.dumps(value)
        for key, value in config.items()
        if key not in {"source_labels", "modulus"}
    }
    return relabel.rule(
        source_labels=config.get("source_labels"), modulus=config.get("modulus", 0), **texts
    )


@pytest.mark.parametrize("row", _ROWS, ids=lambda row: row["id"])
def test_labels_are_those_of_prometheus(row: dict[str, Any]) -> None:
    """Every label after the rules, hidden ones too, equals Prometheus' answer; null: dropped."""
    rules = [_rule(config) for config in row["relabel_configs"]]
    outcome = relabel.apply(row["labels_in"], rules)
    assert (None if isinstance(outcome, relabel.Dropped) else outcome) == row["relabeled"]


def test_every_action_is_covered_by_an_answer() -> None:
    """The recorded answers leave out no action."""
    seen = {_rule(config).action for row in _ROWS for config in row["relabel_configs"]}
    assert seen == set(relabel.Action)


@pytest.mark.parametrize(
    ("keys", "labels", "outcome"),
    [
        (
            # Of two sources of one name, the last in order of name wins.
            {"action": "labelmap", "regex": "(.)._", "replacement": "${1}"},
            {"ab_": "2", "aa_": "1", "ac_": "3"},
            {"ab_": "2", "aa_": "1", "ac_": "3", "a": "3"},
        ),
        (
            # The anchors are undone, so only parts of the name are replaced.
            {"action": "labelmap", "regex": "a)|(b", "replacement": "x"},
            {"ab": "1", "ba": "2"},
            {"ab": "1", "ba": "2", "xx": "1"},
        ),
        (
            {"action": "labelmap", "regex": "foo(.*)", "replacement": "$1"},
            {"foo": "1", "none": ""},
            {"foo": "1", "": "1"},
        ),
        (
            {"regex": "x(.*)", "source_labels": ["a"], "target_label": "$1"},
            {"a": "x", "b": "1"},
            {"a": "x", "b": "1"},
        ),
        ({"action": "labelkeep", "regex": "a"}, {"a": "", "b": "1"}, {}),
        (
            {
                "action": "hashmod",
                "source_labels": ["a"],
                "modulus": 2**64 - 1,
                "target_label": "b",
            },
            {"a": "é"},
            {"a": "é", "b": "17796970744824711023"},
        ),
    ],
)
def test_corners(keys: dict[str, Any], labels: dict[str, str], outcome: dict[str, str]) -> None:
    """Corners that the recorded answers leave out, as Prometheus 3.0.1 has them."""
    assert relabel.apply(labels, [_rule(keys)]) == outcome


@pytest.mark.parametrize(
    ("keys", "sentence"),
    [
        (
            {"action": "keep", "source_labels": ["a", "b"], "regex": "x.*"},
            'rule 2 (keep): "1;2" (of a, b) does not match the regex x.*',
        ),
        (
            {"action": "drop", "source_labels": ["a"], "regex": "1"},
            'rule 2 (drop): "1" (of a) matches the regex 1',
        ),
        ({"action": "drop"}, 'rule 2 (drop): "" matches the regex (.*)'),
        (
            {"action": "keepequal", "source_labels": ["a"], "target_label": "b"},
            'rule 2 (keepequal): "1" (of a) differs from "2" (of b)',
        ),
        (
            {"action": "dropequal", "source_labels": ["b"], "target_label": "b"},
            'rule 2 (dropequal): "2" (of b) equals "2" (of b)',
        ),
    ],
)
def test_a_drop_is_explained(keys: dict[str, Any], sentence: str) -> None:
    """What was dropped says by which rule, counted from 1, and by which value."""
    rules = [
        _rule({"target_label": "b", "replacement": "2"}),
        _rule(keys),
        _rule({"action": "keep"}),
    ]
    dropped = relabel.apply({"a": "1"}, rules)
    assert isinstance(dropped, relabel.Dropped)
    assert dropped.rule is rules[1]
    assert dropped.rule_index == 1
    assert relabel.sentence(dropped) == sentence


_NAMES = st.sampled_from(["a", "b", "ab", "__meta_x", "é"])
_SETS = st.dictionaries(_NAMES, st.sampled_from(["", "1", "xy", "a", "É"]))
_RULES = st.builds(
    _rule,
    st.one_of(
        st.fixed_dictionaries(
            {
                "action": st.sampled_from(["replace", "lowercase", "uppercase"]),
                "source_labels": st.lists(_NAMES, max_size=2),
                "target_label": _NAMES,
            }
        ),
        st.fixed_dictionaries(
            {
                "action": st.sampled_from(["keepequal", "dropequal"]),
                "source_labels": st.lists(_NAMES, max_size=2),
                "target_label": _NAMES,
            }
        ),
        st.fixed_dictionaries(
            {
                "action": st.sampled_from(["keep", "drop"]),
                "source_labels": st.lists(_NAMES, max_size=2),
                "regex": st.sampled_from(["(.*)", "a", "x.*|1", "(?i)é"]),
            }
        ),
        st.fixed_dictionaries(
            {
                "action": st.sampled_from(["labelmap", "labeldrop", "labelkeep"]),
                "regex": st.sampled_from(["a(.*)", "b", "__meta_(.+)", "a|é", "[ab]+"]),
            }
        ),
    ),
)


@settings(max_examples=200)
@given(_SETS, st.lists(_RULES, max_size=4))
def test_applying_is_pure(labels: dict[str, str], rules: list[relabel.Rule]) -> None:
    """The input stays as it was, and applying again gives the same; no label is ever empty."""
    before = dict(labels)
    outcome = relabel.apply(labels, rules)
    assert labels == before
    assert relabel.apply(labels, rules) == outcome
    if not isinstance(outcome, relabel.Dropped):
        assert all(outcome.values())
        assert outcome is not labels


@settings(max_examples=200)
@given(_SETS, st.lists(_RULES, max_size=4))
def test_steps_add_up(labels: dict[str, str], rules: list[relabel.Rule]) -> None:
    """Rule after rule gives what all rules give at once, and stops at the rule that dropped."""
    whole = relabel.apply(labels, rules)
    current: dict[str, str] | relabel.Dropped = {n: v for n, v in labels.items() if v}
    for index, rule in enumerate(rules):
        assert isinstance(current, dict)
        current = relabel.step(current, rule)
        if isinstance(current, relabel.Dropped):
            assert isinstance(whole, relabel.Dropped)
            assert (whole.rule_index, whole.value, whole.other) == (
                index,
                current.value,
                current.other,
            )
            return
    assert current == whole
