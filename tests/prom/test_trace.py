"""Relabelling told rule after rule, held against relabelling done at once."""

import json
from pathlib import Path
from typing import Any

import pytest

from cwgpu.prom import relabel, trace
from cwgpu.prom.trace import Step

_DATA = Path(__file__).parents[1] / "data" / "relabel.jsonl"
_ROWS: list[dict[str, Any]] = [json.loads(line) for line in _DATA.read_text("utf-8").splitlines()]
_LABELS = {"a": "1", "b": "2", "app": "x", "none": ""}


def _rule(config: dict[str, Any]) -> relabel.Rule:
    texts = {
        key: "" if value is None else value if isinstance(value, str) else json.dumps(value)
        for key, value in config.items()
        if key not in {"source_labels", "modulus"}
    }
    return relabel.rule(
        source_labels=config.get("source_labels"), modulus=config.get("modulus", 0), **texts
    )


def _step(**keys: Any) -> Step:  # noqa: ANN401 - the keys of a rule
    [step] = trace.trace(_LABELS, [relabel.rule(**keys)]).steps
    return step


@pytest.mark.parametrize("row", _ROWS, ids=lambda row: row["id"])
def test_a_trace_ends_as_relabelling_does(row: dict[str, Any]) -> None:
    """Result and dropping rule are those of all rules at once, and each step takes up the last."""
    rules = [_rule(config) for config in row["relabel_configs"]]
    traced = trace.trace(row["labels_in"], rules)
    assert traced.result == relabel.apply(row["labels_in"], rules)
    current: Any = row["labels_in"]
    for index, step in enumerate(traced.steps):
        assert (step.index, step.rule, step.before) == (index, rules[index], current)
        current = step.after
    dropped = isinstance(traced.result, relabel.Dropped)
    assert current == (None if dropped else traced.result)
    assert dropped or len(traced.steps) == len(rules)


def test_what_runs_after_a_drop() -> None:
    """Nothing: the rule that dropped is the last step, and known by its index."""
    rules = [
        relabel.rule(target_label="c", replacement="3"),
        relabel.rule(action="keep", source_labels=["a"], regex="x"),
        relabel.rule(target_label="d"),
    ]
    traced = trace.trace(_LABELS, rules)
    assert [step.index for step in traced.steps] == [0, 1]
    assert traced.result == relabel.Dropped(1, rules[1], "1")
    assert traced.steps[1].before == {"a": "1", "b": "2", "app": "x", "c": "3"}
    assert traced.steps[1].changed == {}


@pytest.mark.parametrize(
    ("keys", "looked"),
    [
        ({"source_labels": ["a", "b"], "target_label": "c"}, ("1;2", None, "(.*)", True)),
        ({"source_labels": ["z"], "target_label": "c", "regex": ".+"}, ("", None, ".+", False)),
        ({"action": "keep", "source_labels": ["a"], "regex": "2"}, ("1", None, "2", False)),
        ({"action": "drop", "source_labels": ["a"], "regex": "1"}, ("1", None, "1", True)),
        (
            {"action": "keepequal", "source_labels": ["a"], "target_label": "b"},
            ("1", "2", None, False),
        ),
        (
            {"action": "dropequal", "source_labels": ["y"], "target_label": "z"},
            ("", "", None, True),
        ),
        (
            {"action": "hashmod", "source_labels": ["a"], "target_label": "c", "modulus": 2},
            ("1", None, None, None),
        ),
        (
            {"action": "uppercase", "source_labels": ["app"], "target_label": "c"},
            ("x", None, None, None),
        ),
        ({"action": "labelmap", "regex": "ap(p)"}, (None, None, "ap(p)", True)),
        ({"action": "labeldrop", "regex": "z"}, (None, None, "z", False)),
        ({"action": "labelkeep", "regex": "none"}, (None, None, "none", False)),
    ],
)
def test_what_a_rule_looked_at(keys: dict[str, Any], looked: tuple[object, ...]) -> None:
    """Each action tells what it compared, with what, its regex, and whether that matched."""
    step = _step(**keys)
    assert (step.value, step.other, step.regex, step.matched) == looked


def test_changes_name_old_and_new() -> None:
    """A label that came, one that went and one that is another; what stayed is left out."""
    labels = {"a": "1", "b": "2", "c": "3", "xd": "4"}
    [step] = trace.trace(labels, [relabel.rule(action="labelmap", regex="x(d)|b()")]).steps
    assert step.changed == {"": (None, "2"), "d": (None, "4")}
    [step] = trace.trace(labels, [relabel.rule(action="labeldrop", regex="[ab]")]).steps
    assert step.changed == {"a": ("1", None), "b": ("2", None)}
    assert step.names == ("a", "b")
    [step] = trace.trace(labels, [relabel.rule(target_label="a", replacement="9")]).steps
    assert step.changed == {"a": ("1", "9")}
    assert step.names == ()


def test_no_rules() -> None:
    """Labels stay as they are, but for those without a value, which are none."""
    assert trace.trace(_LABELS, ()) == trace.Trace((), {"a": "1", "b": "2", "app": "x"})
