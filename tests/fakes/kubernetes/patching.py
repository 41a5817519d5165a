"""Merge patches: RFC 7386, and as much of the strategic one as ``kubectl apply`` sends.

https://www.rfc-editor.org/rfc/rfc7386
https://kubernetes.io/docs/tasks/manage-kubernetes-objects/update-api-object-kubectl-patch/
"""

from typing import Any

from tests.fakes.kubernetes.failure import FailureError

Json = dict[str, Any]

_MERGE = "application/merge-patch+json"
_STRATEGIC = "application/strategic-merge-patch+json"
_KEYS = ("name", "containerPort", "port", "ip", "type", "uid", "mountPath", "key")
"""By what the elements of a list are told apart, the first that they have."""


def apply(content_type: str, document: Json, change: Json) -> Json:
    """Give the document with the change made."""
    if content_type == _MERGE:
        return _merged(document, change)
    if content_type == _STRATEGIC:
        return _strategic(document, change)
    raise FailureError(
        415,
        "UnsupportedMediaType",
        f"the body of the request was in an unknown format - accepted media types include: "
        f"{_MERGE}, {_STRATEGIC}",
    )


def _merged(document: Json, change: Json) -> Json:
    made = {**document}
    for name, value in change.items():
        if value is None:
            made.pop(name, None)
        elif isinstance(value, dict):
            old = made.get(name)
            made[name] = _merged(old if isinstance(old, dict) else {}, value)
        else:
            made[name] = value
    return made


def _strategic(document: Json, change: Json) -> Json:
    if change.get("$patch") == "replace":
        return {name: value for name, value in change.items() if name != "$patch"}
    made = {**document}
    for name, value in change.items():
        if name.startswith("$"):
            continue
        if value is None:
            made.pop(name, None)
        else:
            made[name] = _joined(made.get(name), value)
    return made


def _joined(old: Any, value: Any) -> Any:  # noqa: ANN401 - JSON
    if isinstance(value, dict):
        return _strategic(old if isinstance(old, dict) else {}, value)
    key = _key(value)
    return value if key is None else _elements(old or [], value, key)


def _key(value: object) -> str | None:
    """Tell by what the elements of a list are merged; None replaces the list."""
    if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
        return None
    return next((key for key in _KEYS if value and all(key in each for each in value)), None)


def _elements(old: list[Json], value: list[Json], key: str) -> list[Json]:
    made = {each.get(key): each for each in old}
    for each in value:
        if each.get("$patch") == "delete":
            made.pop(each[key], None)
        else:
            made[each[key]] = _strategic(made.get(each[key], {}), each)
    return list(made.values())
