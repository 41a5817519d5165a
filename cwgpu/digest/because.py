"""What a drop reason means for the one series that it befell.

The reasons themselves are few and general (``model.drop``). Here is what an operator asks next:
which rule, which label, which declaration.
"""

from dataclasses import dataclass

from cwgpu.digest.line import Dropped, Slot
from cwgpu.digest.recipe import Considered, Recipe, Series
from cwgpu.emf.delta import Treatment
from cwgpu.model.drop import DropReason
from cwgpu.model.labels import Labels

_LATER = {
    Treatment.DELTA: "from the second scrape on its increase is sent",
    Treatment.RATE: "from the second scrape on its increase per second is sent",
}


_OF_VALUES = frozenset(
    {
        DropReason.BLANK,
        DropReason.UNIT_UNKNOWN,
        DropReason.IMPLAUSIBLE,
        DropReason.NOT_FINITE,
        DropReason.OUT_OF_RANGE,
    }
)


@dataclass(frozen=True, slots=True)
class Asked:
    """The rules that are asked once more about a series that they dropped."""

    recipe: Recipe
    target_labels: Labels

    def why(self, reason: DropReason, series: Series, fate: Slot | Dropped, value: str) -> str:
        """Say why in a sentence without a full stop; nothing where the reason says it all."""
        if isinstance(fate, Slot):
            return _later(reason, fate, value)
        if reason is DropReason.UNTYPED:
            return "no TYPE line names it" if series.role is None else "its TYPE is untyped"
        if reason is DropReason.UNSELECTED and not fate.detail:
            return f"no metric_selector finds {self._called(series)}"
        return fate.detail

    def _called(self, series: Series) -> str:
        found = self.recipe.consider(series, self.target_labels)
        if isinstance(found, Considered) and found.name != series.name:
            return f"{found.name}, as it is called here"
        return "its name"


def _later(reason: DropReason, slot: Slot, value: str) -> str:
    """Explain what befell a series that declarations select."""
    if reason is DropReason.FIRST_OF_COUNTER and slot.treatment is not None:
        return _LATER[slot.treatment]
    if reason in _OF_VALUES:
        return f"the value is {value}"
    if reason is DropReason.DIMENSION_MISSING:
        return "a metric of the same event has the name of the label"
    return ""
