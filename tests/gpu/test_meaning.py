"""What CloudWatch's statistics are worth when GPUs are shared, sliced, idle, or shown twice.

Each page is modelled after one that an exporter serves (``tests/data/samples``), and is read by a
page of the digest; its events are read as CloudWatch reads them. docs/gpu.md has the figures.
"""

from collections.abc import Sequence

import pytest

from cwgpu.model.drop import DropReason
from tests.digest import kitchen
from tests.docs import pages
from tests.fakes.emf import Datapoint

PAGE = "docs/gpu.md"
FLEET = ("ClusterName", "Namespace", "Service", "job")
SETS = ((*FLEET, "pod"), FLEET)
"""Those of the configuration that is shipped."""
UTIL, ENGINE = "DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_PROF_GR_ENGINE_ACTIVE"
POWER, XID = "DCGM_FI_DEV_POWER_USAGE", "DCGM_FI_DEV_XID_ERRORS"
SWITCH = "DCGM_FI_DEV_NVSWITCH_TEMPERATURE_CURRENT"


def row(gpu: int, *more: str, pod: str = "") -> str:
    """Write the labels of a GPU's row, in the exporter's order."""
    known = f'gpu="{gpu}",UUID="GPU-{gpu}",device="nvidia{gpu}",modelName="NVIDIA A10G"'
    work = f',container="main",namespace="ml",pod="{pod}"' if pod else ""
    return ",".join((known, *more)) + f',Hostname="n"{work}'


def page(name: str, rows: dict[str, float] | Sequence[tuple[str, float]]) -> str:
    """Write a family."""
    pairs = rows.items() if isinstance(rows, dict) else rows
    return f"# TYPE {name} gauge\n" + "".join(f"{name}{{{of}}} {value}\n" for of, value in pairs)


SLICES = [
    row(0, 'GPU_I_PROFILE="3g.20gb"', 'GPU_I_ID="1"', pod="a"),
    row(0, 'GPU_I_PROFILE="2g.10gb"', 'GPU_I_ID="5"'),
    row(0, 'GPU_I_PROFILE="1g.5gb"', 'GPU_I_ID="13"', pod="b"),
]
NVSWITCH = 'nvswitch="nvswitch0",Hostname="n"'

SITUATIONS: dict[str, tuple[str, list[str]]] = {
    "a pod with four of six GPUs": (
        UTIL,
        [page(UTIL, {row(gpu, pod="a" if gpu < 4 else ""): value for gpu, value in enumerate(
            (94, 99, 93, 93, 0, 0))})],
    ),
    "a shared GPU, as it comes": (UTIL, [page(UTIL, {row(0, pod="a"): 97})]),
    "a shared GPU, virtual GPUs shown": (
        UTIL,
        [page(UTIL, {row(0, 'vgpu="0"', pod="a"): 70, row(0, 'vgpu="1"', pod="b"): 70})],
    ),
    "two virtual GPUs of one pod": (
        UTIL,
        [page(UTIL, {row(0, 'vgpu="0"', pod="a"): 70, row(0, 'vgpu="1"', pod="a"): 70})],
    ),
    "a shared GPU, processes shown": (
        UTIL,
        [page(UTIL, {row(0): 90, row(0, pod="a"): 60, row(0, pod="b"): 30})],
    ),
    "MIG slices": (ENGINE, [page(ENGINE, dict(zip(SLICES, (0.75, 0, 0.12), strict=True)))]),
    "MIG slices, of their GPU": (POWER, [page(POWER, dict.fromkeys(SLICES, 168.5))]),
    "idle GPUs": (UTIL, [page(UTIL, {row(gpu): 0 for gpu in range(4)})]),
    "rows that come twice": (SWITCH, [page(SWITCH, [(NVSWITCH, value) for value in (39, 41, 40)])]),
    "a value that stays": (XID, [page(XID, {row(0, pod="a"): value}) for value in (0, 79, 79, 79)]),
}  # fmt: skip
"""By the words of the documentation: a metric, and its page at the scrapes of one minute."""


def stored(situation: str) -> list[Datapoint]:
    """Give the datapoints of a situation's minute."""
    _, texts = SITUATIONS[situation]
    one = kitchen.page(kitchen.plan(kitchen.declared(sets=SETS)))
    found = [
        kitchen.read(one, text, kitchen.START_MS + at * kitchen.STEP_MS)
        for at, text in enumerate(texts)
    ]
    return [point for reading in found for point in kitchen.points(reading)]


def values(situation: str, pod: str) -> list[float]:
    """Give the values of a pod's metric; without a pod those of the fleet's."""
    return [
        point.value for point in stored(situation) if dict(point.dimensions).get("pod", "") == pod
    ]


def statistics(of: Sequence[float]) -> str:
    """Give Average, Sum, Maximum and SampleCount, as the table has them."""
    if not of:
        return "no data"
    figures = (sum(of) / len(of), sum(of), max(of), len(of))
    return " · ".join(f"{figure:.6g}" for figure in figures)


def test_the_table_has_every_situation() -> None:
    """No more and no less, in one order."""
    assert pages.first_cells(PAGE, "## What the statistics mean") == list(SITUATIONS)


@pytest.mark.parametrize("situation", SITUATIONS)
def test_statistics_are_those_of_the_table(situation: str) -> None:
    """Average, Sum, Maximum and SampleCount, of pod a and of all GPUs, are as documented."""
    (cells,) = [
        one for one in pages.rows(PAGE, "## What the statistics mean") if one[0] == situation
    ]
    metric, texts = SITUATIONS[situation]
    assert cells[1].strip("`") == metric
    assert cells[2] == "; ".join(
        text.splitlines()[1].rpartition(" ")[2]
        if len(texts) > 1
        else " ".join(line.rpartition(" ")[2] for line in text.splitlines()[1:])
        for text in texts
    )
    assert cells[3:5] == [statistics(values(situation, "a")), statistics(values(situation, ""))]


def test_several_pods_on_one_gpu_are_never_mixed() -> None:
    """Each pod has its own row's value, whichever way the exporter shows them."""
    assert values("a shared GPU, virtual GPUs shown", "b") == [70]
    assert values("a shared GPU, processes shown", "b") == [30]
    assert values("MIG slices", "b") == [0.12]


def test_rows_that_come_twice_are_counted() -> None:
    """The last one counts; the others are named."""
    _, (text,) = SITUATIONS["rows that come twice"]
    found = kitchen.read(kitchen.page(kitchen.plan(kitchen.declared(sets=SETS))), text)
    (drop,) = found.dropped
    assert (drop.reason, drop.count, drop.names) == (DropReason.DUPLICATE, 2, (SWITCH,))


def test_a_frozen_page_is_sent_like_any_other() -> None:
    """An exporter that shows the same values again adds samples, and changes no average."""
    text = page(UTIL, {row(0, pod="a"): 97})
    one = kitchen.page(kitchen.plan(kitchen.declared(sets=SETS)))
    found = [
        point.value
        for at in range(4)
        for point in kitchen.points(kitchen.read(one, text, kitchen.START_MS + at * 15_000))
        if "pod" in dict(point.dimensions)
    ]
    assert statistics(found) == "97 · 388 · 97 · 4"
