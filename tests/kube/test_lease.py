"""A lease at a real door: read, made, renewed, taken over, given back, and lost."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import web

from cwgpu.kube.connection import Connection
from cwgpu.kube.failure import Failure
from cwgpu.kube.lease import Leases
from cwgpu.pace.election import Record, Write
from tests.fakes.kubernetes import FakeKubernetes
from tests.kube import stage
from tests.kube.stage import User, connected

CREATE = Write(None, 0, takes_over=True)
NOW_S = 1_765_000_000.25
NOW = "2025-12-06T05:46:40.250000Z"


@pytest.fixture
async def api() -> AsyncIterator[FakeKubernetes]:
    """Serve."""
    async with FakeKubernetes() as made:
        yield made


@pytest.fixture
async def connection(api: FakeKubernetes) -> AsyncIterator[Connection]:
    """Be the administrator."""
    async with connected(api.url, api.admin) as (made, _, _):
        yield made


class Clock:
    """A wall clock."""

    def __init__(self) -> None:
        self.now_s = NOW_S

    def read(self) -> float:
        """Give the time."""
        return self.now_s


@pytest.fixture
def clock() -> Clock:
    """Stand still."""
    return Clock()


@pytest.fixture
def leases(connection: Connection, clock: Clock) -> Leases:
    """Know where the lease is."""
    return Leases(connection, "default", "cwgpu", now_s=clock.read)


async def write(
    leases: Leases, what: Write, holder: str = "me", duration_s: float = 15
) -> Record | Failure:
    """Write the lease."""
    return await leases.write(what, holder, duration_s, 5.0)


async def record(leases: Leases, what: Write = CREATE, holder: str = "me") -> Record:
    """Write the lease, which goes well."""
    answer = await write(leases, what, holder)
    assert isinstance(answer, Record)
    return answer


def stored(api: FakeKubernetes) -> dict[str, Any]:
    """Give the lease as the server has it."""
    found = api.get("leases", "default", "cwgpu")
    assert found is not None
    return found


async def test_there_may_be_no_lease(leases: Leases) -> None:
    """That is no failure: somebody has to be the first."""
    assert await leases.read(5.0) is None


async def test_a_lease_is_made(api: FakeKubernetes, leases: Leases) -> None:
    """It says who holds it, for how long, and since when; reading gives the same."""
    made = await record(leases)
    assert stored(api)["spec"] == {
        "acquireTime": NOW,
        "holderIdentity": "me",
        "leaseDurationSeconds": 15,
        "leaseTransitions": 0,
        "renewTime": NOW,
    }
    assert made == Record("me", 15.0, str(api.version), 0)
    assert await leases.read(5.0) == made


async def test_a_lease_is_renewed(api: FakeKubernetes, leases: Leases, clock: Clock) -> None:
    """Since when it is held does not change, and what others wrote into it stays there."""
    await record(leases)
    labelled = stored(api)
    labelled = {**labelled, "metadata": {**labelled["metadata"], "labels": {"team": "gpu"}}}
    labelled["spec"] = {**labelled["spec"], "strategy": "OldestEmulationVersion"}
    api.put(labelled)
    seen = await leases.read(5.0)
    assert isinstance(seen, Record)
    clock.now_s += 10
    renewed = await record(leases, Write(seen.version, 0, takes_over=False))
    assert stored(api)["metadata"]["labels"] == {"team": "gpu"}
    assert stored(api)["spec"] == {
        "acquireTime": NOW,
        "holderIdentity": "me",
        "leaseDurationSeconds": 15,
        "leaseTransitions": 0,
        "renewTime": NOW.replace(":40.25", ":50.25"),
        "strategy": "OldestEmulationVersion",
    }
    assert renewed.version != seen.version


async def test_a_lease_is_taken_over(api: FakeKubernetes, leases: Leases, clock: Clock) -> None:
    """It is held from now on, by somebody else, once more."""
    made = await record(leases)
    clock.now_s += 10
    taken = await record(leases, Write(made.version, 1, takes_over=True), "you")
    assert taken == Record("you", 15.0, str(api.version), 1)
    assert stored(api)["spec"]["acquireTime"] == NOW.replace(":40.25", ":50.25")


async def test_a_lease_is_given_back(api: FakeKubernetes, leases: Leases) -> None:
    """Nobody holds it, so nobody has to wait; how often it changed hands is still known."""
    made = await record(leases, Write(None, 3, takes_over=True))
    given = await leases.release(made, 5.0)
    assert given == Record("", 1.0, str(api.version), 3)
    assert stored(api)["spec"]["holderIdentity"] == ""


@pytest.mark.parametrize(("duration_s", "written"), [(0.3, 1), (15.0, 15), (15.2, 16)])
async def test_durations_are_whole_seconds(
    api: FakeKubernetes, leases: Leases, duration_s: float, written: int
) -> None:
    """The API has no parts of a second; who waits waits for longer, not for less."""
    answer = await write(leases, CREATE, duration_s=duration_s)
    assert isinstance(answer, Record)
    assert answer.duration_s == written
    assert stored(api)["spec"]["leaseDurationSeconds"] == written


async def test_a_write_that_came_too_late_changes_nothing(
    api: FakeKubernetes, leases: Leases, connection: Connection, clock: Clock
) -> None:
    """Somebody else wrote since it was read, or made the lease first, or takes it meanwhile."""
    other = Leases(connection, "default", "cwgpu", now_s=clock.read)
    assert await leases.read(5.0) is None
    made = await record(other, CREATE, "other")
    late = await write(leases, CREATE)
    assert isinstance(late, Failure)
    assert late.status == 409
    assert await leases.read(5.0) == made
    clock.now_s += 2
    await record(other, Write(made.version, 0, takes_over=False), "other")
    for tried in (
        await write(leases, Write(made.version, 1, takes_over=True)),
        await leases.release(made, 5.0),
    ):
        assert isinstance(tried, Failure)
        assert tried.status == 409
        assert tried.sentence.startswith("leases cwgpu in namespace default cannot be written: ")
    assert stored(api)["spec"]["holderIdentity"] == "other"


async def test_a_lease_that_was_deleted_is_not_written(api: FakeKubernetes, leases: Leases) -> None:
    """It is a failure, after which there is none and a new one can be made."""
    made = await record(leases)
    api.delete("leases", "default", "cwgpu")
    answer = await write(leases, Write(made.version, 0, takes_over=False))
    assert isinstance(answer, Failure)
    assert await leases.read(5.0) is None
    assert (await record(leases)).holder == "me"


@pytest.mark.parametrize("verb", ["get", "create", "update"])
async def test_what_is_not_allowed_is_told_with_the_rule_to_add(
    api: FakeKubernetes, leases: Leases, clock: Clock, verb: str
) -> None:
    """All of it at once: nobody wants to hear of one verb after the other."""
    made = await record(leases) if verb == "update" else None
    allowed = [each for each in ("get", "create", "update") if each != verb]
    token = api.grant("elector", {"leases": allowed}, "default")
    async with Connection(User(api.url, token)) as connection:
        mine = Leases(connection, "default", "cwgpu", now_s=clock.read)
        if verb == "get":
            answer: Record | Failure | None = await mine.read(5.0)
        else:
            version = made.version if made is not None else None
            answer = await write(mine, Write(version, 0, takes_over=True))
    assert isinstance(answer, Failure)
    assert answer.status == 403
    assert (
        'not allowed; add {apiGroups: ["coordination.k8s.io"], resources: [leases], verbs: '
        "[get, create, update]} to a Role in namespace default that is bound to the user elector ("
    ) in answer.sentence


@pytest.mark.parametrize("spec", [None, {}, {"holderIdentity": None, "leaseDurationSeconds": None}])
async def test_a_lease_may_say_nothing(spec: object) -> None:
    """Then nobody holds it."""

    async def answer(request: web.Request, _: int) -> web.StreamResponse:
        return web.json_response({"metadata": {"resourceVersion": "3"}, "spec": spec})

    async with stage.serve(answer) as server, Connection(User(server.url)) as connection:
        leases = Leases(connection, "default", "cwgpu", now_s=Clock().read)
        assert await leases.read(5.0) == Record("", 0.0, "3", 0)


@pytest.mark.parametrize("body", [b"<html>", b"[]", b'{"spec": {"holderIdentity": 1}}'])
async def test_what_is_no_lease_is_a_failure(body: bytes) -> None:
    """Somebody else answers there."""

    async def answer(request: web.Request, _: int) -> web.StreamResponse:
        return web.Response(body=body)

    async with stage.serve(answer) as server, Connection(User(server.url)) as connection:
        leases = Leases(connection, "default", "cwgpu", now_s=Clock().read)
        found = await leases.read(5.0)
    assert isinstance(found, Failure)
    assert "cannot be read: the answer is no Lease (" in found.sentence
