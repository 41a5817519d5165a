"""Gauges of our own about GPUs: fatal XIDs, and GPUs that do nothing for their pod."""

from dataclasses import replace

import pytest

from cwgpu.digest import derived
from cwgpu.digest.derived import Gauges
from cwgpu.digest.page import Page
from cwgpu.model.reading import Watched
from cwgpu.plan.plan import Dcgm, Idle
from cwgpu.prom import relabel
from tests.digest import kitchen

BOTH = Dcgm(xid_fatal=True, idle=Idle(5.0, 900.0))
MINUTE_MS = 60_000


def page(dcgm: Dcgm = BOTH, **job: object) -> Page:
    """A page that selects nothing, so that only what is watched is of interest."""
    return kitchen.page(kitchen.plan(kitchen.declared("^none$"), dcgm=dcgm), None, **job)


def watched(text: str, dcgm: Dcgm = BOTH, **job: object) -> list[tuple[str, float, bool]]:
    """Give field, value and whether there is a pod of what is watched, cold and hot."""
    one = page(dcgm, **job)
    cold = kitchen.read(one, text).watched
    assert kitchen.read(one, text, kitchen.START_MS + kitchen.STEP_MS).watched == cold
    return [(each.field.removeprefix("DCGM_FI_"), each.value, each.has_pod) for each in cold]


def gauge(name: str, labels: str, value: object) -> str:
    """Write a line with its type."""
    return f"# TYPE {name} gauge\n{name}{{{labels}}} {value}\n"


ROW = 'gpu="0",UUID="GPU-1"'
POD = f'{ROW},pod="p"'
SLICE = f'{POD},GPU_I_ID="7"'


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (gauge("DCGM_FI_DEV_GPU_UTIL", POD, 97), [("DEV_GPU_UTIL", 97, True)]),
        (gauge("DCGM_FI_DEV_GPU_UTIL", ROW, 0), [("DEV_GPU_UTIL", 0, False)]),
        (gauge("DCGM_FI_DEV_GPU_UTIL", f'{ROW},pod=""', 0), [("DEV_GPU_UTIL", 0, False)]),
        (gauge("DCGM_FI_DEV_GPU_UTIL", f'{ROW},pod_name="p"', 0), [("DEV_GPU_UTIL", 0, True)]),
        (gauge("DCGM_FI_DEV_GPU_UTIL_RATIO", POD, 0.5), [("DEV_GPU_UTIL", 50, True)]),
        # Of a MIG slice there is the engine's activity; its utilisation is 0 by design.
        (gauge("DCGM_FI_DEV_GPU_UTIL", SLICE, 0), []),
        (
            gauge("DCGM_FI_PROF_GR_ENGINE_ACTIVE", SLICE, 0.25),
            [("PROF_GR_ENGINE_ACTIVE", 25, True)],
        ),
        (gauge("DCGM_FI_PROF_GR_ENGINE_ACTIVE", POD, 0.25), []),
        (gauge("DCGM_FI_DEV_XID_ERROR", POD, 79), [("DEV_XID_ERRORS", 79, True)]),
        # No value, or none that can be.
        (gauge("DCGM_FI_DEV_GPU_UTIL", POD, 2147483632), []),
        (gauge("DCGM_FI_DEV_GPU_UTIL", POD, 808334905), []),
        (gauge("DCGM_FI_DEV_GPU_UTIL", POD, "NaN"), []),
        (gauge("DCGM_FI_DEV_GPU_UTIL_RATIO", POD, 1), []),
        (gauge("DCGM_FI_DEV_GPU_TEMP", POD, 1), []),
    ],
)
def test_what_is_watched(text: str, expected: list[tuple[str, float, bool]]) -> None:
    """One field for each question, in percent, whatever the declarations select."""
    assert watched(text) == expected


def test_nothing_is_watched_unless_asked() -> None:
    """Each of the two by itself, and neither by default."""
    text = gauge("DCGM_FI_DEV_GPU_UTIL", POD, 9) + gauge("DCGM_FI_DEV_XID_ERRORS", POD, 79)
    assert watched(text, Dcgm()) == []
    assert watched(text, Dcgm(xid_fatal=True)) == [("DEV_XID_ERRORS", 79, True)]
    assert watched(text, Dcgm(idle=Idle())) == [("DEV_GPU_UTIL", 9, True)]


def test_a_row_that_relabelling_drops_is_not_watched() -> None:
    """Others have the labels that it leaves, and never those that come with an XID."""
    drop = relabel.rule(source_labels=("pod",), action="drop", regex="p")
    assert watched(gauge("DCGM_FI_DEV_GPU_UTIL", POD, 9), metric_relabel=(drop,)) == []
    keep = relabel.rule(action="labeldrop", regex="UUID|Namespace")
    text = gauge("DCGM_FI_DEV_XID_ERRORS", f'{POD},err_code="79",err_msg="off the bus"', 79)
    (found,) = kitchen.read(page(metric_relabel=(keep,)), text).watched
    assert found.labels == (
        ("Service", "dcgm-exporter"),
        ("gpu", "0"),
        ("job", "dcgm"),
        ("pod", "p"),
    )


LABELS = (("gpu", "0"), ("job", "dcgm"), ("pod", "p"))
UTIL = Watched("DCGM_FI_DEV_GPU_UTIL", LABELS, 0.0, has_pod=True)
XID = Watched("DCGM_FI_DEV_XID_ERRORS", LABELS, 79.0, has_pod=True)


def idle(story: list[tuple[float, float | None]], row: Watched = UTIL) -> str:
    """Give the gauge at these minutes with these utilisations; "-" where there is none."""
    gauges = Gauges(Idle(5.0, 900.0), 60.0)
    found = []
    for minute, value in story:
        seen = () if value is None else (replace(row, value=value),)
        text = gauges.page(seen, int(minute * MINUTE_MS), {}).decode()
        found.append(text[-2:].strip() if text else "-")
    return "".join(found)


def test_idle_is_below_for_the_whole_window() -> None:
    """1 from the end of the first window on, until the first value that is not below."""
    low = [(minute, 4.9) for minute in range(18)]
    assert idle([*low, (18, 5.0), (19, 0.0)]) == "0" * 15 + "111" + "00"


def test_a_gpu_without_a_pod_is_not_idle() -> None:
    """Nobody pays for it by asking for it."""
    spare = replace(UTIL, has_pod=False)
    assert idle([(minute, 0.0) for minute in range(20)], spare) == "0" * 20


def test_a_gap_begins_the_window_anew() -> None:
    """Two scrapes may be missed: what the GPU did in a longer time nobody knows."""
    low = [(float(minute), 0.0) for minute in range(15)]
    assert idle([*low, (17, 0.0)]) == "0" * 15 + "1"
    assert idle([*low, (18.1, 0.0)]) == "0" * 16
    assert idle([*low, (15, None), (16, None), (17, 0.0)]) == "0" * 15 + "--1"
    # So does a clock that was set back.
    assert idle([*low, (2, 0.0), (3, 0.0)]) == "0" * 17


def test_another_pod_has_a_window_of_its_own() -> None:
    """A pod that comes to an idle GPU is not idle from the start."""
    gauges = Gauges(Idle(5.0, 60.0), 60.0)
    other = replace(UTIL, labels=(*LABELS[:-1], ("pod", "q")))
    texts = [
        gauges.page((row,), minute * MINUTE_MS, {}).decode()[-2]
        for minute, row in enumerate((UTIL, UTIL, other, other))
    ]
    assert texts == ["0", "1", "0", "1"]


def test_fatal_xids() -> None:
    """1 while the last XID is a fatal one; of rows with the same labels any."""
    gauges = Gauges(None, 60.0)
    text = gauges.page((XID, replace(XID, value=0.0)), 0, {})
    assert text.decode() == (
        '# TYPE cwgpu_xid_fatal gauge\ncwgpu_xid_fatal{"gpu"="0","job"="dcgm","pod"="p"} 1\n'
    )
    assert gauges.page((replace(XID, value=13.0),), 0, {}).endswith(b" 0\n")


def test_gauges_are_read_with_the_row_s_own_labels() -> None:
    """Odd names and values come through; a target's label that the row lacks is gone."""
    row = (("a.b", 'x"\\\n'), ("job", "dcgm"), ("pod", "p"))
    text = Gauges(None, 60.0).page((replace(XID, labels=row),), 0, kitchen.TARGET)
    target = kitchen.page(kitchen.by_job(log_unselected=True), honor_labels=True)
    (event,) = kitchen.read(target, text).events
    assert b'"a.b":"x\\"\\\\\\n"' in event.message
    assert b"Service" not in event.message
    assert b'"cwgpu_xid_fatal":1' in event.message


def test_names_are_those_that_the_documentation_has() -> None:
    """Declarations select by them."""
    assert (derived.XID_FATAL, derived.GPU_IDLE) == ("cwgpu_xid_fatal", "cwgpu_gpu_idle")
