"""Log group and stream from an event's labels."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cwgpu.digest import stream


@pytest.mark.parametrize(
    ("pattern", "labels", "expected"),
    [
        ("{JobName}", {"job": "gpu"}, "gpu"),
        ("{JobName}", {"job": "gpu", "JobName": "mine"}, "mine"),
        ("{JobName}", {"job": "gpu", "JobName": ""}, "gpu"),
        ("{JobName}", {"JobName": "default"}, "default"),
        ("{JobName}", {}, "undefined"),
        ("{ClusterName}", {"ClusterName": "lab"}, "lab"),
        ("{ClusterName}", {"aws.ecs.cluster.name": "lab"}, "lab"),
        ("{TaskId}", {"aws.ecs.task.id": "t"}, "t"),
        ("{NodeName}", {"k8s.node.name": "n"}, "n"),
        ("{PodName}", {"pod": "p"}, "p"),
        ("{ServiceName}", {"service.name": "s"}, "s"),
        ("{ContainerInstanceId}", {"aws.ecs.container.instance.id": "c"}, "c"),
        ("{TaskDefinitionFamily}", {"aws.ecs.task.family": "f"}, "f"),
        ("{Other}{JobName", {"Other": "x", "job": "gpu"}, "{Other}{JobName"),
        ("a/{JobName}/{PodName}", {"job": "gpu", "pod": "p"}, "a/gpu/p"),
        ("{JobName}", {"job": "serviceMonitor/ns/x:*\n/0"}, "serviceMonitor/ns/x___/0"),
        ("{JobName}", {"job": "j" * 600}, "j" * 512),
    ],
)
def test_placeholders_of_the_stream(pattern: str, labels: dict[str, str], expected: str) -> None:
    """A placeholder is its own label, the agent's for it, or "undefined"; the name is valid."""
    assert stream.resolve("g", pattern, labels).stream == expected


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        (
            "/aws/eks/{ClusterName}/prometheus",
            "/aws/eks/a_b/prometheus",
        ),
        ("{ClusterName}.#-_/", "a_b.#-_/"),
        ("x" * 600, "x" * 512),
    ],
)
def test_placeholders_of_the_group(pattern: str, expected: str) -> None:
    """What a log group may not hold is replaced, so that one odd label costs no event."""
    assert stream.resolve(pattern, "s", {"ClusterName": "a:b"}).group == expected


@pytest.mark.parametrize(
    ("names", "known", "expected"),
    [
        (("/gpu", "all"), {}, ("/gpu", "all")),
        (("/gpu/{ClusterName}", "{JobName}"), {"ClusterName": "lab"}, ("/gpu/lab", "*")),
        (("/gpu/{ClusterName}", "s"), {"ClusterName": ""}, ("/gpu/*", "s")),
        (("{ClusterName}-{NodeName}", "{PodName}x"), {"ClusterName": "a:b"}, ("a_b-*", "*x")),
        (("a b", "a:b*"), {}, ("a_b", "a_b_")),
    ],
)
def test_patterns(names: tuple[str, str], known: dict[str, str], expected: tuple[str, str]) -> None:
    """What is known is filled in, and a star stands for the rest."""
    found = stream.pattern(*names, known)
    assert (found.group, found.stream) == expected


_NAMES = st.lists(
    st.sampled_from(["{ClusterName}", "{JobName}", "{PodName}", "/a", "b:c", "*", "{x}"]),
    min_size=1,
    max_size=6,
).map("".join)
_VALUES = st.text("ab:*/ ", max_size=4)


@given(_NAMES, _NAMES, st.fixed_dictionaries({"ClusterName": _VALUES, "job": _VALUES}))
def test_every_name_fits_its_pattern(group: str, name: str, labels: dict[str, str]) -> None:
    """Whatever else an event's labels are, its group and stream are among those of the pattern."""
    real = stream.resolve(group, name, labels)
    pattern = stream.pattern(group, name, {"ClusterName": labels["ClusterName"]})
    for one, wanted in ((real.group, pattern.group), (real.stream, pattern.stream)):
        assert re.fullmatch(".*".join(map(re.escape, wanted.split("*"))), one)
