"""What the API server holds a Lease to. Leader election depends on nothing else that is here.

https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/lease-v1/
"""

import re
from typing import Any

from tests.fakes.kubernetes import failure

Json = dict[str, Any]

_MICRO_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}(Z|[+-]\d\d:\d\d)")
"""metav1.MicroTime has six digits, no more and no fewer."""
_KIND = "Lease.coordination.k8s.io"


def validate(document: Json) -> None:
    """Refuse a lease whose times or numbers are none."""
    spec: Json = document.get("spec") or {}
    name = document["metadata"]["name"]
    for field in ("acquireTime", "renewTime"):
        _check_time(spec.get(field))
    holder = spec.get("holderIdentity")
    if holder is not None and not isinstance(holder, str):
        raise _unreadable("json: cannot unmarshal into Go struct field of type string")
    _check_least(name, spec, "leaseDurationSeconds", least=1)
    _check_least(name, spec, "leaseTransitions", least=0)


def _check_time(value: object) -> None:
    if value is None:
        return
    if not isinstance(value, str) or not _MICRO_TIME.fullmatch(value):
        raise _unreadable(f'parsing time "{value}" as "2006-01-02T15:04:05.000000Z07:00"')


def _check_least(name: str, spec: Json, field: str, *, least: int) -> None:
    value = spec.get(field)
    if value is None:
        return
    if not isinstance(value, int) or isinstance(value, bool):
        raise _unreadable(f"json: cannot unmarshal into Go struct field {field} of type int32")
    if value < least:
        word = "greater than 0" if least else "greater than or equal to 0"
        raise failure.invalid(
            _KIND, name, f"spec.{field}", f"Invalid value: {value}: must be {word}"
        )


def _unreadable(why: str) -> failure.FailureError:
    return failure.bad_request(f'Lease in version "v1" cannot be handled as a Lease: {why}')
