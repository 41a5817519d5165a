"""Credentials end, change, or cannot be had, or the clock is wrong: nothing is lost meanwhile."""

import asyncio
import contextlib
import itertools
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from botocore.utils import ContainerMetadataFetcher

from cwgpu.model.event import EmfEvent, StreamKey
from cwgpu.plan import plan
from cwgpu.sinks.access import Access
from cwgpu.sinks.cloudwatch import CloudWatchSink
from tests.drill import flow, swift
from tests.drill.flow import Counted, Flow
from tests.fakes import faults
from tests.fakes.cloudwatch import FakeCloudWatch
from tests.fakes.identity import FakeIdentity
from tests.fakes.refusal import Refusal

KEY = StreamKey("/gpu/lab", "node-1")
FLUSH_S = 60.0
MINUTES = 10
SHORT_S = 300.0
"""Of credentials' life: SDKs renew in each call what has less than ten minutes."""
AWAY = Refusal("InternalFailure", "not now", 500)
TOO_LATE_S = 120.0
"""After the trouble's end: a minute between two tries, and one for a flush."""


class Drill:
    """An agent that delivers a number a minute, as long as it is let."""

    def __init__(self, service: FakeCloudWatch, agent: Flow) -> None:
        service.add(KEY.group, KEY.stream)
        self._service = service
        self.agent = agent
        self._numbers = itertools.count()

    async def minutes(self, count: int = 1) -> None:
        """Let some minutes pass."""
        for _ in range(count):
            message = b"%d" % next(self._numbers)
            self.agent.outflow.put([EmfEvent.of(KEY, self.agent.clock.wall_ms(), message, 1, 1)])
            await asyncio.sleep(FLUSH_S)

    @property
    def stored(self) -> int:
        """How many have come."""
        return len(self._service.events(KEY.group, KEY.stream))

    async def ends(self) -> None:
        """See that all come once, soon."""
        await self.agent.rests(TOO_LATE_S)
        stored = [int(each.message) for each in self._service.events(KEY.group, KEY.stream)]
        assert sorted(stored) == [*range(next(self._numbers))]
        assert self.agent.lost() == 0
        assert self.agent.outflow.unready == ""


@contextlib.asynccontextmanager
async def drilling(service: FakeCloudWatch, folder: Path) -> AsyncIterator[Drill]:
    """Begin; the machine's clock is the real one."""
    sink = Counted(CloudWatchSink(Access(endpoint_url=service.url)))
    rules = plan.Spool(f"{folder / 'spool'}")
    async with flow.flowing(sink, rules, wall=time.time, flush_s=FLUSH_S) as agent:
        yield Drill(service, agent)


@pytest.fixture
def token(tmp_path: Path) -> Path:
    """Give the file in which Kubernetes keeps the token of a service account."""
    path = tmp_path / "token"
    path.write_text("token-1")
    return path


@pytest.fixture
def pod(service: FakeCloudWatch, monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Take away the keys; what gives others need not be asked slowly."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    monkeypatch.setattr(ContainerMetadataFetcher, "SLEEP_TIME", 0)  # between its three tries
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")  # of asking STS
    return monkeypatch


WAYS = pytest.mark.parametrize("way", ["pod_identity", "web_identity"])


def _lead(pod: pytest.MonkeyPatch, identity: FakeIdentity, way: str, token: Path) -> None:
    for name, value in getattr(identity, way)(str(token)).items():
        pod.setenv(name, value)


def _rotate(identity: FakeIdentity, token: Path, text: str) -> None:
    identity.tokens = {text}
    token.write_text(text)


@WAYS
def test_keys_that_end_are_replaced(
    way: str, service: FakeCloudWatch, pod: pytest.MonkeyPatch, token: Path, tmp_path: Path
) -> None:
    """By our clock they are good for an hour; CloudWatch says otherwise until there are others."""

    async def drill() -> None:
        async with FakeIdentity(service.secrets) as identity, drilling(service, tmp_path) as drill:
            _lead(pod, identity, way, token)
            await drill.minutes(2)
            assert len(identity.given) == 1
            service.fail(faults.expired_token(), action="PutLogEvents", times=3)
            await drill.minutes(MINUTES)
            await drill.ends()
            assert len(identity.given) > 1

    swift.run(drill())


@WAYS
def test_a_token_that_rotates_is_no_trouble(
    way: str, service: FakeCloudWatch, pod: pytest.MonkeyPatch, token: Path, tmp_path: Path
) -> None:
    """The file has the new one before the old one is refused: not a single call fails."""

    async def drill() -> None:
        async with FakeIdentity(service.secrets) as identity, drilling(service, tmp_path) as drill:
            _lead(pod, identity, way, token)
            identity.lifetime_s = SHORT_S
            for number in range(2, 6):
                await drill.minutes(2)
                _rotate(identity, token, f"token-{number}")
            await drill.minutes()
            await drill.ends()
            assert drill.agent.value("cwgpu_delivery_retries_total") == 0

    swift.run(drill())


@WAYS
def test_ten_minutes_without_keys_delay_what_is_held(
    way: str, service: FakeCloudWatch, pod: pytest.MonkeyPatch, token: Path, tmp_path: Path
) -> None:
    """Nothing is sent unsigned, readiness says why, and all of it comes when they are back."""

    async def drill() -> None:
        async with FakeIdentity(service.secrets) as identity, drilling(service, tmp_path) as drill:
            _lead(pod, identity, way, token)
            identity.lifetime_s = SHORT_S
            await drill.minutes(2)
            identity.refusal, calls = AWAY, len(service.calls)
            await drill.minutes(MINUTES)
            assert len(service.calls) == calls
            assert (drill.stored, drill.agent.value("cwgpu_spool_batches")) == (2, MINUTES)
            assert "CredentialRetrievalError" in drill.agent.outflow.unready
            identity.refusal = None
            await drill.minutes()
            await drill.ends()

    swift.run(drill())


@pytest.mark.parametrize("skew_s", [-1200, 1200])
def test_a_clock_that_is_wrong_is_told(
    skew_s: int, service: FakeCloudWatch, tmp_path: Path
) -> None:
    """Signatures are refused until it is right; it says by how much and which way it is wrong."""

    async def drill() -> None:
        async with drilling(service, tmp_path) as drill:
            await drill.minutes(2)
            service.skew_s = -skew_s  # to the service it is ours that is ahead
            await drill.minutes(MINUTES)
            assert drill.stored == 2
            told_s = drill.agent.value("cwgpu_clock_skew_seconds")
            assert told_s == pytest.approx(skew_s, abs=60)
            (said,) = drill.agent.said("clock_skewed")
            assert ("ahead of" if skew_s > 0 else "behind") in str(said["reason"])
            service.skew_s = 0.0
            await drill.minutes()
            await drill.ends()
            assert len(drill.agent.said("clock_agrees")) == 1

    swift.run(drill())
