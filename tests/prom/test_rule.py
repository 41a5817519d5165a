"""Rules are accepted and refused as Prometheus 3.0.1 does when it loads them.

data/relabel_load.jsonl holds its answers. What only a reader of YAML can refuse (a rule that is
null, a list where a text belongs) is not in it.
"""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from cwgpu.model.errors import RuleError
from cwgpu.prom import relabel

_DATA = Path(__file__).parents[1] / "data" / "relabel_load.jsonl"
_ROWS: list[dict[str, Any]] = [json.loads(line) for line in _DATA.read_text("utf-8").splitlines()]


def _keys(config: dict[str, Any]) -> dict[str, Any]:
    """Give a rule's keys as a reader of the file hands them on: null is an empty text."""
    return {key: "" if value is None else value for key, value in config.items()}


@pytest.mark.parametrize("row", _ROWS, ids=lambda row: row["id"])
def test_loading_is_that_of_prometheus(row: dict[str, Any]) -> None:
    """A rule loads if and only if it loads in Prometheus 3.0.1."""
    [job] = yaml.safe_load(row["yaml"])["scrape_configs"]
    [config] = job.get("relabel_configs") or job["metric_relabel_configs"]
    if row["accepted"]:
        made = relabel.rule(**_keys(config))
        assert made.action.value == config.get("action", "replace")
    else:
        with pytest.raises(RuleError):
            relabel.rule(**_keys(config))


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"action": ""}, "action: nothing is no action; write one of replace, keep, drop"),
        ({"action": "labelMapp"}, "action: 'labelMapp' is no action"),
        ({"action": "keep", "source_labels": [""]}, "source_labels: an empty name"),
        ({"action": "keep", "source_labels": ["\ud800"]}, "source_labels: '\\ud800' holds half"),
        ({"action": "keep", "regex": "*"}, "any text is .*"),
        ({"action": "keep", "separator": "\udfff"}, "separator:"),
        ({"target_label": "a", "replacement": "\ud800"}, "replacement:"),
        ({}, "target_label: missing; action replace needs one"),
        ({"target_label": "$1\ud800"}, "target_label: '$1\\ud800' holds half"),
        ({"target_label": "a-$1"}, "target_label: 'a-$1' makes no label name"),
        ({"target_label": "1$1"}, "target_label: '1$1' makes no label name"),
        ({"action": "hashmod", "target_label": "a"}, "modulus: missing"),
        ({"action": "keep", "modulus": -1}, "modulus: -1"),
        ({"action": "hashmod", "target_label": "a", "modulus": 2**64}, "modulus: 18446744073"),
        ({"action": "labelmap", "replacement": "a-$1"}, "replacement: 'a-$1' makes no label name"),
        (
            {"action": "keepequal", "target_label": "a", "regex": "(.*)", "modulus": 2},
            "modulus, regex: leave out; action keepequal",
        ),
        (
            {"action": "dropequal", "target_label": "a", "separator": "", "replacement": "x"},
            "replacement, separator: leave out; action dropequal",
        ),
        (
            {"action": "labelkeep", "source_labels": [], "target_label": "a"},
            "source_labels, target_label: leave out; action labelkeep",
        ),
        (
            {"action": "uppercase", "target_label": "a", "replacement": ""},
            "replacement: leave out; action uppercase",
        ),
    ],
)
def test_refusals_say_what_to_write(keys: dict[str, Any], words: str) -> None:
    """An error names the key, what was found and what to write."""
    with pytest.raises(RuleError) as caught:
        relabel.rule(**keys)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    "keys",
    [
        {"action": "LabelDrop", "separator": ";", "replacement": "$1"},
        {"action": "\N{KELVIN SIGN}eep"},
        {"action": "lowercase", "target_label": "a", "regex": "x", "separator": ",", "modulus": 3},
        {"action": "labelmap", "source_labels": ["a"], "target_label": "1$"},
        {"action": "hashmod", "target_label": "a", "modulus": 2**64 - 1},
        {"action": "drop", "target_label": "", "source_labels": ["a b"]},
        {"target_label": "${a}b1$2_"},
        {"target_label": "é"},
    ],
)
def test_oddities_that_prometheus_takes_are_taken(keys: dict[str, Any]) -> None:
    """Keys that an action ignores, and names of any characters, are accepted as in 3.0.1."""
    made = relabel.rule(**keys)
    assert made.source_labels == tuple(keys.get("source_labels", ()))


def test_rules_of_the_same_keys_are_equal() -> None:
    """A rule that did not change is seen to be the same after a reload."""
    keys: dict[str, Any] = {"source_labels": ["a"], "regex": "(x)", "target_label": "b"}
    assert relabel.rule(**keys) == relabel.rule(**keys)
    assert relabel.rule(**keys) != relabel.rule(**keys, separator=",")
