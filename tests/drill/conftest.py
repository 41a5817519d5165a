"""A CloudWatch Logs in a thread of its own, and an environment that leads there alone."""

from collections.abc import Iterator

import pytest

from tests.fakes.cloudwatch import FakeCloudWatch


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeCloudWatch]:
    """Run the fake."""
    with FakeCloudWatch() as fake:
        for name in ("AWS_REGION", "AWS_PROFILE", "AWS_ROLE_ARN", "AWS_SESSION_TOKEN"):
            monkeypatch.delenv(name, raising=False)
        for name, value in fake.environ.items():
            monkeypatch.setenv(name, value)
        yield fake
