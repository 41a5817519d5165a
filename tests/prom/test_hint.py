"""Near misses: what is said about rules that did not do what was meant."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cwgpu.model.errors import RuleError
from cwgpu.prom import hint, regex, relabel, trace

_POD = "__meta_kubernetes_pod_"
_LABELS = {
    "__address__": "10.0.12.34:9400",
    f"{_POD}name": "dcgm-x7f2k",
    f"{_POD}ip": "10.0.12.34",
    f"{_POD}uid": "f00",
    f"{_POD}node_name": "node-1",
    f"{_POD}container_name": "nvidia-dcgm-exporter",
    f"{_POD}label_app_kubernetes_io_name": "DCGM ",
    f"{_POD}annotation_prometheus_io_port": "9400",
}
_CONTAINER = f"{_POD}container_name"
_PART = "only a part is so, and a regex must match all of it"


def _hint(**keys: Any) -> str:  # noqa: ANN401 - the keys of a rule
    [step] = trace.trace(_LABELS, [relabel.rule(**keys)]).steps
    return hint.hint(step)


def _keep(label: str, pattern: str) -> str:
    return _hint(action="keep", source_labels=[label], regex=pattern)


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        ("NVIDIA-.*", "upper and lower case differ; this matches: (?i)NVIDIA-.*"),
        (
            "dcgm",
            f"{_PART}; this matches: .*dcgm.*",
        ),
        (
            "exporter$|agent",
            f"{_PART}; this matches: .*(?:exporter$|agent).*",
        ),
        (
            "^DCGM.*$",
            "only a part is so, and upper and lower case differ; this matches: (?i).*DCGM.*",
        ),
        (r"w+-w+-w+", r"a backslash seems to be lost; this matches: \w+-\w+-\w+"),
        ("node-exporter", ""),
        (r"nvidia\$", ""),
        ("", ""),
    ],
)
def test_a_regex_that_nearly_matches(pattern: str, said: str) -> None:
    """What differs is named, and a regex is given that does match; if none does, nothing is."""
    assert _keep(_CONTAINER, pattern) == said
    if "this matches: " in said:
        assert regex.anchored(said.rpartition("this matches: ")[2]).matches(_LABELS[_CONTAINER])


def test_a_blank_at_the_end() -> None:
    """It is not to be seen, so it is said."""
    label = f"{_POD}label_app_kubernetes_io_name"
    assert _keep(label, "DCGM") == "a blank stands before or after it"


@pytest.mark.parametrize(
    ("label", "said"),
    [
        (f"{_POD}container_nam", f"did you mean {_POD}container_name?"),
        (f"{_POD}Container_Name", f"did you mean {_POD}container_name?"),
        (
            f"{_POD}label_app.kubernetes.io/name",
            f"did you mean {_POD}label_app_kubernetes_io_name?",
        ),
        (f"{_POD}label_app", f"there are {_POD}label_app_kubernetes_io_name"),
        (
            "__meta_kubernetes_pod",
            f"there are {_POD}ip, {_POD}uid, {_POD}name and 4 more",
        ),
    ],
)
def test_a_label_that_is_not_there(label: str, said: str) -> None:
    """The one that was probably meant is named, or those whose names begin so."""
    whole = f"there is no label {label}; {said}"
    assert _keep(label, ".+") == whole
    assert _hint(source_labels=[label], regex="(.+)", target_label="x") == whole


def test_a_label_that_is_nowhere_near() -> None:
    """It is named where it decided; where a rule may well find nothing, nothing is said."""
    label = f"{_POD}annotation_prometheus_io_path"
    assert _keep(label, ".+") == f"there is no label {label}, so it is empty"
    assert _hint(source_labels=[label], regex="(.+)", target_label="x") == ""
    assert _hint(action="drop", source_labels=[label], regex="") == (
        f"there is no label {label}, so it is empty"
    )


@pytest.mark.parametrize(
    ("action", "pattern", "said"),
    [
        (
            "labelmap",
            f"{_POD}label_",
            f"{_PART}; this matches: .*{_POD}label_.*",
        ),
        ("labelkeep", "Job|__ADDRESS__", "upper and lower case differ; this matches: (?i)"),
        ("labeldrop", "x", ""),
        ("labeldrop", "__address__", ""),
    ],
)
def test_names_that_nearly_match(action: str, pattern: str, said: str) -> None:
    """An action by name is held against the names."""
    found = _hint(action=action, regex=pattern)
    assert found.startswith(said) if said else not found


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"action": "drop"}, "this regex matches every text; write the values that are to be drop"),
        ({"action": "drop", "source_labels": ["__address__"], "regex": "10.+"}, ""),
        (
            {"action": "keepequal", "source_labels": ["y"], "target_label": "__address__"},
            "there is no label y, so it is empty",
        ),
        (
            {"action": "dropequal", "source_labels": ["y"], "target_label": "z"},
            "there is no label y, so it is empty; there is no label z, so it is empty",
        ),
        ({"target_label": "x"}, ""),
        ({"action": "keep", "regex": "x"}, ""),
        (
            {
                "action": "hashmod",
                "source_labels": ["__address__"],
                "modulus": 2,
                "target_label": "x",
            },
            "",
        ),
    ],
)
def test_other_decisions(keys: dict[str, Any], said: str) -> None:
    """Nothing is said about what went as it should."""
    assert _hint(**keys).startswith(said)
    assert said or not _hint(**keys)


def test_values_that_differ_in_case() -> None:
    """Of two labels that were to be equal."""
    rule = relabel.rule(action="keepequal", source_labels=["a"], target_label="b")
    [step] = trace.trace({"a": "Node", "b": "node"}, [rule]).steps
    assert hint.hint(step).startswith("they differ in upper and lower case alone")


def test_a_suggestion_that_is_no_regex() -> None:
    """Is not made, and does no harm: without its beginning, this one is no regex any more."""
    assert _keep(_CONTAINER, "^*x") == ""


def test_nearest_of_none() -> None:
    """Without labels nothing is near."""
    assert hint.nearest("a", ()) is None


_TEXTS = st.text(st.sampled_from("abAB._-$^(|)*d+"), max_size=6)


@given(_TEXTS, st.dictionaries(st.sampled_from(["a", "b_c", "B.c"]), _TEXTS, max_size=3))
def test_every_suggestion_matches(pattern: str, labels: dict[str, str]) -> None:
    """Whatever the rule and the labels: a regex that is suggested matches what was compared."""
    try:
        rule = relabel.rule(action="keep", source_labels=["a", "b_c"], regex=pattern)
    except RuleError:
        return
    [step] = trace.trace(labels, [rule]).steps
    found = re.search(r"this matches: (.*)\Z", hint.hint(step), re.DOTALL)
    if found:
        assert step.matched is False
        assert regex.anchored(found[1]).matches(step.value or "")


@pytest.mark.parametrize(
    ("pattern", "replacement", "said"),
    [
        (
            "(.+):(.+)",
            "$1_gpu",
            "the regex has no group 1_gpu, so ${1_gpu} is empty; write ${1}_gpu",
        ),
        (".+", "a-$1", "the regex has no group 1, so ${1} is empty"),
        ("(.+)", "$port", "the regex has no group port, so ${port} is empty"),
        ("(?P<port>.+)", "$1$port", ""),
        ("(x)?(.+)", "$1", ""),
        ("(.+)", "", ""),
        ("x", "$7", ""),
    ],
)
def test_a_group_that_is_not_there(pattern: str, replacement: str, said: str) -> None:
    """A rule that matched and wrote less than was meant is explained; an absent part is none."""
    keys = {"source_labels": ["__address__"], "regex": pattern, "target_label": "x"}
    assert _hint(**keys, replacement=replacement) == said


def test_groups_are_of_replace_alone() -> None:
    """What other actions do not fill in is not looked at."""
    assert _hint(source_labels=["__address__"], action="lowercase", target_label="x") == ""
