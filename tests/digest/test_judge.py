"""From values to texts: with fewer decimals, if asked."""

import json
from typing import Any

from cwgpu.emf.delta import Treatment
from cwgpu.model.drop import DropReason
from cwgpu.model.reading import Drop
from cwgpu.plan.plan import Events
from tests.digest import kitchen

THREE = Events(decimals=3)


def sent(text: str, events: Events = THREE, **emf: Any) -> dict[str, float]:  # noqa: ANN401 - fields of Emf
    """Read a page twice, and give what the second event says."""
    page = kitchen.page(kitchen.by_job(events=events, **emf))
    for step in range(2):
        reading = kitchen.read(page, text, kitchen.START_MS + step * kitchen.STEP_MS)
    (event,) = reading.events
    message = json.loads(event.message)
    return {name: value for name, value in message.items() if isinstance(value, int | float)}


def test_values_are_rounded() -> None:
    """Those that are not whole and have more decimals."""
    text = "# TYPE DCGM_A gauge\n# TYPE DCGM_B gauge\nDCGM_A 0.1237\nDCGM_B 1234567\n"
    assert sent(text) == {"DCGM_A": 0.124, "DCGM_B": 1234567}
    assert sent(text, Events(decimals=0)) == {"DCGM_A": 0, "DCGM_B": 1234567}
    assert sent(text, Events()) == {"DCGM_A": 0.1237, "DCGM_B": 1234567}


def test_what_is_counted_is_rounded_last() -> None:
    """A rate is made of whole totals and written short."""
    rate = ((lambda _: True, Treatment.RATE),)
    page = kitchen.page(kitchen.by_job(events=THREE, counters=rate))
    for step, total in enumerate((0, 10)):
        text = f"# TYPE DCGM_C counter\nDCGM_C {total}\n"
        reading = kitchen.read(page, text, kitchen.START_MS + step * kitchen.STEP_MS)
    assert kitchen.account(reading) == "DCGM_C=0.667"


def test_what_is_lost_is_not_rounded() -> None:
    """NaN is no number, whatever the precision."""
    text = "# TYPE DCGM_A gauge\n# TYPE DCGM_B gauge\nDCGM_A NaN\nDCGM_B 0.12345\n"
    assert sent(text) == {"DCGM_B": 0.123}


def test_what_cannot_be_sent_is_told_in_the_pages_order() -> None:
    """Values that are converted, and those that are sent as they are."""
    fields = ("DCGM_FI_DEV_FB_USED_BYTES", "DCGM_A", "DCGM_FI_DEV_FB_FREE_BYTES")
    text = "".join(f"# TYPE {name} gauge\n{name} 1e300\n" for name in fields)
    (drop,) = kitchen.read(kitchen.page(kitchen.by_job()), text).dropped
    assert drop == Drop(DropReason.OUT_OF_RANGE, len(fields), fields)
