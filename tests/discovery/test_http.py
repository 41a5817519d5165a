"""Discovery services on loopback: asked, believed, and forgiven when they fail."""

import gzip
import json
import math
import time
from collections.abc import AsyncIterator

import pytest

import cwgpu
from cwgpu.client.clients import Clients
from cwgpu.discovery import http
from cwgpu.discovery.findings import Findings
from cwgpu.discovery.http import HttpSource
from cwgpu.model.target import TargetGroup
from cwgpu.plan.client import Authorization, BasicAuth, Client, Secret
from cwgpu.plan.plan import HttpDiscovery
from tests.fakes.exporter import Answer, FakeExporter

JSON = "application/json"
STAYS = "; until then the targets of its last good answer stay in use"


def naming(*targets: str, **more: str) -> Answer:
    """Make an answer that names these targets in one group."""
    return Answer(
        body=json.dumps([{"targets": targets, "labels": more}]).encode(), content_type=JSON
    )


def says(text: str | bytes, content_type: str | None = JSON) -> Answer:
    """Make an answer of this text."""
    return Answer(
        body=text if isinstance(text, bytes) else text.encode(), content_type=content_type
    )


def addresses(findings: Findings) -> list[str]:
    """List the addresses found."""
    return [target["__address__"] for group in findings.groups for target in group.targets]


@pytest.fixture
async def service() -> AsyncIterator[FakeExporter]:
    """Run a service that names one target."""
    async with FakeExporter(naming("10.0.0.1:9400"), path="/targets") as fake:
        yield fake


@pytest.fixture
async def clients() -> AsyncIterator[Clients]:
    """Give the way to servers."""
    async with Clients(time.monotonic, environ={}) as made:
        yield made


async def test_what_is_asked(service: FakeExporter, clients: Clients) -> None:
    """The service hears who asks, how often, and in what form the answer is wanted."""
    credentials = BasicAuth(Secret("scout"), Secret("s3cret"))
    discovery = HttpDiscovery(f"{service.url}?zone=a", 90.5, Client(credentials))
    source = HttpSource(discovery, 0, clients)
    assert source.every_s == 90.5
    await source.read()
    (asked,) = service.requests
    assert asked.path == "/targets?zone=a"
    assert asked.headers["x-prometheus-refresh-interval-seconds"] == "90.5"
    assert asked.headers["accept"] == JSON
    assert asked.headers["accept-encoding"] == "gzip"
    assert asked.headers["user-agent"] == f"cwgpu/{cwgpu.__version__}"
    assert asked.headers["authorization"] == "Basic c2NvdXQ6czNjcmV0"


@pytest.mark.parametrize(
    ("refresh_s", "printed"),
    [(60.0, "60"), (60.001, "60.001"), (60.1, "60.1"), (90.5, "90.5"), (31_536_000.0, "31536000")],
)
async def test_the_interval_is_printed_as_go_does(
    service: FakeExporter, clients: Clients, refresh_s: float, printed: str
) -> None:
    """Without an exponent, and without a point where there is nothing behind it."""
    await HttpSource(HttpDiscovery(service.url, refresh_s), 0, clients).read()
    assert service.requests[0].headers["x-prometheus-refresh-interval-seconds"] == printed


async def test_groups_carry_their_url(service: FakeExporter, clients: Clients) -> None:
    """Each has the url as a label, its own is replaced; sources differ by entry and place."""
    service.answer(
        says('[{"targets": ["a:9400", "b:9400"], "labels": {"zone": "a", "__meta_url": "x"}},'
             ' {"Targets": ["c:9400"]}]')
    )  # fmt: skip
    source = HttpSource(HttpDiscovery(service.url, 60.0), 2, clients)
    assert await source.read() == Findings(
        (
            TargetGroup(
                "http/2:0",
                ({"__address__": "a:9400"}, {"__address__": "b:9400"}),
                {"zone": "a", "__meta_url": service.url},
            ),
            TargetGroup("http/2:1", ({"__address__": "c:9400"},), {"__meta_url": service.url}),
        )
    )


async def test_a_password_in_the_url_is_no_label(service: FakeExporter, clients: Clients) -> None:
    """The service is shown it; a person who looks at labels is not."""
    url = service.url.replace("http://", "http://scout:s3cret@")
    (group,) = (await HttpSource(HttpDiscovery(url, 60.0), 0, clients).read()).groups
    assert group.labels == {"__meta_url": service.url.replace("http://", "http://scout:xxxxx@")}
    assert service.requests[0].headers["authorization"] == "Basic c2NvdXQ6czNjcmV0"


@pytest.mark.parametrize(
    "content_type",
    [JSON, "application/json; charset=utf-8", 'Application/JSON;charset="UTF-8"',
     "application/json;\tcharset=UTF-8"],
)  # fmt: skip
async def test_json_has_several_names(
    service: FakeExporter, clients: Clients, content_type: str
) -> None:
    """The forms of the Content-Type that Prometheus takes."""
    service.answer(says('[{"targets": ["a:9400"]}]', content_type))
    source = HttpSource(HttpDiscovery(service.url, 60.0), 0, clients)
    assert addresses(await source.read()) == ["a:9400"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("[]", []),
        ("null", []),
        ("[{}]", []),
        ('[{"targets": null, "labels": null}]', []),
        ('[{"targets": ["a:9400", null], "labels": {"none": null}}]', ["a:9400", ""]),
        (b'\xef\xbb\xbf[{"targets": ["a:9400"]}]', ["a:9400"]),
    ],
)
async def test_what_is_missing_is_empty(
    service: FakeExporter, clients: Clients, text: str | bytes, found: list[str]
) -> None:
    """Nothing where something may stand is no fault."""
    service.answer(says(text))
    findings = await HttpSource(HttpDiscovery(service.url, 60.0), 0, clients).read()
    assert (addresses(findings), findings.faults) == (found, ())


FAULTS = [
    (Answer(status=503, body=b"[]", content_type=JSON), "answered with HTTP status 503, not 200; "),
    (Answer(status=204, content_type=JSON), "answered with HTTP status 204, not 200"),
    (says("[]", "text/html"), "the answer has the Content-Type 'text/html'; have "),
    (says("[]", "application/json; charset=latin-1"), "the answer has the Content-Type"),
    (says("[]", "application/json; charset=utf-8; q=1"), "the answer has the Content-Type"),
    (says("[]", None), "the answer has no Content-Type; have the service"),
    (says(""), "line 1, column 1: this is no JSON (Expecting value)"),
    (says("[{"), "line 1, column 3: this is no JSON"),
    (says("- targets: [a:9400]\n"), "line 1, column 1: this is no JSON"),
    (says("{}"), "it holds a mapping: write a list such as [{"),
    (says("[null]"), "[0] is empty: write a group such as {"),
    (says('[{"targets": ["a:9400"], "weight": "1"}]'),
     "[0] has the key 'weight': write targets or labels"),
    (says('[{"targets": [9400]}]'), "[0].targets[0] is 9400: write text in quotes"),
    (says('[{"labels": {"zone": 1}}]'), "[0].labels.zone is 1: write text in quotes"),
    (says('[{"labels": {"": "a"}}]'), "[0].labels has an empty name"),
    (says(b'["\xff"]'), "byte 3 is not UTF-8"),
    (Answer(body=b"[]", content_type=JSON, gzip=True, cut_bytes=4),
     "the answer says gzip and ends in the middle"),
    (Answer(body=b"[]", content_type=JSON, headers={"Content-Encoding": "gzip"}),
     "the answer says gzip and cannot be unpacked"),
    (Answer(body=b"[]", content_type=JSON, missing_bytes=9), "not all of the page came"),
]  # fmt: skip


@pytest.mark.parametrize(("answer", "fault"), FAULTS, ids=range(len(FAULTS)))
async def test_a_bad_answer_keeps_the_last_good_targets(
    service: FakeExporter, clients: Clients, answer: Answer, fault: str
) -> None:
    """Each fault is one sentence: who answered, what is wrong and what to do; then all is well."""
    service.answer(answer, naming("10.0.0.1:9400"), answer, naming("10.0.0.2:9400"))
    source = HttpSource(HttpDiscovery(service.url, 60.0), 0, clients)
    before, good, bad, after = [await source.read() for _ in range(4)]
    assert before.groups == ()
    (said,) = before.faults
    assert said.startswith(f"{service.address}: {fault}")
    assert (addresses(good), good.faults) == (["10.0.0.1:9400"], ())
    assert bad == Findings(good.groups, (said + STAYS,))
    assert (addresses(after), after.faults) == (["10.0.0.2:9400"], ())


async def test_a_service_that_is_away(service: FakeExporter, clients: Clients) -> None:
    """Nobody listens: that is said with the address and no more of the url."""
    await service.stop()
    url = f"http://scout:s3cret@{service.address}/targets?token=s3cret"
    source = HttpSource(HttpDiscovery(url, 60.0), 0, clients)
    assert (await source.read()).faults == (
        f"{service.address}: connection refused; is it running, and is this its port?",
    )
    await service.start()
    assert addresses(await source.read()) == ["10.0.0.1:9400"]


async def test_a_service_that_never_answers(service: FakeExporter, clients: Clients) -> None:
    """It is waited for as long as the next question is away."""
    service.answer(Answer(delay_s=math.inf))
    (said,) = (await HttpSource(HttpDiscovery(service.url, 0.05), 0, clients).read()).faults
    assert said.startswith(
        f"{service.address}: it took the connection but did not answer in 0.05 s"
    )


async def test_an_answer_that_does_not_end(service: FakeExporter, clients: Clients) -> None:
    """It must all be there in time."""
    service.answer(
        Answer(body=b"[]", content_type=JSON, drip_bytes=1, drip_s=math.inf), naming("a:9400")
    )
    source = HttpSource(HttpDiscovery(service.url, 0.2), 0, clients)
    (said,) = (await source.read()).faults
    assert "it answered, but not all of the page came (1 bytes did) in 0.2 s" in said
    assert addresses(await source.read()) == ["a:9400"]


async def test_a_secret_that_cannot_be_read_is_a_fault(
    service: FakeExporter, clients: Clients
) -> None:
    """Nothing is asked without the credentials that were meant to be shown."""
    client = Client(Authorization("Bearer", Secret(file="/nowhere/token")))
    (said,) = (await HttpSource(HttpDiscovery(service.url, 60.0, client), 0, clients).read()).faults
    assert "/nowhere/token" in said
    assert service.requests == []


@pytest.mark.parametrize("answer", [says("[]", "Token hunter2"), says('[{"hunter2": 1}]')])
async def test_what_a_service_repeats_is_not_repeated(
    service: FakeExporter, clients: Clients, answer: Answer
) -> None:
    """A service that answers with what it was asked with brings no secret into the journal."""
    service.answer(answer)
    client = Client(Authorization("Token", Secret("hunter2")))
    (said,) = (await HttpSource(HttpDiscovery(service.url, 60.0, client), 0, clients).read()).faults
    assert "***" in said
    assert "hunter2" not in said


async def test_gzip_is_unpacked(service: FakeExporter, clients: Clients) -> None:
    """Whatever case its name is in."""
    packed = gzip.compress(b'[{"targets": ["a:9400"]}]')
    service.answer(Answer(body=packed, content_type=JSON, headers={"Content-Encoding": "GZip"}))
    source = HttpSource(HttpDiscovery(service.url, 60.0), 0, clients)
    assert addresses(await source.read()) == ["a:9400"]


@pytest.mark.parametrize("packed", [False, True])
async def test_a_huge_answer_is_refused(
    service: FakeExporter, clients: Clients, monkeypatch: pytest.MonkeyPatch, *, packed: bool
) -> None:
    """What counts is its size unpacked: one that just fits is taken, one byte more is not."""
    monkeypatch.setattr(http, "SIZE_BYTES", 1 << 20)
    text = b"[]".ljust(1 << 20)
    service.answer(
        Answer(body=text, content_type=JSON, gzip=packed),
        Answer(body=text + b" ", content_type=JSON, gzip=packed),
    )
    source = HttpSource(HttpDiscovery(service.url, 60.0), 0, clients)
    assert (await source.read()).faults == ()
    assert (await source.read()).faults == (
        f"{service.address}: the answer is larger than 1 MiB: use several services",
    )


async def test_an_answer_that_stays_gives_the_same_objects(
    service: FakeExporter, clients: Clients
) -> None:
    """So whoever made targets of its groups need not do so again."""
    source = HttpSource(HttpDiscovery(service.url, 60.0), 0, clients)
    first, second = await source.read(), await source.read()
    assert len(service.requests) == 2
    assert first.groups[0] is second.groups[0]
