"""Regexes that no value of Kubernetes can match."""

import pytest

from tests.config.lint import bench

P = "__meta_kubernetes_"
CODE = "relabel-never-matches"


def test_capitals_of_a_container() -> None:
    """A container's name has no capitals: what to write is the same in small letters."""
    (found,) = bench.said(
        jobs=bench.jobs("""\
scrape_configs:
- job_name: gpu
  kubernetes_sd_configs:
  - role: pod
  relabel_configs:
  - source_labels: [__meta_kubernetes_pod_container_name]
    action: keep
    regex: '^DCGM.*$'
""")
    )
    assert (found.code, found.line, found.column, found.width) == (CODE, 8, 12, 10)
    assert found.message == (
        "job 'gpu' keeps no target: '^DCGM.*$' needs capital letters: Kubernetes allows only "
        "lower-case letters, digits and - in __meta_kubernetes_pod_container_name"
    )
    assert found.help == (
        "write '.*dcgm.*'; the exporter's containers are called nvidia-dcgm-exporter, "
        "dcgm-exporter or exporter"
    )


@pytest.mark.parametrize(
    ("label", "regex", "message", "advice"),
    [
        ("namespace", "GPU-Operator", "lower-case letters, digits and - in", '"gpu-operator"'),
        (
            "pod_name",
            "nvidia_dcgm.*",
            "needs characters that cannot be there: Kubernetes allows only",
            "",
        ),
        ("pod_name", "NVIDIA-.*", "lower-case letters, digits, - and . in", '"nvidia-.*"'),
        ("pod_container_name", ".*DCGM.*", "needs capital letters", '".*dcgm.*"; the exporter'),
        ("pod_container_name", "Main(?P<X>A)", "needs capital letters", ""),
        ("pod_container_port_number", "metrics", "allows only digits in", ""),
        ("pod_container_name", "(?P<X>DCGM)", "needs capital letters", '".*dcgm.*"; the exporter'),
        ("pod_phase", "running", "matches none of the values", "did you mean Running?"),
        (
            "pod_container_init",
            "yes",
            "matches none",
            "__meta_kubernetes_pod_container_init is one of",
        ),
        ("pod_labelpresent_app", "True", "matches none", "did you mean true?"),
    ],
)
def test_what_cannot_be(label: str, regex: str, message: str, advice: str) -> None:
    """Names are lower-case words, ports are digits, and a phase is one of five words."""
    config = bench.rule("pod", source_labels=[P + label], action="keep", regex=regex)
    (found,) = bench.said(jobs=config)
    assert found.code == CODE
    assert message in found.message
    assert advice in found.help
    assert bool(advice) == bool(found.help)


@pytest.mark.parametrize(
    ("action", "effect"),
    [
        ("keep", "job 'gpu' keeps no target"),
        ("drop", "this rule drops nothing"),
        ("replace", "this rule changes nothing"),
    ],
)
def test_what_comes_of_it(action: str, effect: str) -> None:
    """It says what a rule does whose regex never matches."""
    sources = [f"{P}namespace"]
    keys = {"target_label": "x"} if action == "replace" else {}
    config = bench.rule("pod", source_labels=sources, action=action, regex="(A)", **keys)
    (found,) = bench.said(jobs=config)
    assert found.message.startswith(effect)


@pytest.mark.parametrize(
    ("sources", "regex", "never"),
    [
        (["namespace", "pod_name"], "Kube-system;.*", True),
        (["namespace", "pod_name"], "kube-system;.*", False),
        (["namespace", "pod_label_app"], "Kube;.*", False),
        (["pod_phase", "pod_ready"], "Running;True", True),
        (["pod_phase", "pod_ready"], "Running;true", False),
        (["pod_phase", "pod_ready"], "Running;", False),
        (["pod_phase", "pod_label_app"], "X;Y", False),
        (["pod_phase"] * 6, "X", False),
        (["pod_container_init"], "true|", False),
        ([], "A", False),
    ],
)
def test_joined_values(sources: list[str], regex: str, never: bool) -> None:  # noqa: FBT001
    """Several labels are compared with the separator between them; one may be absent."""
    names = {"source_labels": [P + each for each in sources]} if sources else {}
    config = bench.rule("pod", action="drop", regex=regex, **names)
    assert bench.codes(jobs=config) == ([CODE] if never else [])


@pytest.mark.parametrize(
    "keys",
    [
        {
            "source_labels": [f"{P}pod_name"],
            "action": "lowercase",
            "target_label": "x",
            "regex": "A",
        },
        {"source_labels": [f"{P}pod_name"], "action": "keep", "regex": "(?i)DCGM.*"},
        {"source_labels": [f"{P}pod_name"], "action": "keep", "regex": "DCGM.*|.*dcgm.*"},
        {"source_labels": [f"{P}pod_label_app"], "action": "keep", "regex": "DCGM"},
        {"source_labels": ["__address__"], "action": "keep", "regex": "A"},
    ],
)
def test_what_can_be(keys: bench.Json) -> None:
    """Rules that do not look at the regex, or whose values may be anything, are let alone."""
    assert bench.codes(jobs=bench.rule("pod", **keys)) == []


def test_the_values_of_several_labels() -> None:
    """Each label's are listed; which was meant cannot be told."""
    sources = [f"{P}pod_phase", f"{P}pod_ready"]
    config = bench.rule("pod", source_labels=sources, action="keep", regex="Running;True")
    (found,) = bench.said(jobs=config)
    assert found.help == (
        f"{P}pod_phase is one of Pending, Running, Succeeded, Failed, Unknown\n"
        f"{P}pod_ready is one of true, false, unknown"
    )
