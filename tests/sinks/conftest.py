"""A CloudWatch Logs on loopback, and a sink that leads there and nowhere else."""

from collections.abc import AsyncIterator

import pytest

from cwgpu.sinks.access import Access
from cwgpu.sinks.cloudwatch import CloudWatchSink
from tests.fakes.cloudwatch import FakeCloudWatch
from tests.sinks.stage import KEY


@pytest.fixture
async def service(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[FakeCloudWatch]:
    """Run the fake, with the stream there, and an environment that leads to it alone."""
    async with FakeCloudWatch() as fake:
        fake.add(KEY.group, KEY.stream)
        for name in ("AWS_REGION", "AWS_PROFILE", "AWS_ROLE_ARN", "AWS_SESSION_TOKEN"):
            monkeypatch.delenv(name, raising=False)
        for name, value in fake.environ.items():
            monkeypatch.setenv(name, value)
        yield fake


@pytest.fixture
async def sink(service: FakeCloudWatch) -> AsyncIterator[CloudWatchSink]:
    """Give a sink that keeps the events of its groups for a week."""
    made = CloudWatchSink(Access(endpoint_url=service.url), retention_days=7)
    yield made
    await made.close()
