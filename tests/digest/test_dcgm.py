"""What is done for DCGM's fields between page and event: units, ranges, labels of XIDs."""

import pytest

from cwgpu.emf.delta import Treatment
from cwgpu.model.drop import DropReason
from cwgpu.model.reading import Reading
from cwgpu.plan.plan import Dcgm, Events
from tests.digest import kitchen

GPU = 'gpu="0",UUID="GPU-1"'


def gauges(**values: object) -> str:
    """Write a page of gauges of one GPU."""
    return "".join(f"# TYPE {k} gauge\n{k}{{{GPU}}} {v}\n" for k, v in values.items())


def test_fields_of_another_unit_keep_their_old_numbers() -> None:
    """Cold and hot, a page of exporter 4.9.0 gives what 4.8.4 would have sent."""
    page = kitchen.page(kitchen.by_job())
    text = gauges(
        DCGM_FI_DEV_SM_CLOCK_HERTZ="1.695e+09",
        DCGM_FI_DEV_FB_USED_BYTES="3.2552e+10",
        DCGM_FI_DEV_GPU_UTIL_RATIO="0.29",
        DCGM_FI_DEV_GPU_TEMP_CELSIUS="63",
    )
    expected = (
        "DCGM_FI_DEV_FB_USED=31044 DCGM_FI_DEV_GPU_TEMP=63 DCGM_FI_DEV_GPU_UTIL=29 "
        "DCGM_FI_DEV_SM_CLOCK=1695"
    )
    text = text.replace("3.2552e+10", str(31044 << 20))
    for at in range(2):
        found = kitchen.read(page, text, kitchen.START_MS + at * kitchen.STEP_MS)
        assert kitchen.account(found) == expected


def test_a_counter_s_increase_has_the_old_unit() -> None:
    """Joules become millijoules before they are subtracted."""
    page = kitchen.page(kitchen.by_job())
    head = "# TYPE DCGM_FI_DEV_GPU_ENERGY_JOULES_TOTAL counter\nDCGM_FI_DEV_GPU_ENERGY_JOULES_TOTAL"
    kitchen.read(page, f"{head}{{{GPU}}} 1.8834092e+07\n")
    found = kitchen.read(page, f"{head}{{{GPU}}} 1.8834099e+07\n", kitchen.START_MS + 15_000)
    assert kitchen.account(found) == "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION=7000"


def test_what_could_be_two_numbers_is_dropped() -> None:
    """A utilisation of 1 waits for a value that tells its unit; what tells it is remembered."""
    page = kitchen.page(kitchen.by_job())
    accounts = [
        kitchen.account(kitchen.read(page, gauges(DCGM_FI_DEV_GPU_UTIL_RATIO=value), at))
        for at, value in enumerate((1, 0, 0.5, 1))
    ]
    assert accounts == [
        "| dcgm_unit_unknown=1",
        "DCGM_FI_DEV_GPU_UTIL=0",
        "DCGM_FI_DEV_GPU_UTIL=50",
        "DCGM_FI_DEV_GPU_UTIL=100",
    ]
    with_another = gauges(DCGM_FI_DEV_GPU_UTIL_RATIO=1, DCGM_FI_DEV_ENC_UTIL_RATIO=0)
    found = kitchen.read(kitchen.page(kitchen.by_job()), with_another)
    assert kitchen.account(found) == "DCGM_FI_DEV_ENC_UTIL=0 DCGM_FI_DEV_GPU_UTIL=100"


def test_a_page_that_takes_another_s_place_knows_the_unit() -> None:
    """A reload makes nobody guess anew what a 1 is."""
    plan = kitchen.by_job()
    former, page = kitchen.page(plan), kitchen.page(plan)
    kitchen.read(former, gauges(DCGM_FI_DEV_GPU_UTIL_RATIO="0.5"))
    page.adopt(former)
    found = kitchen.account(kitchen.read(page, gauges(DCGM_FI_DEV_GPU_UTIL_RATIO=1)))
    assert found == "DCGM_FI_DEV_GPU_UTIL=100"


def test_aliases_and_their_units_can_be_left() -> None:
    """Without aliases both names and values are those of the page."""
    page = kitchen.page(kitchen.by_job(dcgm=Dcgm(aliases=False, bounds=True)))
    found = kitchen.read(page, gauges(DCGM_FI_DEV_SM_CLOCK_HERTZ="2147483633"))
    assert kitchen.account(found) == "DCGM_FI_DEV_SM_CLOCK_HERTZ=2.14748e+09"


def test_blanks_are_looked_for_before_the_unit_changes() -> None:
    """A blank of the new field is none of the old one's numbers; a large count of bytes is none."""
    page = kitchen.page(kitchen.by_job())
    text = gauges(
        DCGM_FI_DEV_ENC_UTIL_RATIO="140737488355328.0", DCGM_FI_DEV_FB_USED_BYTES="2147483648"
    )
    assert kitchen.account(kitchen.read(page, text)) == "DCGM_FI_DEV_FB_USED=2048 | dcgm_blank=1"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("808334905", "| implausible=1"),
        ("4294967295", "| implausible=1"),
        ("2619", "| implausible=1"),
        ("-1", "| implausible=1"),
        ("NaN", "| not_finite=1"),
        ("100", "DCGM_FI_DEV_GPU_UTIL=100"),
    ],
)
def test_bounds(value: str, expected: str) -> None:
    """Where they are asked for, what cannot be is dropped and counted, cold and hot."""
    page = kitchen.page(kitchen.by_job(dcgm=Dcgm(bounds=True)))
    text = gauges(DCGM_FI_DEV_GPU_UTIL=value)
    for at_ms in (kitchen.START_MS, kitchen.START_MS + 15_000):
        assert kitchen.account(kitchen.read(page, text, at_ms)) == expected
    if value == "2619":
        without = kitchen.read(kitchen.page(kitchen.by_job()), text)
        assert kitchen.account(without) == "DCGM_FI_DEV_GPU_UTIL=2619"


def test_what_is_in_range_is_sent_as_written() -> None:
    """A check changes no digit of a value."""
    page = kitchen.page(kitchen.by_job(dcgm=Dcgm(bounds=True)))
    found = kitchen.read(page, gauges(DCGM_FI_DEV_POWER_USAGE="168.402000"))
    assert b"168.402000" in found.events[0].message


def units(dcgm: Dcgm, **emf: object) -> dict[str, str | None]:
    """Give the units that a page's metrics have in CloudWatch."""
    page = kitchen.page(kitchen.by_job(dcgm=dcgm, **emf))
    text = gauges(DCGM_FI_DEV_GPU_UTIL="5", DCGM_FI_DEV_FB_USED="7", DCGM_FI_DEV_POWER_USAGE="9")
    replay = "# TYPE DCGM_FI_DEV_PCIE_REPLAY_COUNTER counter\n"
    replay += f"DCGM_FI_DEV_PCIE_REPLAY_COUNTER{{{GPU}}} "
    kitchen.read(page, f"{text}{replay}1\n")
    found = kitchen.read(page, f"{text}{replay}31\n", kitchen.START_MS + 15_000)
    return {one.name.removeprefix("DCGM_FI_DEV_"): one.unit for one in kitchen.points(found)}


def test_units_are_given_where_nobody_set_one() -> None:
    """CloudWatch's unit of the field, unless metric_unit names the metric; off by default."""
    assert set(units(Dcgm()).values()) == {None}
    assert units(Dcgm(units=True), units={"DCGM_FI_DEV_FB_USED": "Bytes"}) == {
        "GPU_UTIL": "Percent",
        "FB_USED": "Bytes",
        "POWER_USAGE": None,
        "PCIE_REPLAY_COUNTER": "Count",
    }
    rates = ((lambda name: name.endswith("COUNTER"), Treatment.RATE),)
    found = units(Dcgm(units=True), counters=rates)
    assert found["PCIE_REPLAY_COUNTER"] == "Count/Second"


XID = 'DCGM_FI_DEV_XID_ERRORS{gpu="0",err_code="13",err_msg="Graphics Engine Exception"} 13\n'


def labels(reading: Reading) -> set[bytes]:
    """Give which labels of an XID the events show."""
    (event,) = reading.events
    return {name for name in (b"err_code", b"err_msg") if name in event.message}


def test_an_xid_s_words_split_no_event() -> None:
    """They say what the value says; without them the XID is in its GPU's event."""
    text = f'# TYPE DCGM_FI_DEV_XID_ERRORS gauge\n{XID}# TYPE a gauge\na{{gpu="0"}} 1\n'
    assert labels(kitchen.read(kitchen.page(kitchen.by_job()), text)) == set()
    unpaired = kitchen.read(kitchen.page(kitchen.by_job(dcgm=Dcgm(labels=False))), text)
    assert len(unpaired.events) == 2


def test_an_xid_s_words_stay_where_they_are_asked_for() -> None:
    """In a dimension set, by a matcher, among the labels to keep, or with all in the log."""
    text = f"# TYPE DCGM_FI_DEV_XID_ERRORS gauge\n{XID}"
    dimension = kitchen.plan(kitchen.declared(sets=(("job", "err_code"),)))
    assert labels(kitchen.read(kitchen.page(dimension), text)) == {b"err_code"}
    matcher = kitchen.plan(kitchen.declared(sets=kitchen.JOB, source="err_msg", matcher="Engine"))
    assert labels(kitchen.read(kitchen.page(matcher), text)) == {b"err_msg"}
    kept = kitchen.by_job(events=Events(labels=("err_msg",)))
    assert labels(kitchen.read(kitchen.page(kept), text)) == {b"err_msg"}
    logged = kitchen.by_job(log_unselected=True)
    assert labels(kitchen.read(kitchen.page(logged), text)) == {b"err_code", b"err_msg"}


def test_an_unknown_unit_is_told_of() -> None:
    """The reading names the metric and the reason."""
    found = kitchen.read(kitchen.page(kitchen.by_job()), gauges(DCGM_FI_DEV_GPU_UTIL_RATIO=1))
    (drop,) = found.dropped
    assert (drop.reason, drop.names) == (
        DropReason.UNIT_UNKNOWN,
        ("DCGM_FI_DEV_GPU_UTIL_RATIO",),
    )
