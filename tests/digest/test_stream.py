"""Log group and stream from an event's labels."""

import pytest

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
