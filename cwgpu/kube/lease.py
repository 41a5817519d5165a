"""A Lease of the API, as an election has it.

https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/lease-v1/
"""

import math
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import msgspec

from cwgpu.kube import failure, fault
from cwgpu.kube.connection import Connection
from cwgpu.kube.decode import BROKEN
from cwgpu.kube.failure import Failure
from cwgpu.kube.request import Request
from cwgpu.kube.resource import LEASES
from cwgpu.pace.election import Record, Write


class LeaseMeta(msgspec.Struct, frozen=True, rename="camel"):
    """Of ``metadata``, what an election needs."""

    resource_version: str = ""


class LeaseSpec(msgspec.Struct, frozen=True, rename="camel"):
    """Of ``spec``."""

    holder_identity: str | None = None
    lease_duration_seconds: int | None = None
    lease_transitions: int | None = None


class LeaseObject(msgspec.Struct, frozen=True):
    """Of a Lease."""

    metadata: LeaseMeta = LeaseMeta()
    spec: LeaseSpec | None = None


class Leases:
    """One lease: who holds it, and writing that somebody does.

    A write that came too late, because somebody else wrote, is a Failure with status CONFLICT.
    """

    def __init__(
        self, connection: Connection, namespace: str, name: str, *, now_s: Callable[[], float]
    ) -> None:
        """``now_s`` gives the seconds since 1970, for people who read the lease."""
        self._connection = connection
        self._namespace, self._name = namespace, name
        self._now_s = now_s
        self._document: dict[str, Any] = {}
        """The lease as it was last seen: what others write into it stays there."""

    async def read(self, limit_s: float) -> Record | Failure | None:
        """Give the lease; None when there is none."""
        answer = await self._ask("get", limit_s)
        if isinstance(answer, Failure) and answer.status == failure.NOT_FOUND:
            return None
        return answer

    async def write(
        self, write: Write, holder: str, duration_s: float, limit_s: float
    ) -> Record | Failure:
        """Let the lease be held by somebody for so long, if it is as it was read."""
        now = _micro_time(self._now_s())
        known = self._document if write.version is not None else {}
        spec = {
            "acquireTime": now,
            **(known.get("spec") or {}),
            "holderIdentity": holder,
            "leaseDurationSeconds": max(1, math.ceil(duration_s)),
            "leaseTransitions": write.transitions,
            "renewTime": now,
        }
        if write.takes_over:
            spec["acquireTime"] = now
        return await self._put(known, write.version, spec, limit_s)

    async def release(self, record: Record, limit_s: float) -> Record | Failure:
        """Give the lease back, so that nobody has to wait until it ends."""
        spec = {
            **(self._document.get("spec") or {}),
            "holderIdentity": "",
            # The least there may be, as Kubernetes' own clients leave it.
            "leaseDurationSeconds": 1,
            "leaseTransitions": record.transitions,
            "renewTime": _micro_time(self._now_s()),
        }
        return await self._put(self._document, record.version, spec, limit_s)

    async def _put(
        self, known: dict[str, Any], version: str | None, spec: dict[str, Any], limit_s: float
    ) -> Record | Failure:
        metadata = {
            **(known.get("metadata") or {}),
            "name": self._name,
            "namespace": self._namespace,
        }
        if version is not None:
            metadata["resourceVersion"] = version
        document = {
            "apiVersion": f"{LEASES.group}/{LEASES.version}",
            "kind": "Lease",
            "metadata": metadata,
            "spec": spec,
        }
        verb = "create" if version is None else "update"
        return await self._ask(verb, limit_s, msgspec.json.encode(document))

    async def _ask(self, verb: str, limit_s: float, body: bytes | None = None) -> Record | Failure:
        request = Request(verb, LEASES, self._namespace, self._name, body=body)
        answer = await self._connection.ask(request, limit_s)
        if isinstance(answer, Failure):
            return answer
        try:
            lease = msgspec.json.decode(answer, type=LeaseObject)
            self._document = msgspec.json.decode(answer, type=dict[str, Any])
        except BROKEN as error:
            return fault.odd(request, answer, f"the answer is no Lease ({error})")
        spec = lease.spec or LeaseSpec()
        return Record(
            spec.holder_identity or "",
            float(spec.lease_duration_seconds or 0),
            lease.metadata.resource_version,
            spec.lease_transitions or 0,
        )


def _micro_time(at_s: float) -> str:
    """Write a time as metav1.MicroTime wants it: six digits, no more and no fewer."""
    return datetime.fromtimestamp(at_s, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
