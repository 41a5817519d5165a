"""Labels that nothing gives, and matchers that match nothing."""

import json

import pytest

from cwgpu.config.where import Found
from tests.config.lint import bench

NEVER_SET, NEVER_MATCHES = "label-never-set", "matcher-never-matches"
JOB = "scrape_configs:\n- job_name: gpu\n  static_configs: [{targets: ['a:9400'], labels: {%s}}]\n"
STATIC = bench.jobs(JOB % "Service: dcgm, team: red")


def pods(*rules: bench.Json, **keys: object) -> Found:
    """Read a job for pods with these rules."""
    job = {"job_name": "gpu", "kubernetes_sd_configs": [{"role": "pod"}], "relabel_configs": rules}
    return bench.jobs(json.dumps({"scrape_configs": [job | keys]}))


def wanting(*labels: str, jobs: Found = STATIC, **cwgpu: object) -> list[str]:
    """Give what is said about a declaration with these dimensions."""
    config = bench.declaring(bench.declaration([*labels, "job"], ["job"]), **cwgpu)
    found = [each for each in bench.said(config, jobs) if each.code != "high-churn-dimension"]
    assert {each.code for each in found} <= {NEVER_SET}
    return [f"{each.level.value}: {each.message}: {each.help}" for each in found]


@pytest.mark.parametrize(
    "label",
    ["job", "instance", "ClusterName", "prom_metric_type", "Service", "team", "gpu", "UUID", "pod",
     "Hostname", "GPU_I_ID", "DCGM_FI_DRIVER_VERSION", "pod_label_app", "quantile"],
)  # fmt: skip
def test_labels_that_are_there(label: str) -> None:
    """Targets, the exporter and we ourselves give labels."""
    assert wanting(label) == []


def test_a_label_that_nothing_gives() -> None:
    """The label is named once, at its first place, with the rule that would give it."""
    declaration = bench.declaration(
        ["Service", "pod"], ["Service"], source=["Service"], matcher="a"
    )
    (found,) = bench.said(bench.declaring(declaration), bench.jobs(JOB % ""))
    assert (found.code, found.level.value) == (NEVER_SET, "warning")
    assert found.path.endswith("metric_declaration[0].source_labels[0]")
    assert found.message == "no rule of any job sets the label Service, nor does the exporter"
    assert found.help == (
        'to job \'gpu\' add under static_configs: labels: {"Service": "dcgm-exporter"}\n'
        "also on lines 15, 19"
    )


def test_a_rule_that_would_give_it() -> None:
    """Targets of Kubernetes get it by a rule, in the exporter's job if there is one."""
    text = """\
scrape_configs:
- job_name: other
  kubernetes_sd_configs: [{role: pod}]
- job_name: dcgm
  kubernetes_sd_configs: [{role: pod}]
"""
    (found,) = wanting("Service", jobs=bench.jobs(text))
    assert found.endswith(
        "add to relabel_configs of job 'dcgm': "
        '{"target_label": "Service", "replacement": "dcgm-exporter"}'
    )


def test_a_slip_in_a_label() -> None:
    """The nearest label that the exporter gives is named."""
    (found,) = wanting("Pod")
    assert found.startswith("warning: no rule of any job sets the label Pod")
    assert found.endswith("did you mean pod?")


def test_the_namespace_of_the_exporter() -> None:
    """It is not that of a workload: discovery tells it, and where nothing is discovered, we do."""
    (found,) = wanting("Namespace")
    assert found.endswith(
        "did you mean namespace?\n"
        'to job \'gpu\' add under static_configs: labels: {"Namespace": "default"}'
    )
    rule = {"source_labels": ["__meta_kubernetes_namespace"], "target_label": "Namespace"}
    (found,) = wanting("Namespace", jobs=pods())
    assert found.endswith(
        f"did you mean namespace?\nadd to relabel_configs of job 'gpu': {json.dumps(rule)}"
    )
    assert wanting("Namespace", jobs=pods(rule)) == []
    (found,) = wanting("Namespace", jobs=pods(kubernetes_sd_configs=[{"role": "node"}]))
    assert found.endswith('{"target_label": "Namespace", "replacement": "default"}')


@pytest.mark.parametrize(
    ("name", "usual"),
    [("hostname", "Hostname"), ("uuid", "UUID"), ("pod_name", "pod"), ("model_name", "modelName"),
     ("DCGM_FI_SYSTEM_DRIVER_VERSION", "DCGM_FI_DRIVER_VERSION")],
)  # fmt: skip
def test_a_label_that_gets_another_name(name: str, usual: str) -> None:
    """Names of other exporter versions become the usual ones, unless that is switched off."""
    (found,) = wanting(name)
    assert found == (
        f"warning: the label {name} is called {usual} here, whatever the exporter calls it: "
        f"write {usual}"
    )
    assert wanting(name, dcgm={"labels": False}) == []
    rule = {"source_labels": ["__address__"], "target_label": name}
    assert wanting(name, jobs=pods(rule)) == []


def test_a_label_of_pods() -> None:
    """A small letter may be a pod's label, which the exporter gives if it is told to."""
    (found,) = wanting("app")
    assert found.startswith("note: no rule sets the label app, and the exporter gives it only if")
    assert "DCGM_EXPORTER_KUBERNETES_ENABLE_POD_LABELS" in found
    (close,) = wanting("pci_busid")
    assert "did you mean pci_bus_id?" in close


LABELMAP = {"action": "labelmap", "regex": "__meta_kubernetes_pod_label_(.+)"}


def test_a_labelmap_of_pods_labels() -> None:
    """A small letter is likely among them; a capital is possible, and said to be."""
    assert wanting("app", jobs=pods(LABELMAP)) == []
    (found,) = wanting("Service", jobs=pods(LABELMAP))
    assert "unless a Kubernetes object has a label Service (labelmap, jobs.yaml:1)" in found


@pytest.mark.parametrize(
    ("regex", "replacement", "label", "gives"),
    [
        ("__meta_kubernetes_pod_label_(team|app)", "$1", "app", True),
        ("__meta_kubernetes_pod_label_(team|app)", "$1", "tier", False),
        ("__meta_kubernetes_pod_label_(.+)", "k8s_$1", "k8s_app", True),
        ("__meta_kubernetes_pod_label_(.+)", "k8s_$1", "app", False),
        ("__meta_kubernetes_(pod_ip)", "$1", "pod_ip", True),
        ("__meta_kubernetes_(.+)", "x_$1", "x_pod_label_app", True),
        ("(.+)", "$1", "app", False),
    ],
)
def test_what_a_labelmap_gives(regex: str, replacement: str, label: str, gives: bool) -> None:  # noqa: FBT001
    """It is tried on the labels that pods may have."""
    rule = {"action": "labelmap", "regex": regex, "replacement": replacement}
    assert (wanting(label, jobs=pods(rule)) == []) is gives


@pytest.mark.parametrize(
    ("rule", "label"),
    [
        ({"source_labels": ["__address__"], "target_label": "Node"}, "Node"),
        ({"target_label": "Node", "replacement": "x"}, "Node"),
        ({"source_labels": ["a"], "regex": "(.+)", "target_label": "X_$1"}, "X_Node"),
        ({"source_labels": ["a"], "action": "lowercase", "target_label": "Node"}, "Node"),
        ({"source_labels": ["a"], "action": "hashmod", "modulus": 2, "target_label": "N"}, "N"),
    ],
)
def test_what_rules_give(rule: bench.Json, label: str) -> None:
    """Rules for targets and rules for samples give labels."""
    assert wanting(label, jobs=pods(rule)) == []
    assert wanting(label, jobs=pods(metric_relabel_configs=[rule])) == []
    assert len(wanting("Other", jobs=pods(rule))) == 1


def test_a_labelmap_of_samples_is_not_followed() -> None:
    """It may give anything."""
    rule = {"action": "labelmap", "regex": "(p)od", "replacement": "X_$1"}
    assert wanting("X_p", jobs=pods(metric_relabel_configs=[rule])) == []


def test_a_label_that_is_moved() -> None:
    """A label of the page is moved where the target has it too, unless the page is honoured."""
    rule = {"source_labels": ["__meta_kubernetes_namespace"], "target_label": "namespace"}
    assert wanting("exported_namespace", jobs=pods(rule)) == []
    (honoured,) = wanting("exported_namespace", jobs=pods(rule, honor_labels=True))
    (unmoved,) = wanting("exported_pod", jobs=pods(rule))
    assert honoured.startswith("note: no rule sets the label exported_namespace")
    assert unmoved.startswith("note: no rule sets the label exported_pod")


@pytest.mark.parametrize(
    "jobs",
    [
        None,
        bench.jobs("scrape_configs: []"),
        bench.jobs("scrape_config_files: [x.yml]\n" + JOB % ""),
        bench.jobs(JOB % "" + "  file_sd_configs: [{files: [x.yml]}]\n"),
        bench.jobs(JOB % "" + "  consul_sd_configs: [{}]\n"),
    ],
)
def test_jobs_that_are_not_all_known(jobs: Found | None) -> None:
    """Files and other services may give any label, so nothing is said."""
    config = bench.declaring(bench.declaration(["Service"], source=["Service"], matcher="a"))
    assert bench.codes(config, jobs) == []


def test_declarations_about_other_metrics() -> None:
    """Nobody knows which labels other exporters give."""
    other = bench.declaration(
        ["Service", "code"], source=["Service"], selectors=["^http_", "DCGM_"]
    )
    assert bench.codes(bench.declaring(other), bench.jobs(JOB % "")) == []


def test_an_empty_label_that_the_matcher_takes() -> None:
    """A matcher that finds something in an empty text does without the label."""
    taken = bench.declaration(source=["Service"], matcher=".*")
    refused = bench.declaration(source=["Service"], matcher="a")
    joined = bench.declaration(source=["job", "Service"], matcher=".*")
    jobs = bench.jobs(JOB % "")
    assert bench.codes(bench.declaring(taken), jobs) == []
    assert bench.codes(bench.declaring(refused), jobs) == [NEVER_SET]
    assert bench.codes(bench.declaring(joined), jobs) == [NEVER_SET]


def matching(matcher: str, jobs: Found, source: tuple[str, ...] = ("job",)) -> list[str]:
    """Give what is said about a matcher."""
    declaration = bench.declaration(source=source, matcher=matcher)
    return [f"{each.code}: {each.message}: {each.help}" for each in
            bench.said(bench.declaring(declaration), jobs)]  # fmt: skip


def test_a_matcher_that_matches_no_job() -> None:
    """A matcher is tried on the values that the label can have."""
    assert matching("^gp", STATIC) == []
    assert matching("^dcgm$", STATIC) == [
        f"{NEVER_MATCHES}: '^dcgm$' is found in no value that job can have: the jobs give: 'gpu'"
    ]


@pytest.mark.parametrize(
    ("matcher", "source", "never"),
    [
        ("^dcgm;gpu$", ("Service", "job"), False),
        ("^gpu;dcgm$", ("Service", "job"), True),
        ("^cgm", ("Service",), True),
        ("^x$", ("team",), True),
        ("^x$", ("pod",), False),
        ("^x$", ("instance",), False),
        ("^x;", ("pod", "job"), False),
    ],
)
def test_joined_labels(matcher: str, source: tuple[str, ...], never: bool) -> None:  # noqa: FBT001
    """Several labels are joined; what the page may say is anything."""
    assert bool(matching(matcher, STATIC, source)) is never


RULED = "- job_name: gpu\n  static_configs: [{targets: ['a:9400'], labels: {Service: a}}]\n"


@pytest.mark.parametrize(
    ("extra", "source", "never"),
    [
        ("relabel_configs: [{target_label: Service, replacement: b}]", "Service", False),
        ("relabel_configs: [{target_label: Service, replacement: c}]", "Service", True),
        ("relabel_configs: [{target_label: Other, replacement: b}]", "Service", True),
        ("relabel_configs: [{source_labels: [job], target_label: Service}]", "Service", False),
        ("relabel_configs: [{source_labels: [job], target_label: Service, action: lowercase}]",
         "Service", False),
        ("relabel_configs: [{action: labelmap, regex: (.+)}]", "job", False),
        ("relabel_configs: [{action: labeldrop, regex: Serv.*}]", "Service", False),
        ("relabel_configs: [{action: labeldrop, regex: Serv.*}]", "job", True),
        ("metric_relabel_configs: [{target_label: job, replacement: b}]", "job", False),
        ("metric_relabel_configs: [{source_labels: [__name__], action: drop, regex: x}]", "job",
         True),
        ("kubernetes_sd_configs: [{role: pod}]", "Service", False),
        ("kubernetes_sd_configs: [{role: pod}]", "job", True),
        ("honor_labels: true", "Service", True),
    ],
)  # fmt: skip
def test_values_by_rules(extra: str, source: str, never: bool) -> None:  # noqa: FBT001 - a table
    """Rules may add values, or make any."""
    jobs = bench.jobs(f"scrape_configs:\n{RULED}  {extra}\n")
    found = matching("^b$", jobs, (source,))
    assert [each.partition(":")[0] for each in found] == ([NEVER_MATCHES] if never else [])


def test_pages_that_are_honoured() -> None:
    """With honor_labels another exporter's page may say anything."""
    other = bench.declaration(source=["Service"], matcher="^b$", selectors=["^http_", "DCGM_"])
    jobs = "scrape_configs:\n" + RULED
    assert bench.codes(bench.declaring(other), bench.jobs(jobs)) == [NEVER_MATCHES]
    honoured = bench.jobs(f"{jobs}  honor_labels: true\n")
    assert bench.codes(bench.declaring(other), honoured) == []


def test_a_matcher_that_is_no_regex() -> None:
    """What cannot be compiled was complained about."""
    assert matching("(", STATIC) == []


def test_more_values_than_are_tried() -> None:
    """Where there is no end to the combinations nothing is said."""
    many = "\n".join(
        f"- job_name: j{n}\n  static_configs: [{{targets: ['a:9400'], labels: {{A: a{n}}}}}]"
        for n in range(1001)
    )
    assert matching("^x$", bench.jobs(f"scrape_configs:\n{many}\n")) == []


def test_a_name_without_end() -> None:
    """A name that is too long for anything costs no more than others."""
    assert len(wanting("A" * 100_000, jobs=pods(LABELMAP))) == 1
