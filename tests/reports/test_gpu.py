"""Reports about GPUs: pods that come and go, slices, sharing, and values that are none."""

import json
from pathlib import Path

import pytest

from cwgpu.agent.frost import Frost
from cwgpu.config import default, load
from cwgpu.digest.page import Page
from cwgpu.digest.recipe import Recipe
from cwgpu.model.drop import DropReason
from cwgpu.model.target import Target, TargetGroup
from cwgpu.plan.plan import Dcgm, Job, Plan
from cwgpu.prom import targeting
from tests.agent.stage import Witness
from tests.cli import program
from tests.digest import kitchen
from tests.digest.kitchen import by_job, declared, once, points, read
from tests.fakes.emf import Datapoint
from tests.fakes.exporter import FakeExporter
from tests.reports import files, rows
from tests.reports.files import agent, declaration
from tests.reports.rows import Json

UTIL, POWER = "DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_DEV_POWER_USAGE"
_SAMPLES = Path(__file__).parents[1] / "data/samples"


def shipped() -> tuple[Plan, Job]:
    """Give the configuration that is shipped, and its job for the exporter's pods."""
    environ = {"CLUSTER_NAME": "lab", "DCGM_EXPORTER_URL": "127.0.0.1:9400"}
    plan = load.load(default.path(), None, environ).plan
    (job,) = [each for each in plan.jobs if each.kubernetes]
    return plan, job


def exporter(job: Job, **meta: str) -> Target:
    """Give the target that a pod of the exporter is to the shipped job."""
    pod = {
        "__address__": "10.0.0.7:9400",
        "__meta_kubernetes_pod_phase": "Running",
        "__meta_kubernetes_pod_container_port_number": "9400",
        "__meta_kubernetes_pod_container_port_name": "metrics",
        "__meta_kubernetes_pod_container_name": "exporter",
        "__meta_kubernetes_pod_container_init": "false",
        **{f"__meta_kubernetes_{name}": value for name, value in meta.items()},
    }
    (found,) = targeting.targets(job, TargetGroup("pod", (pod,), {}))
    assert isinstance(found, Target), found
    return found


def gauge(name: str, *lines: tuple[str, object]) -> str:
    """Write a family: labels and value of each series."""
    series = "".join(f"{name}{{{labels}}} {value}\n" for labels, value in lines)
    return f"# TYPE {name} gauge\n{series}"


def dimensions(point: Datapoint) -> dict[str, str]:
    """Give a datapoint's dimensions by name."""
    return dict(point.dimensions)


@rows.of("ISS-030")
def test_a_gpu_whose_pod_comes_and_goes(report: Json) -> None:
    """No pod is carried over, and the set without a pod is one series all the time."""
    page = kitchen.page(kitchen.plan(declared(sets=(("job", "pod"), ("gpu", "job")))))
    busy, idle = (gauge(UTIL, (labels, 5)) for labels in ('gpu="0",pod="a"', 'gpu="0"'))
    found = [
        {frozenset(point.dimensions) for point in points(read(page, text))}
        for text in (busy, idle, busy)
    ]
    with_pod = frozenset({("job", "dcgm"), ("pod", "a")})
    alone = frozenset({("job", "dcgm"), ("gpu", "0")})
    assert found == [{with_pod, alone}, {alone}, {with_pod, alone}]


@rows.of("ISS-034")
def test_a_family_that_lacks_a_gpu(report: Json) -> None:
    """Each series stands for itself."""
    three = gauge(UTIL, *((f'gpu="{number}"', number) for number in range(3)))
    four = gauge(POWER, *((f'gpu="{number}"', number) for number in range(4)))
    reading = read(kitchen.page(kitchen.plan(declared(sets=(("gpu",),)))), three + four)
    names = [(point.name, dimensions(point)["gpu"]) for point in points(reading)]
    assert sorted(names) == sorted(
        [(UTIL, "0"), (UTIL, "1"), (UTIL, "2"), *((POWER, f"{number}") for number in range(4))]
    )


@rows.of("ISS-035")
def test_slices_of_one_gpu(report: Json) -> None:
    """They differ by their id alone and stay apart, whatever their profile is called."""
    slices = [
        (f'gpu="0",UUID="GPU-1",GPU_I_PROFILE="1g.11gb",GPU_I_ID="{n}"', n) for n in range(7, 14)
    ]
    text = gauge("DCGM_FI_DEV_FB_USED", *slices)
    apart = kitchen.page(kitchen.plan(declared(sets=(("GPU_I_ID", "GPU_I_PROFILE"),))))
    assert {(dimensions(p)["GPU_I_ID"], p.value) for p in points(read(apart, text))} == {
        (f"{number}", number) for number in range(7, 14)
    }
    together = points(read(kitchen.page(by_job()), text))
    assert sorted(point.value for point in together) == list(range(7, 14))


@rows.of("ISS-037")
def test_the_last_xid(report: Json) -> None:
    """It is a number without a unit that lasts, as DCGM gives it; its maximum means something."""
    labels = 'gpu="0",err_code="31",err_msg="GPU memory page fault"'
    page, text = kitchen.page(by_job()), gauge("DCGM_FI_DEV_XID_ERRORS", (labels, 31))
    for _ in range(3):
        (point,) = points(read(page, text))
        assert (point.value, point.unit) == (31, None)


@rows.of("ISS-040")
def test_a_gpu_that_pods_share(report: Json) -> None:
    """Each pod has the GPU's value; two samples are two, and their average is the GPU's own."""
    pods = ('gpu="0",vgpu="0",pod="a"', 70), ('gpu="0",vgpu="1",pod="b"', 70)
    sets = (("job", "pod"), ("gpu", "job"))
    found = points(read(kitchen.page(kitchen.plan(declared(sets=sets))), gauge(POWER, *pods)))
    by_pod = {dimensions(point).get("pod"): point.value for point in found}
    assert (by_pod["a"], by_pod["b"]) == (70, 70)
    of_gpu = [point.value for point in found if "gpu" in dimensions(point)]
    assert of_gpu == [70, 70]


@rows.of("ISS-041", "ISS-178")
def test_an_exporter_that_does_not_know_pods(report: Json, tmp_path: Path) -> None:
    """What needs a pod is left out and named, the check says so, and the rest is sent."""
    page = kitchen.page(kitchen.plan(declared(sets=(("job", "pod"),))))
    reading = read(page, gauge(UTIL, ('gpu="0"', 5)))
    ((reason, names),) = [(drop.reason, drop.names) for drop in reading.dropped]
    assert (reason, names) == (DropReason.DIMENSION_MISSING, (UTIL,))
    config = agent(declaration(dimensions=[["job", "pod"]]))
    assert "without pod" in files.write(tmp_path, config).said("idle-gpus-unseen").help
    plan, job = shipped()
    target = exporter(job, namespace="gpu", pod_label_app="nvidia-dcgm-exporter")
    text = (_SAMPLES / "05-idle-no-pod-labels-4.x.prom").read_text("utf-8")
    found = points(once(Page(Recipe(plan, job), target.labels), text))
    assert UTIL in {point.name for point in found}
    assert {frozenset(dimensions(point)) for point in found} == {
        frozenset({"ClusterName", "Namespace", "Service", "job"})
    }


@rows.of("ISS-044")
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("DCGM_FI_PROF_DRAM_ACTIVE", "140737488355328.000000"),
        ("DCGM_FI_PROF_DRAM_ACTIVE", "140737488355331"),
        ("DCGM_FI_DEV_MEMORY_TEMP", "9223372036854775792"),
        ("DCGM_FI_DEV_MEMORY_TEMP", "9223372036854775794"),
        ("DCGM_FI_DEV_MEMORY_TEMP", "9223372036854776000"),
        ("DCGM_FI_DEV_FB_USED", "2147483632"),
        ("DCGM_FI_DEV_FB_USED", "2147483635"),
    ],
)
def test_a_number_that_means_none(report: Json, name: str, value: str) -> None:
    """It is dropped and counted, for DCGM's fields alone, and unless that is switched off."""
    text = gauge(name, ('gpu="0"', value)) + gauge(UTIL, ('gpu="0"', 1))
    assert kitchen.story(kitchen.page(by_job()), text) == [f"{UTIL}=1 | dcgm_blank=1"]
    kept = kitchen.page(by_job(dcgm=Dcgm(blanks=False)))
    assert {point.name: point.value for point in points(read(kept, text))}[name] == float(value)
    other = gauge("memory_free", ('gpu="0"', value))
    assert read(kitchen.page(by_job()), other).selected == 1


@rows.of("ISS-113")
def test_two_exporters_on_one_node(report: Json) -> None:
    """What both say of one GPU are different metrics: none is ever counted twice in one."""
    plan, job = shipped()
    ours = exporter(job, namespace="gpu-operator", pod_label_app="nvidia-dcgm-exporter")
    addon = exporter(
        job,
        namespace="amazon-cloudwatch",
        pod_label_k8s_app="dcgm-exporter",
        pod_label_app_kubernetes_io_managed_by="amazon-cloudwatch-agent-operator",
    )
    text = gauge(UTIL, ('gpu="0",UUID="GPU-1",pod="p"', 5))
    found = [points(once(Page(Recipe(plan, job), one.labels), text)) for one in (ours, addon)]
    identities = [{(point.name, point.dimensions) for point in each} for each in found]
    assert all(identities)
    assert not identities[0] & identities[1]


@rows.of("ISS-113")
@pytest.mark.parametrize("preferred", [None, "nvidia-dcgm-exporter"])
def test_two_exporters_are_told_of(report: Json, preferred: str | None, tmp_path: Path) -> None:
    """The journal names both; if one is preferred, the other's profiling metrics stay."""
    profiling = "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE"
    row = 'gpu="0",UUID="GPU-1",pod="p"'
    pages = [gauge(UTIL, (row, 5)), gauge(UTIL, (row, 6)) + gauge(profiling, (row, 0.5))]
    with FakeExporter(pages[0].encode()) as ours, FakeExporter(pages[1].encode()) as addon:
        static = [
            {"targets": [ours.address], "labels": {"Service": "nvidia-dcgm-exporter"}},
            {"targets": [addon.address], "labels": {"Service": "dcgm-exporter"}},
        ]
        job = {"job_name": "dcgm", "scrape_interval": "1s", "static_configs": static}
        prefer = {"prefer": [preferred], "prefer_by": "Service"} if preferred else {}
        own = {"scrape_configs": [job], "dcgm": prefer, "events": {"emit": "scrape"}}
        both = declaration(dimensions=[["job", "Service"]], metric_selectors=["^DCGM_"])
        file = tmp_path / "agent.json"
        file.write_text(json.dumps(agent(both, own=own)))
        flags = ("--dry-run", "--scrapes", "3", "--log-format", "json")
        done = program.run("run", "-c", str(file), *flags)
    told = [each for each in done.journal if each["event"] == "gpus_told_twice"]
    ((level, urls),) = {(each["level"], (each["target"], each["other"])) for each in told}
    assert (level, sorted(urls)) == (
        "info" if preferred else "warning",
        sorted((ours.url, addon.url)),
    )
    last = [each for each in done.events if each["Service"] == "dcgm-exporter"][-1]
    assert (last.get(UTIL), last[profiling]) == (None if preferred else 6, 0.5)
    assert ("less_preferred" in done.summary) is bool(preferred)


@rows.of("ISS-135")
def test_values_of_long_ago(report: Json, caplog: pytest.LogCaptureFixture) -> None:
    """Twenty equal pages are said once, and are sent; other numbers end it."""
    witness, page = Witness(caplog), kitchen.page(by_job(dcgm=Dcgm(frozen_after=20)))
    frost = Frost(witness.observer)
    frost.follow(20)
    target = Target("dcgm", "http://10.0.0.7:9400/metrics", {}, 15.0, 10.0)
    energy = "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION"

    def scrape(joules: int) -> int:
        text = gauge(UTIL, ('gpu="0",UUID="GPU-1"', 97)) + gauge(
            energy, ('gpu="0",UUID="GPU-1"', joules)
        )
        reading = read(page, text)
        frost.feel(target, reading.pulse, kitchen.START_MS)
        assert reading.selected == reading.samples
        return len(witness.said("target_frozen"))

    assert [scrape(15_782) for _ in range(21)] == [0] * 19 + [1, 1]
    assert witness.value("cwgpu_targets_frozen", job="dcgm") == 1
    scrape(15_783)
    assert len(witness.said("target_moves")) == 1


@rows.of("ISS-132")
def test_the_node_is_that_of_the_exporters_pod(report: Json) -> None:
    """It is told by discovery, whatever the page says in Hostname."""
    plan, job = shipped()
    target = exporter(
        job, namespace="gpu", pod_label_app="nvidia-dcgm-exporter", pod_node_name="ip-10-0-0-1"
    )
    page = Page(Recipe(plan, job), target.labels)
    text = gauge(UTIL, ('gpu="0",Hostname="nvidia-dcgm-exporter-48cwd"', 5))
    (event,) = once(page, text).events
    assert b'"NodeName":"ip-10-0-0-1"' in event.message


@rows.of("ISS-164")
def test_a_label_that_newer_exporters_call_otherwise(report: Json, tmp_path: Path) -> None:
    """It has one name here, so that a dimension set fits all versions; the check says which."""
    of = kitchen.plan(declared(sets=(("ClusterName", "Hostname", "gpu"),)))
    text = gauge(UTIL, ('gpu="0",hostname="ip-10-0-0-1"', 5))
    (point,) = points(read(kitchen.page(of), text))
    assert dimensions(point)["Hostname"] == "ip-10-0-0-1"
    config = agent(declaration(dimensions=[["ClusterName", "hostname", "gpu"]]))
    said = files.write(tmp_path, config).said("label-never-set")
    assert said.help == "write Hostname"


@rows.of("ISS-168")
def test_utilisation_of_a_slice(report: Json) -> None:
    """The shipped configuration sends what tells something of slices, beside their zero."""
    plan, job = shipped()
    target = exporter(job, namespace="gpu", pod_label_app="nvidia-dcgm-exporter")
    engine = "DCGM_FI_PROF_GR_ENGINE_ACTIVE"
    labels = 'gpu="0",GPU_I_PROFILE="1g.5gb",GPU_I_ID="7",pod="p"'
    text = gauge(UTIL, (labels, 0)) + gauge(engine, (labels, 0.5))
    found = points(once(Page(Recipe(plan, job), target.labels), text))
    assert {(point.name, point.value) for point in found} == {(UTIL, 0), (engine, 0.5)}


@rows.of("ISS-043")
@pytest.mark.parametrize("value", ["808334905", "4294967295", "2619", "-1"])
def test_a_utilisation_that_cannot_be(report: Json, value: str) -> None:
    """It is dropped and counted where that is asked for, and never cut to what may be."""
    text = gauge(UTIL, ('gpu="3"', value), ('gpu="4"', 100))
    bounded = kitchen.page(by_job(dcgm=Dcgm(bounds=True)))
    assert kitchen.story(bounded, text) == [f"{UTIL}=100 | implausible=1"]
    found = points(read(kitchen.page(by_job(dcgm=Dcgm(bounds=False))), text))
    assert sorted(point.value for point in found) == sorted([float(value), 100])


@rows.of("ISS-163")
def test_fields_of_newer_exporters(report: Json) -> None:
    """Their names and units are the older ones, so that selectors and alarms go on."""
    engine, clock = "DCGM_FI_PROF_GR_ENGINE_UTIL_RATIO", "DCGM_FI_DEV_SM_CLOCK_HERTZ"
    text = "".join(
        gauge(name, ('gpu="0"', value))
        for name, value in (
            ("DCGM_FI_DEV_GPU_UTIL_RATIO", 0.87),
            (engine, 0.5),
            (clock, 1_980_000_000),
        )
    )
    selectors = f"^{UTIL}$|^DCGM_FI_PROF_GR_ENGINE_ACTIVE$|^DCGM_FI_DEV_SM_CLOCK$"
    page = kitchen.page(kitchen.plan(declared(selectors, sets=(("job",),))))
    assert {point.name: point.value for point in points(read(page, text))} == {
        UTIL: 87,
        "DCGM_FI_PROF_GR_ENGINE_ACTIVE": 0.5,
        "DCGM_FI_DEV_SM_CLOCK": 1980,
    }


@pytest.mark.parametrize(("xid", "fatal"), [(0, 0), (31, 0), (79, 1)])
@rows.of("ISS-037")
def test_an_xid_that_needs_somebody(report: Json, xid: int, fatal: int, tmp_path: Path) -> None:
    """An alarm that clears is made of a gauge: 1 while the last XID is a fatal one."""
    page = gauge("DCGM_FI_DEV_XID_ERRORS", ('gpu="0",pod="p"', xid))
    with FakeExporter(page.encode()) as exporter:
        file = tmp_path / "agent.json"
        selects, dcgm = "^cwgpu_xid_fatal$", {"xid_fatal": True}
        path = program.configuration(file, exporter.address, selects=selects, dcgm=dcgm)
        done = program.run("run", "-c", str(path), "--dry-run", "--once")
    (event,) = done.events
    assert event["cwgpu_xid_fatal"] == fatal
