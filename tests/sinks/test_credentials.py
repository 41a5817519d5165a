"""Where credentials come from, how they end, and how a sink comes to new ones."""

import asyncio
import json
import socket
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from botocore.utils import ContainerMetadataFetcher

from cwgpu.logs import verdict
from cwgpu.logs.verdict import Credentials, Retry
from cwgpu.sinks import session
from cwgpu.sinks.access import Access
from cwgpu.sinks.cloudwatch import CloudWatchSink
from tests.fakes import faults, sigv4
from tests.fakes.cloudwatch import KEY_ID, REGION, SECRET, FakeCloudWatch
from tests.fakes.identity import FakeIdentity
from tests.fakes.refusal import Refusal
from tests.sinks.stage import parcel, serving

ROLE = "arn:aws:iam::123456789012:role/gpu"
KEYS = f"aws_access_key_id = {KEY_ID}\naws_secret_access_key = {SECRET}\n"
METADATA = [("MetadataToken", "21600"), ("Metadata", "metadata-token")]
"""What an instance's metadata service is asked: a token, whose life is in seconds, and keys."""
WEB, POD, CHAIN = (
    ("AssumeRoleWithWebIdentity", "token-1"),
    ("PodIdentity", "token-1"),
    ("AssumeRole", KEY_ID),
)


@pytest.fixture
def nobody(service: FakeCloudWatch, monkeypatch: pytest.MonkeyPatch) -> None:
    """Take away who we are."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)


@dataclass(frozen=True)
class World:
    """A service, what gives credentials for it, and a place in between that has none yet."""

    service: FakeCloudWatch
    identity: FakeIdentity
    token: Path
    """The file in which Kubernetes keeps the token of a service account."""
    patch: pytest.MonkeyPatch

    def lead(self, *ways: str) -> None:
        """Set the variables of these ways to credentials."""
        folder = self.token.parent
        keys, config = folder / "credentials", folder / "config"
        keys.write_text(f"[lab]\n{KEYS}")
        config.write_text(f"[profile gpu]\nrole_arn = {ROLE}\nsource_profile = lab\n")
        files = {"AWS_SHARED_CREDENTIALS_FILE": str(keys), "AWS_CONFIG_FILE": str(config)}
        sts = {"AWS_ENDPOINT_URL_STS": self.identity.url}
        variables: dict[str, dict[str, str]] = {
            "keys": {"AWS_ACCESS_KEY_ID": KEY_ID, "AWS_SECRET_ACCESS_KEY": SECRET},
            "profile": files | {"AWS_PROFILE": "lab"},
            "chain": files | sts | {"AWS_PROFILE": "gpu"},
            "irsa": self.identity.web_identity(str(self.token)),
            "pod": self.identity.pod_identity(str(self.token)),
            "instance": self.identity.instance(),
            "sts": sts,
        }
        for way in ways:
            for name, value in variables[way].items():
                self.patch.setenv(name, value)

    def sink(self, role_arn: str | None = None, workers: int = 2) -> CloudWatchSink:
        """Give a sink that has to find out who it is."""
        access = Access(endpoint_url=self.service.url, role_arn=role_arn)
        return CloudWatchSink(access, workers=workers)

    def signer(self) -> str:
        """Give the access key id that signed the last call."""
        credential = self.service.calls[-1].headers["authorization"].partition("Credential=")[2]
        return credential.partition("/")[0]


@pytest.fixture
async def world(
    service: FakeCloudWatch, nobody: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[World]:
    """Run what gives credentials; nothing leads there yet."""
    token = tmp_path / "token"
    token.write_text("token-1")
    async with FakeIdentity(service.secrets) as identity:
        yield World(service, identity, token, monkeypatch)


# ---- ways to them


WAYS: dict[str, tuple[list[str], list[tuple[str, str]]]] = {
    "keys": (["keys"], []),
    "profile": (["profile"], []),
    "a profile's role": (["chain"], [CHAIN]),
    "irsa": (["irsa"], [WEB]),
    "pod identity": (["pod"], [POD]),
    "instance": (["instance"], METADATA),
    "keys before all others": (["keys", "irsa", "pod", "instance"], []),
    "irsa before pod identity": (["irsa", "pod", "instance"], [WEB]),
    "a profile before pod identity": (["profile", "pod", "instance"], []),
    "pod identity before the instance": (["pod", "instance"], [POD]),
}


@pytest.mark.parametrize("case", WAYS)
async def test_ways_to_credentials(case: str, world: World) -> None:
    """Each is found by its variables, the instance last; the answer says when they end."""
    ways, asked = WAYS[case]
    world.lead(*ways)
    sink = world.sink()
    answer = await sink.send(parcel("x"))
    await sink.close()
    assert (answer.code, world.identity.asked) == ("", asked)
    assert world.signer() == (world.identity.given[0] if asked else KEY_ID)
    if asked:
        assert answer.expires_s == pytest.approx(time.time() + 3600, abs=60)
    else:
        assert answer.expires_s is None


async def test_a_role_may_be_taken_on_from_another_role(world: World) -> None:
    """As where the logs of many accounts go to one; the second role signs, and its end counts."""
    world.lead("pod", "sts")
    sink = world.sink(role_arn=ROLE)
    answer = await sink.send(parcel("x"))
    await sink.close()
    assert (answer.code, world.identity.asked) == ("", [POD, ("AssumeRole", "ASIA1")])
    assert world.signer() == "ASIA2"
    assert answer.expires_s == pytest.approx(time.time() + 3600, abs=60)


# ---- how they end


@pytest.mark.parametrize("way", ["irsa", "pod"])
async def test_a_token_that_is_replaced_is_read_again(way: str, world: World) -> None:
    """Kubernetes writes a new one long before the old one ends, which is then good no more."""
    world.lead(way)
    world.identity.lifetime_s = 300.0  # so short that each call asks for others
    sink = world.sink()
    assert (await sink.send(parcel("x"))).code == ""
    world.identity.tokens = {"token-2"}
    await asyncio.to_thread(world.token.write_text, "token-2")
    assert (await sink.send(parcel("x"))).code == ""
    await sink.close()
    shown = [shown for _, shown in world.identity.asked]
    assert (shown[0], shown[-1]) == ("token-1", "token-2")
    assert world.signer() == world.identity.given[-1]


@pytest.mark.parametrize("way", ["irsa", "pod", "chain"])
async def test_a_renewal_that_is_refused_keeps_the_batch(way: str, world: World) -> None:
    """It is the credentials' trouble and not the batch's, and over when it is over."""
    world.patch.setattr(ContainerMetadataFetcher, "SLEEP_TIME", 0)  # between its three tries
    world.lead(way)
    world.identity.lifetime_s = 300.0
    sink, batch = world.sink(), parcel("x")
    assert (await sink.send(batch)).code == ""
    world.identity.refusal = Refusal("InternalFailure", "not now", 500)
    for _ in range(2):
        answer = await sink.send(batch)
        assert isinstance(verdict.judge(answer, batch.waybill), Credentials)
        await sink.renew()
    world.identity.refusal = None
    assert (await sink.send(batch)).code == ""
    await sink.close()


async def test_an_sts_that_is_away_is_waited_for(world: World) -> None:
    """No event went out, so it cannot have been stored; once it is back, the next try passes."""
    world.lead("irsa")
    world.patch.setenv("AWS_ENDPOINT_URL_STS", "http://127.0.0.1:1")
    sink, batch = world.sink(), parcel("x")
    decided = verdict.judge(await sink.send(batch), batch.waybill)
    assert isinstance(decided, Retry)
    assert (decided.kind, decided.ambiguous) == (verdict.RetryKind.NETWORK, False)
    assert world.service.calls == []
    world.lead("irsa")
    await sink.close()
    sink = world.sink()
    assert (await sink.send(batch)).code == ""
    await sink.close()


@pytest.mark.parametrize("way", ["keys", "irsa", "pod"])
async def test_credentials_may_come_later(way: str, world: World) -> None:
    """A sink that found none looks again; as for a token that is not mounted yet."""
    if way != "keys":
        world.lead(way)
        await asyncio.to_thread(world.token.unlink)
    sink, batch = world.sink(), parcel("x")
    answer = await sink.send(batch)
    assert isinstance(verdict.judge(answer, batch.waybill), Credentials)
    assert (answer.expires_s, world.service.calls) == (None, [])
    await sink.renew()
    world.lead(way)
    await asyncio.to_thread(world.token.write_text, "token-1")
    assert (await sink.send(batch)).code == ""
    await sink.close()


async def test_keys_that_end_before_our_clock_says_so_are_replaced(world: World) -> None:
    """By our clock, which may be wrong, they are good for an hour: boto3 would go on with them."""
    world.lead("irsa")
    sink = world.sink()
    assert (await sink.send(parcel("x"))).code == ""
    world.service.fail(faults.expired_token(), times=2)
    for _ in range(2):
        assert (await sink.send(parcel("x"))).code == "ExpiredTokenException"
    assert world.identity.asked == [WEB]
    await sink.renew()
    assert (await sink.send(parcel("x"))).code == ""
    await sink.close()
    assert world.identity.asked == [WEB, WEB]
    assert world.signer() == "ASIA2"


@pytest.mark.parametrize("skew_s", [-1200.0, 1200.0])
async def test_a_clock_that_is_put_right_lets_everything_pass(
    skew_s: float, service: FakeCloudWatch, sink: CloudWatchSink
) -> None:
    """Until then each answer says by how much it is wrong."""
    service.skew_s = skew_s
    batch = parcel("x")
    answer = await sink.send(batch)
    assert isinstance(verdict.judge(answer, batch.waybill), Credentials)
    assert answer.date_s == pytest.approx(time.time() + skew_s, abs=60)
    await sink.renew()
    assert (await sink.send(batch)).code == "InvalidSignatureException"
    service.skew_s = 0.0
    assert (await sink.send(batch)).code == ""


async def test_many_that_fail_together_get_one_new_session(world: World) -> None:
    """The first to renew throws the bad one away; the others must not do it to the new one."""
    world.lead("irsa")
    sink = world.sink(workers=4)

    async def sent() -> set[str]:
        return {answer.code for answer in await asyncio.gather(*map(sink.send, [parcel("x")] * 6))}

    async def again() -> str:
        await sink.renew()
        return (await sink.send(parcel("x"))).code

    assert await sent() == {""}
    world.service.fail(faults.expired_token(), times=6)
    assert await sent() == {"ExpiredTokenException"}
    assert await asyncio.gather(*(again() for _ in range(6))) == [""] * 6
    assert await again() == ""
    await sink.close()
    assert world.identity.asked == [WEB, WEB]


async def test_renewing_breaks_no_call_that_is_under_way(
    service: FakeCloudWatch, sink: CloudWatchSink
) -> None:
    """What waits for its answer with the old session gets it."""
    assert (await sink.send(parcel("x"))).code == ""
    service.fail(faults.Hold(), action="PutLogEvents")
    held = asyncio.create_task(sink.send(parcel("held")))
    await asyncio.to_thread(service.wait, lambda: len(service.calls) == 3)
    service.fail(faults.expired_token())
    assert (await sink.send(parcel("x"))).code == "ExpiredTokenException"
    await sink.renew()
    assert (await sink.send(parcel("x"))).code == ""
    service.release()
    assert (await held).code == ""


# ---- without them, and where nobody answers


class Hole:
    """An address that takes connections and never says a word."""

    def __init__(self) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0))
        self._socket.settimeout(0)
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"

    def came(self) -> int:
        """Count the connections that came, and stop listening."""
        count = 0
        with self._socket:
            while True:
                try:
                    self._socket.accept()[0].close()
                except BlockingIOError:
                    return count
                count += 1


SILENT = {
    "no keys": (REGION, None, "NoCredentials"),
    "no keys to take on a role with": (REGION, ROLE, "NoCredentials"),
    "no region either": (None, None, "NoRegion"),
}


@pytest.mark.parametrize("case", SILENT)
async def test_a_metadata_service_that_is_silent_is_waited_for_less_than_a_second(
    case: str, service: FakeCloudWatch, nobody: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In all: so often it is asked, and so long it is waited for each time."""
    region, role_arn, code = SILENT[case]
    hole = Hole()
    monkeypatch.delenv("AWS_DEFAULT_REGION")
    monkeypatch.setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", hole.url)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "false")
    sink = CloudWatchSink(Access(region, role_arn, service.url))
    answer = await sink.send(parcel("x"))
    await sink.close()
    assert answer.code == code
    patience_s = session._core(Access(), 1).get_config_variable(session.IMDS_TIMEOUT)  # noqa: SLF001
    assert 0 < hole.came() * patience_s < 1


async def test_renewing_finds_new_credentials(
    service: FakeCloudWatch, sink: CloudWatchSink, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The old ones are used until then, since nothing says that they are bad."""
    assert (await sink.send(parcel("x"))).code == ""
    service.secrets.clear()
    service.secrets["AKIDOTHER"] = sigv4.Secret(SECRET, "token")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDOTHER")
    monkeypatch.setenv("AWS_SESSION_TOKEN", "token")
    assert (await sink.send(parcel("x"))).code == "UnrecognizedClientException"
    await sink.renew()
    assert (await sink.send(parcel("x"))).code == ""


async def test_renewing_before_the_first_call_is_nothing(sink: CloudWatchSink) -> None:
    """There is no session yet to throw away."""
    await sink.renew()
    assert (await sink.send(parcel("x"))).code == ""


async def test_a_wrong_clock_is_told_as_the_service_tells_it(
    service: FakeCloudWatch, sink: CloudWatchSink
) -> None:
    """Both times are in the message, so that the difference can be seen."""
    service.skew_s = -3600.0
    answer = await sink.send(parcel("x"))
    assert (answer.code, answer.status) == ("InvalidSignatureException", 400)
    assert "Signature not yet current" in answer.message


async def test_a_service_that_quotes_our_secrets_is_not_quoted(
    service: FakeCloudWatch, sink: CloudWatchSink, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The text of a refused signature may hold the whole request with its token."""
    monkeypatch.setenv("AWS_SESSION_TOKEN", "sesame/token==")
    service.secrets[KEY_ID] = sigv4.Secret(SECRET, "sesame/token==")
    text = f"Wrong: x-amz-security-token:sesame/token== {SECRET}\n\nThe Canonical String ..."
    service.fail(Refusal("InvalidSignatureException", text), action="PutLogEvents")
    answer = await sink.send(parcel("x"))
    assert answer.message == "Wrong: x-amz-security-token:*** ***"


async def test_without_credentials_the_answer_says_what_to_give(
    service: FakeCloudWatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    """None at all, half of a pair, and a role with nothing to ask for it."""
    cases = [
        (["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"], None, "Unable to locate credentials; "),
        (["AWS_SECRET_ACCESS_KEY"], None, "missing: AWS_SECRET_ACCESS_KEY"),
        (
            ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"],
            "arn:aws:iam::123456789012:role/gpu",
            "Unable to locate credentials; ",
        ),
    ]
    for absent, role_arn, expected in cases:
        with monkeypatch.context() as patch:
            for name in absent:
                patch.delenv(name)
            sink = CloudWatchSink(Access(endpoint_url=service.url, role_arn=role_arn))
            answer = await sink.send(parcel("x"))
            await sink.close()
        assert answer.code == "NoCredentials"
        assert expected in answer.message
        assert "give the pod's service account a role" in answer.message
    assert service.calls == []


async def test_without_a_region_the_answer_says_where_to_write_it(
    service: FakeCloudWatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is guessed: a wrong region would be somebody's bill."""
    monkeypatch.delenv("AWS_DEFAULT_REGION")
    sink = CloudWatchSink(Access(endpoint_url=service.url))
    answer = await sink.send(parcel("x"))
    await sink.close()
    assert answer.code == "NoRegion"
    assert 'write "region" under "agent"' in answer.message


async def test_a_region_that_is_none_is_not_taken_for_missing_credentials(
    service: FakeCloudWatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answer says what was found, and where to write another."""
    monkeypatch.setenv("AWS_REGION", "eu west")
    sink = CloudWatchSink(Access(endpoint_url=service.url))
    answer = await sink.send(parcel("x"))
    await sink.close()
    assert answer.code == "InvalidRegion"
    assert "'eu west'" in answer.message
    assert "Write one such as eu-west-1" in answer.message
    assert service.calls == []


async def test_the_configured_region_goes_before_every_variable(
    service: FakeCloudWatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then AWS_REGION, which pods are given, then AWS_DEFAULT_REGION, as in other SDKs."""
    monkeypatch.setenv("AWS_REGION", "eu-north-1")
    for region, expected in (("us-east-2", "us-east-2"), (None, "eu-north-1")):
        sink = CloudWatchSink(Access(region, endpoint_url=service.url))
        assert (await sink.send(parcel("x"))).code == ""
        await sink.close()
        assert f"/{expected}/logs/" in service.calls[-1].headers["authorization"]
    monkeypatch.delenv("AWS_REGION")
    sink = CloudWatchSink(Access(endpoint_url=service.url))
    await sink.send(parcel("x"))
    await sink.close()
    assert f"/{REGION}/logs/" in service.calls[-1].headers["authorization"]


async def test_credentials_that_cannot_be_had_are_an_answer(
    service: FakeCloudWatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A profile that is nowhere, a role that STS refuses, an STS that talks nonsense or is away."""
    role = "arn:aws:iam::123456789012:role/gpu"
    denied = "<ErrorResponse><Error><Code>AccessDenied</Code><Message>no</Message></Error>"
    pages = {"/denied/": f"{denied}</ErrorResponse>", "/nonsense/": "SecretAccessKey: abc"}
    async with serving(pages) as (url, _):
        sts, lost = "AWS_ENDPOINT_URL_STS", "CredentialRetrievalError"
        cases = [
            ("AWS_PROFILE", "nowhere", None, lost, "nowhere"),
            (sts, f"{url}/denied/", role, lost, "(AccessDenied) when calling the AssumeRole"),
            (sts, f"{url}/nonsense/", role, lost, "Unable to parse response"),
            (sts, "http://127.0.0.1:1", role, "ConnectionError", "127.0.0.1:1"),
        ]
        for name, value, role_arn, code, words in cases:
            with monkeypatch.context() as patch:
                patch.setenv(name, value)
                sink = CloudWatchSink(Access(endpoint_url=service.url, role_arn=role_arn))
                answer = await sink.send(parcel("x"))
                await sink.close()
            assert (answer.code, words in answer.message) == (code, True), answer
            assert "abc" not in answer.message
    assert service.calls == []


@pytest.fixture
def instance(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take away what says who and where we are; only the surroundings are left to ask."""
    names = ("ACCESS_KEY_ID", "SECRET_ACCESS_KEY", "DEFAULT_REGION", "EC2_METADATA_DISABLED")
    for name in names:
        monkeypatch.delenv(f"AWS_{name}")


GIVEN = {"AccessKeyId": "ASIAGIVEN", "SecretAccessKey": "given", "Token": "token"}


async def test_an_instance_gives_region_and_credentials(
    service: FakeCloudWatch, instance: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a node whose role is used nothing needs to be configured."""
    given = {"Code": "Success", "Expiration": "2999-01-01T00:00:00Z", **GIVEN}
    pages = {
        "/latest/api/token": "t",
        "/latest/meta-data/placement/availability-zone/": "eu-west-1b",
        "/latest/meta-data/iam/security-credentials/": "node",
        "/latest/meta-data/iam/security-credentials/node": json.dumps(given),
    }
    service.secrets["ASIAGIVEN"] = sigv4.Secret("given", "token")
    async with serving(pages) as (url, _):
        monkeypatch.setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", url)
        monkeypatch.setenv("AWS_METADATA_SERVICE_TIMEOUT", "10")  # this one does answer
        sink = CloudWatchSink(Access(endpoint_url=service.url))
        assert (await sink.send(parcel("x"))).code == ""
        await sink.close()
    assert "ASIAGIVEN/" in service.calls[0].headers["authorization"]
    assert "/eu-west-1/logs/" in service.calls[0].headers["authorization"]


def test_the_metadata_service_is_not_waited_for_more_than_a_second(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """From a pod it may never answer, and it is asked twice; who sets a time-out has it."""
    name = session.IMDS_TIMEOUT
    assert 0 < session._core(Access(), 1).get_config_variable(name) * 2 < 1  # noqa: SLF001
    monkeypatch.setenv("AWS_METADATA_SERVICE_TIMEOUT", "5")
    assert session._core(Access(), 1).get_config_variable(name) == 5  # noqa: SLF001
