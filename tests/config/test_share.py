"""Leases and shards: who of several agents does the work."""

from collections.abc import Mapping
from typing import Any

import pytest

from cwgpu.config.complaint import Complaint
from cwgpu.plan.kubernetes import Lease, Shard, ShardLease
from cwgpu.plan.plan import Plan
from tests.config.inline import examined


def plan(environ: Mapping[str, str] | None = None, **own: Any) -> Plan:  # noqa: ANN401 - JSON
    """Give the plan of this in the object ``cwgpu``, of which nothing may be said."""
    found = examined({"role": "pod"}, environ=environ, **own)
    assert found.complaints == ()
    assert found.plan is not None
    return found.plan


def said(environ: Mapping[str, str] | None = None, **own: Any) -> Complaint:  # noqa: ANN401 - JSON
    """Give the only thing that is said about it."""
    (one,) = examined({"role": "pod"}, environ=environ, **own).complaints
    return one


def test_nobody_shares_unless_told() -> None:
    """One agent does all."""
    assert (plan().lease, plan().shard) == (None, None)
    assert plan(ha={}).lease is None


def test_a_lease_needs_a_name() -> None:
    """The times are those of Kubernetes' own controllers unless they are written."""
    assert plan(ha={"lease": {"name": "cwgpu"}}).lease == Lease("cwgpu", "")
    written = {
        "name": "gpu.metrics",
        "namespace": "amazon-cloudwatch",
        "duration": "30s",
        "renew_deadline": "20s",
        "retry_period": "500ms",
    }
    assert plan(ha={"lease": written}).lease == Lease(
        "gpu.metrics", "amazon-cloudwatch", 30.0, 20.0, 0.5
    )


@pytest.mark.parametrize(
    ("keys", "code", "path", "message"),
    [
        ({"name": ""}, "missing-key", "name", "a lease needs a name"),
        ({"name": "Lease"}, "wrong-value", "name", "'Lease' is no name of a lease"),
        ({"name": "a" * 254}, "wrong-value", "name", "is no name of a lease"),
        ({"namespace": "a.b"}, "wrong-value", "namespace", "'a.b' is no namespace"),
        (
            {"duration": "15500ms"},
            "wrong-value",
            "duration",
            "duration 15s500ms is not in whole seconds",
        ),
        (
            {"duration": "2h"},
            "wrong-value",
            "duration",
            "duration 2h is longer than an hour",
        ),
        (
            {"duration": "10s"},
            "wrong-value",
            "renew_deadline",
            "renew_deadline 10s is not shorter than duration 10s",
        ),
        (
            {"retry_period": "1m"},
            "wrong-value",
            "retry_period",
            "retry_period 1m is not shorter than renew_deadline 10s",
        ),
        (
            {"retry_period": 0},
            "wrong-value",
            "retry_period",
            "retry_period 0s is not shorter than renew_deadline 10s",
        ),
        ({"duration": "x"}, "bad-duration", "duration", ""),
    ],
)
def test_a_lease_that_cannot_be(
    keys: Mapping[str, Any], code: str, path: str, message: str
) -> None:
    """What is wrong is told with the numbers."""
    one = said(ha={"lease": {"name": "cwgpu", **keys}})
    assert (one.code, one.path) == (code, f"cwgpu.ha.lease.{path}")
    assert message in one.message


def test_a_lease_and_shards() -> None:
    """Of shards with one lease all but one would never be scraped."""
    one = said(ha={"lease": {"name": "cwgpu"}}, shard={"count": 2, "index": 0})
    assert (one.code, one.path) == ("conflicting-keys", "cwgpu.ha.lease")


@pytest.mark.parametrize(
    ("environ", "keys", "index"),
    [
        ({}, {"index": 2}, 2),
        ({"HOSTNAME": "cwgpu-1"}, {}, 1),
        ({"HOSTNAME": "cwgpu-1"}, {"index": 0}, 0),
        ({"HOSTNAME": "node-7", "POD_NAME": "cwgpu-2"}, {}, 2),
        ({"HOSTNAME": "cwgpu-2", "POD_NAME": ""}, {}, 2),
    ],
)
def test_which_shard_this_is(
    environ: Mapping[str, str], keys: Mapping[str, Any], index: int
) -> None:
    """What is written counts, else the number of the StatefulSet's pod."""
    assert plan(environ, shard={"count": 3, **keys}).shard == Shard(3, index)


def test_the_lease_of_shards_is_looked_at_without_a_pod() -> None:
    """Whoever checks a file on a laptop hears of the name, too, and not only of the pod's."""
    shard = {"count": 3, "lease": {"name": "Bad_Name"}}
    complaints = examined({"role": "pod"}, environ={}, shard=shard).complaints
    assert {one.path for one in complaints} == {"cwgpu.shard.lease.name", "cwgpu.shard.index"}


@pytest.mark.parametrize(
    ("environ", "keys", "index"),
    [
        ({"POD_NAME": "cwgpu-1"}, {}, 1),
        ({"POD_NAME": "cwgpu-3"}, {}, 3),
        ({}, {"index": 4}, 4),
    ],
)
def test_shards_with_a_lease(
    environ: Mapping[str, str], keys: Mapping[str, Any], index: int
) -> None:
    """The count in force is written there: one that is beyond our own may have a part, or wait."""
    named = {"name": "cwgpu-shards", "namespace": "lab"}
    for lease, expected in (
        ({"name": "cwgpu-shards"}, ShardLease("cwgpu-shards")),
        (named, ShardLease("cwgpu-shards", "lab")),
    ):
        written = {"count": 3, "lease": lease, **keys}
        assert plan(environ, shard=written).shard == Shard(3, index, expected)


@pytest.mark.parametrize(
    ("environ", "keys", "code", "path", "message"),
    [
        ({}, {}, "missing-key", "count", "shard needs a count"),
        ({}, {"count": 3, "lease": {"name": "x"}}, "no-shard-index", "index", "no pod's name"),
        ({}, {"count": 3, "index": 0, "lease": {}}, "missing-key", "lease.name", "needs a name"),
        (
            {},
            {"count": 3, "index": 0, "lease": {"name": "x", "namespace": "A"}},
            "wrong-value",
            "lease.namespace",
            "'A' is no namespace",
        ),
        ({}, {"count": 0}, "wrong-value", "count", "wanted 1 or more, found the number '0'"),
        ({}, {"count": 3, "index": -1}, "wrong-value", "index", "wanted 0 or more"),
        ({}, {"count": 3, "index": 3}, "wrong-value", "index", "index 3 of 3 shards"),
        ({}, {"count": 3}, "no-shard-index", "index", "no pod's name is known"),
        (
            {"HOSTNAME": "laptop"},
            {"count": 3},
            "no-shard-index",
            "index",
            "'laptop' does not end in -0, -1",
        ),
        (
            {"HOSTNAME": "cwgpu-3"},
            {"count": 3},
            "no-shard-index",
            "count",
            "'cwgpu-3' has no part: of 3 shards the last has index 2",
        ),
    ],
)
def test_a_shard_that_cannot_be(
    environ: Mapping[str, str], keys: Mapping[str, Any], code: str, path: str, message: str
) -> None:
    """Neither more shards than there are agents, nor an agent without a shard."""
    one = said(environ, shard=keys)
    assert (one.code, one.path) == (code, f"cwgpu.shard.{path}")
    assert message in one.message
