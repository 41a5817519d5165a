"""Pages of the simulated exporters: their shape, and how they move."""

import functools
import itertools
import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from cwgpu.simulate.page import Fleet

# HELP and TYPE of a page of dcgm-exporter 4.8.1 with its default counters.
FAMILIES = (Path(__file__).parents[1] / "data" / "simulate" / "families-4.8.1.prom").read_text()
TIMES = [step * 2.5 for step in range(40)]
# Printed as a counter by the exporter, and yet a rate.
RATE = "DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL"
NOT_IN_MIG = {
    "DCGM_FI_DEV_GPU_UTIL",
    "DCGM_FI_DEV_MEM_COPY_UTIL",
    "DCGM_FI_DEV_ENC_UTIL",
    "DCGM_FI_DEV_DEC_UTIL",
    "DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS",
    "DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS",
    "DCGM_FI_DEV_ROW_REMAP_FAILURE",
    RATE,
    "DCGM_FI_PROF_PCIE_TX_BYTES",
    "DCGM_FI_PROF_PCIE_RX_BYTES",
}
GPU = "gpu UUID pci_bus_id device modelName"
NODE = "Hostname DCGM_FI_DRIVER_VERSION"
FLEET = Fleet(nodes=2, gpus=8)

Key = tuple[str, str, str, str]


@dataclass(frozen=True)
class Sample:
    """One line of a page."""

    name: str
    labels: Mapping[str, str]
    value: float


def samples(page: bytes) -> list[Sample]:
    """Read a page whose label values need no escapes."""
    return [
        Sample(name, dict(re.findall(r'(\w+)="([^"]*)"', labels)), float(value))
        for name, labels, value in re.findall(r"^(\w+)\{(.*)\} (\S+)$", page.decode(), re.MULTILINE)
    ]


@functools.cache
def cluster(at_s: float, fleet: Fleet = FLEET) -> list[Sample]:
    """Give the samples of all nodes."""
    return [one for node in range(fleet.nodes) for one in samples(fleet.page(node, at_s))]


def key(sample: Sample) -> Key:
    """Name a series by what does not change with pods and errors."""
    label = sample.labels
    return (sample.name, label["Hostname"], label["UUID"], label.get("GPU_I_ID", ""))


def by_name(name: str, at_s: float = 0.0, fleet: Fleet = FLEET) -> list[Sample]:
    """Give the samples of one metric."""
    return [sample for sample in cluster(at_s, fleet) if sample.name == name]


def test_a_page_is_exposition_text() -> None:
    """An independent parser reads the same samples from it."""
    for node in range(FLEET.nodes):
        page = FLEET.page(node, 17.0)
        families = text_string_to_metric_families(page.decode())
        # The parser gives counters the suffix that OpenMetrics wants.
        read = [
            Sample(one.name.removesuffix("_total"), one.labels, one.value)
            for family in families
            for one in family.samples
        ]
        assert read == samples(page)


def test_families_are_those_of_the_exporter() -> None:
    """Names, order, types and help texts are those of the real exporter's default counters."""
    for node in range(FLEET.nodes):
        lines = FLEET.page(node, 0.0).decode().splitlines(keepends=True)
        assert "".join(line for line in lines if line.startswith("#")) == FAMILIES


@pytest.mark.parametrize(
    ("node", "start", "names"),
    [
        (0, "DCGM_FI_DEV_GPU_TEMP",
         f"{GPU} {NODE} container namespace pod"),
        (0, "DCGM_FI_DEV_XID_ERRORS",
         f"{GPU} {NODE} container err_code err_msg namespace pod"),
        (1, 'DCGM_FI_DEV_GPU_TEMP{gpu="6"',
         f"{GPU} GPU_I_PROFILE GPU_I_ID {NODE} container namespace pod"),
        (1, 'DCGM_FI_DEV_GPU_TEMP{gpu="7"',
         f"{GPU} {NODE}"),
        (1, 'DCGM_FI_DEV_XID_ERRORS{gpu="7"',
         f"{GPU} {NODE} err_code err_msg"),
    ],
)  # fmt: skip
def test_labels_come_in_the_exporters_order(node: int, start: str, names: str) -> None:
    """Identity first, then the node's labels, then sorted what belongs to the pod or the error."""
    line = next(
        line for line in FLEET.page(node, 0.0).decode().splitlines() if line.startswith(start)
    )
    assert re.findall(r'[{,](\w+)="', line) == names.split()


def test_numbers_are_whole_or_have_six_decimals() -> None:
    """Each family prints its numbers in one way, as %d or %f."""
    shapes = defaultdict(set)
    for line in FLEET.page(0, 3.0).decode().splitlines():
        if not line.startswith("#"):
            shapes[line.split("{")[0]].add(
                "f" if re.fullmatch(r"\d+\.\d{6}", line.rsplit(" ", 1)[1])
                else "d" if re.fullmatch(r"\d+", line.rsplit(" ", 1)[1]) else line
            )  # fmt: skip
    floats = {name for name, shape in shapes.items() if shape == {"f"}}
    assert floats == {
        "DCGM_FI_DEV_POWER_USAGE",
        "DCGM_FI_PROF_GR_ENGINE_ACTIVE",
        "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE",
        "DCGM_FI_PROF_DRAM_ACTIVE",
    }
    assert all(shapes[name] == {"d"} for name in shapes.keys() - floats)


def test_a_cluster_has_one_idle_gpu_and_one_in_mig_mode() -> None:
    """Every other GPU is one pod's, some pods have several GPUs of a node, and others one."""
    rows = by_name("DCGM_FI_DEV_GPU_TEMP")
    whole = [row.labels for row in rows if "GPU_I_ID" not in row.labels]
    instances = [row.labels for row in rows if "GPU_I_ID" in row.labels]
    assert len({row.labels["UUID"] for row in rows}) == 16
    assert len(instances) == 2
    assert len({row["UUID"] for row in instances}) == 1
    assert len({(row["GPU_I_PROFILE"], row["GPU_I_ID"], row["pod"]) for row in instances}) == 2
    idle = [row for row in whole if not {"pod", "namespace", "container"} & row.keys()]
    assert len(idle) == 1
    pods = defaultdict(list)
    for row in whole:
        if row not in idle:
            assert all(row[name] for name in ("pod", "namespace", "container"))
            pods[row["Hostname"], row["namespace"], row["pod"]].append(row["gpu"])
    assert sorted(len(gpus) for gpus in pods.values()) == [1] * 7 + [3, 4]
    assert len({namespace for _, namespace, _ in pods}) >= 3


def test_instances_lack_what_mig_mode_lacks() -> None:
    """A GPU in MIG mode has no utilisation, PCIe traffic, NVLink or remapped rows."""
    names = {row.name for row in cluster(0.0) if "GPU_I_ID" in row.labels}
    every = {row.name for row in cluster(0.0)}
    assert names == every - NOT_IN_MIG


def test_an_xid_appears_after_some_seconds_and_stays() -> None:
    """One GPU of the cluster reports an error, with its code and words, until the end."""
    for at_s in (0.0, 5.0):
        assert {row.value for row in by_name("DCGM_FI_DEV_XID_ERRORS", at_s)} == {0.0}
    for at_s in (10.0, 1000.0):
        rows = by_name("DCGM_FI_DEV_XID_ERRORS", at_s)
        (failed,) = [row for row in rows if row.value]
        assert failed.value == 13.0
        assert failed.labels["err_code"] == "13"
        assert failed.labels["err_msg"] == "Graphics Engine Exception"
        others = [row.labels for row in rows if row is not failed]
        assert {(row["err_code"], row["err_msg"]) for row in others} == {("0", "No Error")}


def test_counters_never_go_down() -> None:
    """From page to page a counter keeps or grows; energy grows, even on the idle GPU."""
    counters = {line.split()[2] for line in FAMILIES.splitlines() if line.endswith(" counter")} - {
        RATE
    }
    pages = [{key(row): row.value for row in cluster(at_s)} for at_s in TIMES]
    for before, after in itertools.pairwise(pages):
        assert before.keys() == after.keys()
        for series, value in after.items():
            if series[0] in counters:
                assert value >= before[series]
            if series[0] == "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION":
                assert value > before[series]
    grown = {series[0] for series in pages[0] if pages[-1][series] > pages[0][series]} & counters
    assert grown == {"DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", "DCGM_FI_DEV_PCIE_REPLAY_COUNTER"}


def test_energy_is_the_integral_of_power() -> None:
    """Between two pages the energy counter grows by the power in between."""
    early, late = 17.0, 17.1
    powers = {key(row)[1:]: row.value for row in by_name("DCGM_FI_DEV_POWER_USAGE", 17.05)}
    before, after = (
        {key(row)[1:]: row.value for row in by_name("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", at_s)}
        for at_s in (early, late)
    )
    for series, watts in powers.items():
        joules = (after[series] - before[series]) / 1000
        assert joules / (late - early) == pytest.approx(watts, rel=0.01)


def test_values_are_plausible() -> None:
    """All that moves stays within what an H100 shows."""
    bounds = {
        "DCGM_FI_DEV_SM_CLOCK": (345, 1980),
        "DCGM_FI_DEV_MEMORY_TEMP": (40, 85),
        "DCGM_FI_DEV_GPU_TEMP": (30, 75),
        "DCGM_FI_DEV_POWER_USAGE": (60, 700),
        "DCGM_FI_DEV_GPU_UTIL": (0, 100),
        "DCGM_FI_DEV_MEM_COPY_UTIL": (0, 100),
        "DCGM_FI_DEV_FB_USED": (0, 81559),
        "DCGM_FI_DEV_FB_FREE": (0, 81559),
        "DCGM_FI_PROF_GR_ENGINE_ACTIVE": (0, 1),
        "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE": (0, 1),
        "DCGM_FI_PROF_DRAM_ACTIVE": (0, 1),
    }
    for at_s in TIMES:
        for row in cluster(at_s):
            low, high = bounds.get(row.name, (0, float("inf")))
            assert low <= row.value <= high


def test_memory_adds_up() -> None:
    """Free, used and reserved memory are always what the card has."""
    for at_s in TIMES:
        sums: dict[tuple[str, ...], float] = defaultdict(float)
        for row in cluster(at_s):
            if "_FB_" in row.name:
                sums[key(row)[1:]] += row.value
        assert set(sums.values()) == {81559.0, 40448.0 - 0.0} or set(sums.values()) == {
            81559.0,
            40512.0,
        }


def test_load_comes_and_goes_every_20_seconds() -> None:
    """Some GPUs work for 20 seconds and rest for 20; the idle one never works."""
    busy: dict[Key, list[float]] = defaultdict(list)
    for second in range(0, 80, 2):
        for row in by_name("DCGM_FI_DEV_GPU_UTIL", float(second)):
            busy[key(row)].append(row.value)
    bursts = [values for values in busy.values() if 0.0 in values and max(values) > 90]
    assert len(bursts) == 7
    for values in bursts:
        assert values[:20] == values[20:]
        assert 7 <= values[:20].count(0.0) <= 10
    assert [0.0] * 40 in busy.values()


def test_equal_times_give_equal_pages() -> None:
    """A page depends on nothing but the fleet, the node and the time."""
    assert FLEET.page(1, 12.5) == Fleet(nodes=2, gpus=8).page(1, 12.5)
    assert FLEET.page(1, 12.5) != FLEET.page(1, 13.5)
    assert FLEET.page(1, 12.5) != FLEET.page(0, 12.5)


@pytest.mark.parametrize(
    ("nodes", "gpus", "idle", "instances"),
    [(1, 1, 0, 0), (2, 1, 1, 0), (1, 2, 1, 0), (3, 1, 1, 2), (1, 3, 1, 2), (2, 2, 1, 2),
     (20, 16, 1, 2)],
)  # fmt: skip
def test_fleets_of_any_size(nodes: int, gpus: int, idle: int, instances: int) -> None:
    """Small clusters do without what they have no room for; no two GPUs are the same one."""
    fleet = Fleet(nodes, gpus)
    rows = by_name("DCGM_FI_DEV_XID_ERRORS", 60.0, fleet)
    assert len({row.labels["UUID"] for row in rows}) == nodes * gpus
    assert len([row for row in rows if "pod" not in row.labels]) == idle
    assert len([row for row in rows if "GPU_I_ID" in row.labels]) == instances
    assert len([row for row in rows if row.value == 13.0]) == 1


@pytest.mark.parametrize(("nodes", "gpus"), [(0, 8), (2, 0), (-1, 1)])
def test_a_fleet_has_gpus(nodes: int, gpus: int) -> None:
    """A fleet without a GPU is refused."""
    with pytest.raises(ValueError, match=f"{nodes} nodes with {gpus} GPUs"):
        Fleet(nodes, gpus)
