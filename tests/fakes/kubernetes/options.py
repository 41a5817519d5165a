"""What a request's query says about a list or a watch.

https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-versions
"""

from collections.abc import Mapping
from dataclasses import dataclass

from tests.fakes.kubernetes.failure import bad_request, invalid

_NOT_OLDER = "NotOlderThan"


@dataclass(frozen=True, slots=True)
class Options:
    """The query, read."""

    labels: str = ""
    fields: str = ""
    version: int | None = None
    """None: not said, which is the newest."""
    match: str = ""
    limit: int = 0
    """0: all."""
    token: str = ""
    """Where to go on with a list."""
    watch: bool = False
    timeout_s: float | None = None
    bookmarks: bool = False
    initial_events: bool = False

    @property
    def selects(self) -> bool:
        """Tell whether not all objects are asked for."""
        return bool(self.labels or self.fields)


def read(query: Mapping[str, str]) -> Options:
    """Read the query of a list or a watch, and refuse what contradicts itself."""
    version = _number("resourceVersion", query)
    options = Options(
        labels=query.get("labelSelector", ""),
        fields=query.get("fieldSelector", ""),
        version=version,
        match=query.get("resourceVersionMatch", ""),
        limit=_number("limit", query) or 0,
        token=query.get("continue", ""),
        watch=_is_true("watch", query),
        timeout_s=_number("timeoutSeconds", query),
        bookmarks=_is_true("allowWatchBookmarks", query),
        initial_events=_is_true("sendInitialEvents", query),
    )
    _check(options)
    return options


def _check(options: Options) -> None:
    if options.initial_events and not options.watch:
        _refuse("sendInitialEvents", "sendInitialEvents is forbidden for list")
    if options.initial_events and options.match != _NOT_OLDER:
        _refuse(
            "resourceVersionMatch",
            "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan",
        )
    if options.match and options.watch and not options.initial_events:
        _refuse(
            "resourceVersionMatch",
            "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided",
        )
    if options.match and options.version is None and not options.initial_events:
        _refuse(
            "resourceVersionMatch",
            "resourceVersionMatch is forbidden unless resourceVersion is provided",
        )
    if options.token and options.version:
        raise bad_request("specifying resource version is not allowed when using continue")


def _refuse(field: str, why: str) -> None:
    raise invalid("ListOptions.meta.k8s.io", "", field, f"Forbidden: {why}")


def _number(name: str, query: Mapping[str, str]) -> int | None:
    text = query.get(name, "")
    if not text:
        return None
    if not text.isdecimal():
        raise bad_request(f'strconv.ParseInt: parsing "{text}": invalid syntax')
    return int(text)


def _is_true(name: str, query: Mapping[str, str]) -> bool:
    return query.get(name, "false").lower() not in {"false", "0"}
