"""Which metrics are selected, and what they cost."""

import json

import pytest

from cwgpu.config.lint import dcgm
from tests.config.lint import bench


def selecting(selector: str, **cwgpu: object) -> list[str]:
    """Give what is said about a selector."""
    config = bench.declaring(bench.declaration(selectors=[selector]), **cwgpu)
    return [f"{each.code}: {each.message}: {each.help}" for each in bench.said(config)]


@pytest.mark.parametrize("selector", ["http_requests", "^dcgm_fi_dev_gpu_util$", "^GPU_UTIL$"])
def test_a_selector_of_nothing_of_a_gpu(selector: str) -> None:
    """Where it is the only one, no GPU metric is ever sent; what to add is shown whole."""
    (found,) = bench.said(bench.declaring(bench.declaration(selectors=[selector])))
    assert (found.code, found.level.value) == ("no-gpu-metric", "warning")
    assert bench.excerpt(found) == '"metric_declaration"'
    shown = json.loads(found.help.partition("the declaration: ")[2])
    pages = bench.jobs(
        "scrape_configs: [{job_name: a, static_configs: [{targets: ['a:9400'], "
        "labels: {Service: dcgm-exporter, Namespace: default}}]}]"
    )
    assert bench.codes(bench.declaring(shown), pages) == ["idle-gpus-unseen"]


def test_one_declaration_about_gpus_is_enough() -> None:
    """Others may be about anything; without a whole declaration another finding says so."""
    other = bench.declaration(selectors=["^http_"])
    assert bench.codes(bench.declaring(other, bench.declaration())) == []
    gauge = bench.declaration(selectors=["^cwgpu_gpu_idle$"])
    assert bench.codes(bench.declaring(other, gauge)) == []
    del other["metric_selectors"]
    assert bench.codes(bench.declaring(other)) == bench.codes(bench.declaring()) == []


def test_what_may_be_about_gpus() -> None:
    """Nothing is said of fields that are not known here, nor of what was refused or renamed."""
    other = bench.declaration(selectors=["^http_"])
    for selector in ("^DCGM_FI_DEV_NOT_YET$", "("):
        unknown = bench.declaration(selectors=[selector])
        assert bench.codes(bench.declaring(other, unknown)) == []
    assert bench.codes(bench.declaring(other, {"metric_selector": ["^DCGM_"]})) == []
    rule = "{target_label: __name__, replacement: http_gpu}"
    jobs = f"scrape_configs: [{{job_name: a, metric_relabel_configs: [{rule}]}}]"
    assert bench.codes(bench.declaring(other), bench.jobs(jobs)) == []


@pytest.mark.parametrize("selector", ["DCGM_FI_DEV_FB_USED", "^DCGM_FI_DEV_FB_USED"])
def test_a_selector_that_selects_more(selector: str) -> None:
    """A selector searches, so a name without its end selects longer names too."""
    (found,) = selecting(selector)
    assert found == (
        "selector-too-wide: this selects DCGM_FI_DEV_FB_USED_PERCENT too: "
        'for one name write "^DCGM_FI_DEV_FB_USED$"'
    )


def test_a_selector_that_selects_many() -> None:
    """The first few of them are named."""
    (found,) = selecting("DCGM_FI_DEV_POWER_MGMT_LIMIT")
    assert "_DEF, DCGM_FI_DEV_POWER_MGMT_LIMIT_MAX, DCGM_FI_DEV_POWER_MGMT_LIMIT_MIN too" in found
    (found,) = selecting("DCGM_FI_DEV_NVSWITCH_LINK_CRC_ERRORS")
    assert " and 5 more too" in found


@pytest.mark.parametrize(
    "selector",
    ["^DCGM_FI_DEV_FB_USED$", "DCGM_FI_DEV_GPU_TEMP$", "DCGM_", "^DCGM_FI_DEV_FB", ".*", "FB_USED",
     "DCGM_FI_PROF_DRAM_ACTIVE", "^DCGM_FI_DEV_(FB|GPU).*"],
)  # fmt: skip
def test_a_selector_that_is_meant_so(selector: str) -> None:
    """Whole names, beginnings and patterns are let alone."""
    assert selecting(selector) == []


def test_a_field_that_gets_its_older_name() -> None:
    """Newer names are gone by the time that selectors are asked, unless that is off."""
    selector = "^DCGM_FI_DEV_GPU_UTIL_RATIO$"
    (found,) = selecting(selector)
    assert found == (
        "renamed-field: DCGM_FI_DEV_GPU_UTIL_RATIO is called DCGM_FI_DEV_GPU_UTIL by the time that "
        'selectors are asked: write "^DCGM_FI_DEV_GPU_UTIL$", or "dcgm": {"aliases": false} in '
        "cwgpu"
    )
    assert selecting(selector, dcgm=False) == []
    (found,) = selecting("^DCGM_FI_DEV_SM_CLOCK_HERTZ$")
    assert 'write "^DCGM_FI_DEV_SM_CLOCK$", or' in found


def test_a_name_that_both_have() -> None:
    """A newer name that is found in an older one too still selects."""
    assert all("renamed" not in each for each in selecting("DCGM_FI_DEV_XID_ERROR"))


def test_names_that_rules_make() -> None:
    """Who renames metrics may select any name."""
    rule = "{source_labels: [__name__], regex: (.+), target_label: __name__, replacement: '${1}_X'}"
    jobs = f"scrape_configs: [{{job_name: a, metric_relabel_configs: [{rule}]}}]"
    config = bench.declaring(bench.declaration(selectors=["^DCGM_FI_DEV_GPU_UTIL_RATIO$"]))
    assert bench.codes(config, bench.jobs(jobs)) == []


@pytest.mark.parametrize(
    ("dcgm", "missing"),
    [
        ({"xid_fatal": True}, ["cwgpu_xid_fatal"]),
        ({"idle": {}}, ["cwgpu_gpu_idle"]),
        ({"xid_fatal": True, "idle": {"for": "1h"}}, ["cwgpu_xid_fatal", "cwgpu_gpu_idle"]),
        ({"xid_fatal": False}, []),
        (True, []),
    ],
)
def test_a_gauge_that_nothing_selects(dcgm: object, missing: list[str]) -> None:
    """What is asked for and would be dropped is named, with what to write."""
    assert selecting("^DCGM_FI_DEV_GPU_TEMP$", dcgm=dcgm) == [
        f"gauge-unselected: {name} is made, and no metric_selector selects it: "
        f'write "^{name}$" among the metric_selectors of a declaration'
        for name in missing
    ]
    assert selecting("^cwgpu_(xid|gpu)_", dcgm=dcgm) == []


def test_a_selector_that_is_no_regex_may_select_a_gauge() -> None:
    """Where one cannot be read, no more is said than that."""
    found = selecting("cwgpu_(", dcgm={"xid_fatal": True})
    assert not any("gauge-unselected" in each for each in found)


@pytest.mark.parametrize("label", ["pod_uid", "UUID", "instance", "hpc_job"])
def test_dimensions_without_end(label: str) -> None:
    """A dimension whose values come and go is named once, with the price."""
    config = bench.declaring(
        bench.declaration(["gpu", label], ["gpu"]), bench.declaration([label], ["gpu"])
    )
    (found,) = bench.said(config)
    assert (found.code, found.level.value) == ("high-churn-dimension", "note")
    assert bench.excerpt(found) == f'"{label}"'
    assert found.message.startswith(f"{label} makes a metric of its own for each value: every ")


def test_dimensions_with_an_end() -> None:
    """Others are let alone."""
    names = ["gpu", "pod", "Hostname", "modelName", "GPU_I_ID", "ClusterName"]
    assert bench.codes(bench.declaring(bench.declaration(names, ["gpu"]))) == []


def test_every_usual_label_is_usual() -> None:
    """The labels that the exporter is known to give are the ones that it has here."""
    assert [name for name in dcgm.LABELS if dcgm.usual_name(name) != name] == []


@pytest.mark.parametrize(
    ("selector", "meant"),
    [
        ("^DCGM_FI_DEV_GPU_UTILL$", "^DCGM_FI_DEV_GPU_UTIL$"),
        ("DCGM_FI_DEV_XID_ERORS", "DCGM_FI_DEV_XID_ERRORS"),
        ("^DCGM_FI_DEV_FB_USE$", "^DCGM_FI_DEV_FB_USED$"),
    ],
)
def test_a_slip_in_the_name_of_a_field(selector: str, meant: str) -> None:
    """A name that no field has, but one nearly, is told with that one."""
    found = selecting(selector)
    name = selector.strip("^$")
    assert found[-1] == (
        f"unknown-field: no field of DCGM that is known here is called {name}: "
        f'did you mean "{meant}"?'
    )


@pytest.mark.parametrize(
    "selector",
    [
        "^DCGM_FI_DEV_BAR1_USED$",
        "^DCGM_FI_DEV_PCIE_RX_THROUGHPUT$",
        "^DCGM_FI_DEV_NVLINK_BANDWIDTH_L99$",
        "^DCGM_EXP_OURS$",
        "^DCGM_FI_DEV_GPU_UTIL.*$",
        "^DCGM_FI_DEV_(GPU_UTILL|FB_USEDD)$",
        "^MY_DCGM_FI_DEV_GPU_UTILL$",
        "^DCGM_FI_DEV_FB$",
        "DCGM_FI_DEV_GPU_UTI",
    ],
)
def test_fields_that_are_not_known_here(selector: str) -> None:
    """Other fields, numbers of links, patterns and beginnings of names are let alone."""
    assert [each for each in selecting(selector) if each.startswith("unknown-field")] == []


def test_names_that_rules_make_may_be_any() -> None:
    """Who renames metrics may select what no field is called."""
    rule = "{source_labels: [__name__], regex: (.+), target_label: __name__, replacement: '${1}L'}"
    jobs = f"scrape_configs: [{{job_name: a, metric_relabel_configs: [{rule}]}}]"
    config = bench.declaring(bench.declaration(selectors=["^DCGM_FI_DEV_GPU_UTILL$"]))
    assert bench.codes(config, bench.jobs(jobs)) == []
