"""CloudWatch's side of the embedded metric format: a log message becomes datapoints or a reason.

Written from the specification only, never from ``cwgpu.emf``, so that an error there is not
repeated here:
https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html

Stricter than the service in one way: one fault anywhere and the whole message gives no datapoint.
AWS only says that a fault "can" drop several metrics.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS

METRICS_IN_EVENT = 100
"""Of a directive in the specification, of a log event in the quotas."""
SET_SIZE = 30
MEMBERS_OF_ARRAY = 100
LARGEST = 2.0**360
"""PutMetricData: values are between -2^360 and 2^360."""
NAMESPACE = re.compile(r"[a-zA-Z0-9._#:/-]{1,255}")
KEY_LENGTH = 250
VALUE_LENGTH = 1024
METRIC_NAME_LENGTH = 255
_LARGE = ("", "kilo", "mega", "giga", "tera")
_SIZES = [f"{large}{size}".capitalize() for large in _LARGE for size in ("bytes", "bits")]
UNITS = frozenset(
    ["Seconds", "Microseconds", "Milliseconds", "Percent", "Count", "Count/Second", "None"]
    + [f"{size}{per}" for size in _SIZES for per in ("", "/Second")],
)
"""StandardUnit of the CloudWatch API."""


@dataclass(frozen=True, slots=True)
class Datapoint:
    """One value of one CloudWatch metric at one time."""

    namespace: str
    dimensions: frozenset[tuple[str, str]]
    name: str
    value: float
    at_ms: int
    unit: str | None = None
    """None when unsaid or ``"None"``, which is the same."""
    resolution: int = 60


@dataclass(frozen=True, slots=True)
class Extracted:
    """What one message gives. Both are empty for an ordinary log line."""

    datapoints: tuple[Datapoint, ...] = ()
    error: str | None = None


class EmfError(Exception):
    """The message claims to be EMF and breaks its rules."""


def extract(message: str, now_ms: int, *, declared: bool = False) -> Extracted:
    """Read one log message.

    ``declared``: the request carried ``x-amzn-logs-format: json/emf``, so that text which is no
    JSON is an error and not merely a log line.
    """
    try:
        document = _document(message)
        return Extracted(tuple(_Event(document, now_ms).datapoints()))
    except EmfError as error:
        if declared or '"_aws"' in message or '"CloudWatchMetrics"' in message:
            return Extracted(error=str(error))
        return Extracted()


def _document(message: str) -> dict[str, Any]:
    try:
        document = json.loads(
            message,
            parse_constant=_refuse_constant,
            object_pairs_hook=_without_repeats,
        )
    except ValueError as error:
        raise EmfError(f"not JSON: {error}") from error
    if not isinstance(document, dict):
        raise EmfError("not a JSON object")
    return document


def _refuse_constant(text: str) -> NoReturn:
    raise EmfError(f"{text} is no JSON")


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise EmfError(f"a member comes twice in {sorted(name for name, _ in pairs)}")
    return members


@dataclass(slots=True)
class _Event:
    root: Mapping[str, Any]
    now_ms: int
    resolutions: dict[str, int] = field(default_factory=dict)
    metrics: int = 0

    def datapoints(self) -> Iterator[Datapoint]:
        """Give every member of every array for every dimension set of every directive."""
        directives, at_ms, v0 = self._head()
        for directive in directives:
            yield from self._of_directive(directive, at_ms, v0=v0)

    def _head(self) -> tuple[Sequence[Any], int, bool]:
        if "_aws" in self.root:
            head = self.root["_aws"]
            if not isinstance(head, dict):
                raise EmfError("_aws is not an object")
            return _list(head, "CloudWatchMetrics"), self._time(head.get("Timestamp")), False
        if "CloudWatchMetrics" not in self.root:
            return (), 0, False
        if self.root.get("Version") != "0":
            raise EmfError('CloudWatchMetrics at the root needs "Version": "0"')
        text = self.root.get("Timestamp")
        at_ms = int(text) if isinstance(text, str) and text.isdecimal() else text
        return _list(self.root, "CloudWatchMetrics"), self._time(at_ms), True

    def _time(self, at_ms: object) -> int:
        if not isinstance(at_ms, int) or isinstance(at_ms, bool):
            raise EmfError(f"Timestamp is not a whole number of milliseconds: {at_ms!r}")
        if not -14 * DAY_MS <= at_ms - self.now_ms <= 2 * HOUR_MS:
            raise EmfError(f"Timestamp {at_ms} is outside of -14 days..+2 hours")
        return at_ms

    def _of_directive(self, directive: object, at_ms: int, *, v0: bool) -> Iterator[Datapoint]:
        if not isinstance(directive, dict):
            raise EmfError("a directive is not an object")
        namespace = _namespace(directive.get("Namespace"))
        sets = [self._dimensions(names) for names in _list(directive, "Dimensions")]
        if not sets:
            raise EmfError("Dimensions is empty: it needs at least one set, [[]] for none")
        definitions = _list(directive, "Metrics")
        self.metrics += len(definitions)
        if self.metrics > METRICS_IN_EVENT:
            raise EmfError(f"more than {METRICS_IN_EVENT} metrics in one event")
        names = [item.get("Name") for item in definitions if isinstance(item, dict)]
        if len(set(map(str, names))) != len(definitions):
            raise EmfError("Metrics holds a name twice, or something that is no object")
        for definition in definitions:
            name = _metric_name(definition.get("Name"))
            unit, resolution = _unit(definition, v0=v0), self._resolution(name, definition)
            for value in self._values(name):
                for dimensions in sets:
                    yield Datapoint(namespace, dimensions, name, value, at_ms, unit, resolution)

    def _dimensions(self, names: object) -> frozenset[tuple[str, str]]:
        if not isinstance(names, list) or len(names) > SET_SIZE:
            raise EmfError(f"a dimension set is no array of at most {SET_SIZE} names: {names!r}")
        pairs = frozenset((_key(name), _dimension_value(self.root, name)) for name in names)
        if len(pairs) != len(names):
            raise EmfError(f"a dimension comes twice in {names!r}")
        return pairs

    def _resolution(self, name: str, definition: Mapping[str, Any]) -> int:
        resolution = definition.get("StorageResolution", 60)
        if resolution not in (1, 60) or not isinstance(resolution, int):
            raise EmfError(f"StorageResolution of {name} is {resolution!r}, not 1 or 60")
        if self.resolutions.setdefault(name, resolution) != resolution:
            raise EmfError(f"{name} has two storage resolutions")
        return resolution

    def _values(self, name: str) -> Sequence[float]:
        if name not in self.root:
            raise EmfError(f"metric {name} is no member of the root")
        target = self.root[name]
        values = target if isinstance(target, list) else [target]
        if not 1 <= len(values) <= MEMBERS_OF_ARRAY:
            raise EmfError(f"metric {name} has {len(values)} values, not 1..{MEMBERS_OF_ARRAY}")
        for value in values:
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise EmfError(f"metric {name} is no number: {value!r}")
            if abs(value) > LARGEST:
                raise EmfError(f"metric {name} is beyond 2^360")
        return [float(value) for value in values]


def _list(holder: Mapping[str, Any], member: str) -> list[Any]:
    value = holder.get(member)
    if not isinstance(value, list):
        raise EmfError(f"{member} is missing or no array")
    return value


def _namespace(namespace: object) -> str:
    if not isinstance(namespace, str) or not NAMESPACE.fullmatch(namespace):
        raise EmfError(f"Namespace {namespace!r} does not match {NAMESPACE.pattern}")
    if namespace.startswith((":", "AWS/")):
        raise EmfError(f"Namespace {namespace!r} is reserved")
    return namespace


def _key(name: object) -> str:
    if not isinstance(name, str) or not _is_text(name, KEY_LENGTH) or name.startswith(":"):
        raise EmfError(f"dimension name {name!r} is not allowed")
    return name


def _dimension_value(root: Mapping[str, Any], name: str) -> str:
    if name not in root:
        raise EmfError(f"dimension {name} is no member of the root")
    value = root[name]
    if not isinstance(value, str) or not _is_text(value, VALUE_LENGTH):
        raise EmfError(f"the value of dimension {name} is not allowed: {value!r}")
    return value


def _is_text(text: str, longest: int) -> bool:
    """Tell whether this is 1..longest ASCII characters, no control ones, and not only blanks."""
    return text.isascii() and text.isprintable() and len(text) <= longest and bool(text.strip())


def _metric_name(name: object) -> str:
    if not isinstance(name, str) or not name.strip() or len(name) > METRIC_NAME_LENGTH:
        raise EmfError(f"metric name {name!r} is not allowed")
    return name


def _unit(definition: Mapping[str, Any], *, v0: bool) -> str | None:
    unit = definition.get("Unit", "None")
    if v0 and unit == "":  # what newer CloudWatch agents write for "none"
        return None
    if unit not in UNITS:
        raise EmfError(f"Unit {unit!r} is none of CloudWatch's")
    return None if unit == "None" else str(unit)
