"""What CloudWatch asks for, from a file with a date: prices change, and regions differ.

The package has one file of list prices, which nobody has compared with a bill. Another in its place
is read by the same rules; docs/cost.md describes the form.
"""

import difflib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from cwgpu.model.errors import UsageError
from cwgpu.telemetry import escape

PACKAGED = Path(__file__).with_name("prices.json")
# Of a file whose prices somebody wrote by hand; ours has one kilobyte.
_LARGEST_BYTES = 1 << 20
_TIER = ("metrics", "usd_per_month")
# No price is as high, and no tier as wide: a million dollars, a billion of billions of metrics.
_DEAREST = 1e6
_WIDEST = 10**18
# Of what was found in place of what was wanted: enough to find it by.
_SHOWN = 60


@dataclass(frozen=True, slots=True)
class Tier:
    """So many custom metrics at this price."""

    metrics: float
    """Infinite in the last tier."""
    usd_per_month: float


@dataclass(frozen=True, slots=True)
class Prices:
    """A price list."""

    date: str
    region: str
    sources: tuple[str, ...]
    custom_metrics: tuple[Tier, ...]
    """In their order; each begins where the one before ends."""
    log_ingestion_usd_per_gb: float
    log_storage_usd_per_gb_month: float
    log_storage_ratio: float
    """Stored bytes of one that was ingested: what is stored is compressed."""


def read(path: Path) -> Prices:
    """Read a price list; UsageError says what is wrong with it, and where."""
    try:
        with path.open("rb") as file:
            data = file.read(_LARGEST_BYTES)
        document = json.loads(data)
    except OSError as error:
        raise UsageError(f"--prices {path} cannot be read: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path}: no JSON: {error}; see docs/cost.md for the form") from error
    return _Reader(str(path)).prices(document)


@dataclass(frozen=True, slots=True)
class _Reader:
    """Takes values out of the document, or says what is wrong with them."""

    name: str

    def prices(self, document: object) -> Prices:
        members = self._object(document, "", tuple(Prices.__dataclass_fields__))
        return Prices(
            date=self._text(members["date"], "date"),
            region=self._text(members["region"], "region"),
            sources=tuple(
                self._text(each, f"sources[{at}]")
                for at, each in enumerate(self._list(members["sources"], "sources"))
            ),
            custom_metrics=self._tiers(members["custom_metrics"]),
            log_ingestion_usd_per_gb=self._price(members, "log_ingestion_usd_per_gb"),
            log_storage_usd_per_gb_month=self._price(members, "log_storage_usd_per_gb_month"),
            log_storage_ratio=self._price(members, "log_storage_ratio"),
        )

    def _tiers(self, value: object) -> tuple[Tier, ...]:
        written = self._list(value, "custom_metrics")
        made = []
        for at, each in enumerate(written):
            where = f"custom_metrics[{at}]"
            members = self._object(each, where, _TIER)
            price = self._price(members, "usd_per_month", f"{where}.")
            made.append(Tier(self._room(members["metrics"], where, len(written) - 1 - at), price))
        return tuple(made)

    def _room(self, value: object, where: str, after: int) -> float:
        """Read how many metrics a tier has room for, which is followed by so many tiers."""
        if not after and value is None:
            return math.inf
        if (
            not after
            or isinstance(value, bool)
            or not isinstance(value, int)
            or not 0 < value <= _WIDEST
        ):
            of_last = "null, because the last tier has no end"
            self._fail(f"{where}.metrics", value, "a whole number" if after else of_last)
        return float(value)

    def _object(self, value: object, where: str, names: tuple[str, ...]) -> Mapping[str, Any]:
        if not isinstance(value, dict):
            self._fail(where, value, f"an object with {', '.join(names)}")
        prefix = f"{where}." if where else ""
        for name in value:
            if name not in names:
                close = difflib.get_close_matches(name, names, n=1)
                advice = f"write {close[0]}" if close else f"known are {', '.join(names)}"
                raise UsageError(f"{self.name}: {prefix}{name} is no member: {advice}")
        for name in names:
            if name not in value:
                raise UsageError(f"{self.name}: {prefix}{name} is missing: see docs/cost.md")
        return value

    def _list(self, value: object, where: str) -> list[object]:
        if not isinstance(value, list) or not value:
            self._fail(where, value, "a list that is not empty")
        return value

    def _text(self, value: object, where: str) -> str:
        if not isinstance(value, str) or not value.isprintable() or not value:
            self._fail(where, value, "a text of one line")
        return value

    def _price(self, members: Mapping[str, Any], name: str, prefix: str = "") -> float:
        value = members[name]
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if not number or not 0 <= value <= _DEAREST:
            self._fail(prefix + name, value, "a number from 0 to a million, such as 0.5")
        return float(value)

    def _fail(self, where: str, value: object, wanted: str) -> NoReturn:
        place = f"{where} is" if where else "the file holds"
        found = json.dumps(value)
        raise UsageError(f"{self.name}: {place} {escape.cut(found, _SHOWN)}, wanted {wanted}")
