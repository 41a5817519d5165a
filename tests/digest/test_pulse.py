"""Whether an exporter still measures."""

from collections.abc import Sequence

import pytest

from cwgpu.digest.page import Page
from cwgpu.digest.pulse import PAGE, Stillness
from cwgpu.model.reading import Pulse
from cwgpu.plan.plan import Dcgm, Idle
from tests.digest import kitchen

ENERGY, UTIL = "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", "DCGM_FI_DEV_GPU_UTIL"
ASKED = Dcgm(frozen_after=3)


def page(dcgm: Dcgm = ASKED) -> Page:
    """A page of which nothing need be selected."""
    return kitchen.page(kitchen.plan(kitchen.declared("^none$"), dcgm=dcgm))


def body(*values: object, name: str = ENERGY, more: str = "") -> str:
    """Write the counter of some GPUs."""
    rows = (f'{name}{{UUID="GPU-{gpu}"{more}}} {value}\n' for gpu, value in enumerate(values))
    return f"# TYPE {name} counter\n{''.join(rows)}"


def energies(text: str) -> list[tuple[str, float]]:
    """Give what is felt on a page, cold and hot."""
    one = page()
    cold, hot = (kitchen.read(one, text, kitchen.START_MS + step).pulse for step in (0, 60_000))
    assert cold == hot
    assert cold is not None
    return list(cold.energies)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (body(5, 7), [("GPU-0", 5), ("GPU-1", 7)]),
        (body(5, name="DCGM_FI_DEV_GPU_ENERGY_JOULES_TOTAL"), [("GPU-0", 5000)]),
        (body(5, more=',GPU_I_ID="1"'), [("GPU-0", 5)]),
        # No value, or a counter that the GPU has not.
        (body(0, "9223372036854775794", "NaN"), []),
        (body(5).replace("UUID", "gpu"), []),
        (body(5, name=UTIL), []),
    ],
)
def test_energy_is_felt(text: str, expected: Sequence[tuple[str, float]]) -> None:
    """Of each GPU, by whatever name the exporter gives it, and of slices their GPU's."""
    assert energies(text) == expected


def test_the_page_is_felt_as_a_whole() -> None:
    """Equal pages have the same hash, others another; scraped cold or hot."""
    one = page()
    texts = [body(5, name=UTIL), body(5, name=UTIL), body(6, name=UTIL), body(5, 5, name=UTIL)]
    felt = [kitchen.read(one, text).pulse for text in texts]
    assert felt[0] == felt[1]
    assert len({pulse.page for pulse in felt if pulse}) == 3


@pytest.mark.parametrize(
    ("dcgm", "text"),
    [(Dcgm(), body(5)), (ASKED, "# TYPE up gauge\nup 1\n"), (ASKED, ""), (ASKED, "# words\n")],
    ids=["unasked", "another", "empty", "comments"],
)
def test_not_every_page_is_felt(dcgm: Dcgm, text: str) -> None:
    """Only where it is asked for, and only a page with metrics of DCGM."""
    assert kitchen.read(page(dcgm), text).pulse is None


def test_energy_makes_no_gauge() -> None:
    """What is watched for gauges of our own is the same with and without."""
    text = body(5) + body(1, name=UTIL)
    for after in (0, 3):
        found = kitchen.read(page(Dcgm(idle=Idle(), frozen_after=after)), text).watched
        assert [one.field for one in found] == [UTIL]


def still(after: int, *pulses: tuple[int, dict[str, float]]) -> list[dict[str, int]]:
    """Give what stands still at each of some scrapes, which are a second apart."""
    one = Stillness(after)
    return [
        dict(one.take(Pulse(hashed, tuple(energies.items())), at_ms))
        for at_ms, (hashed, energies) in enumerate(pulses)
    ]


def test_a_gpu_that_uses_no_energy_stands_still() -> None:
    """After so many scrapes, until it moves; others move meanwhile."""
    values = [(10, 1.0), (11, 1.0), (12, 1.0), (13, 1.0), (14, 2.0), (15, 2.0)]
    pulses = [(hashed, {"a": float(hashed), "b": energy}) for hashed, energy in values]
    assert still(3, *pulses) == [{}, {}, {"b": 0}, {"b": 0}, {}, {}]


def test_a_page_that_stands_still_is_one_thing() -> None:
    """It is said of the page, and not of each GPU on it."""
    assert still(2, *[(1, {"a": 1.0, "b": 1.0})] * 3) == [{}, {PAGE: 0}, {PAGE: 0}]
    assert still(2, (1, {}), (2, {}), (2, {}), (1, {})) == [{}, {}, {PAGE: 1}, {}]


def test_a_gpu_that_comes_back_is_counted_anew() -> None:
    """What was not there in between says nothing of what was before."""
    pulses = [(1, {"a": 1.0}), (2, {}), (3, {"a": 1.0}), (4, {"a": 1.0})]
    assert still(3, *pulses) == [{}, {}, {}, {}]
