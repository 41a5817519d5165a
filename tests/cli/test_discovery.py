"""Targets from files and from a service, found by the real program and scraped to the end."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import trustme

from tests.cli import program
from tests.fakes import secure
from tests.fakes.exporter import Answer, FakeExporter
from tests.fakes.secure import SecureExporter

JSON = "application/json"
ARGUMENTS = ("--dry-run", "--once")


@pytest.fixture
def exporter() -> Iterator[FakeExporter]:
    """Serve a page."""
    with FakeExporter(program.page()) as fake:
        yield fake


@pytest.fixture
def service() -> Iterator[FakeExporter]:
    """Run a discovery service that names nothing."""
    with FakeExporter(Answer(body=b"[]", content_type=JSON), path="/targets") as fake:
        yield fake


def naming(*targets: str, **labels: str) -> bytes:
    """Write a list of one group."""
    return json.dumps([{"targets": targets, "labels": {"Service": "dcgm", **labels}}]).encode()


def configuration(path: Path, **discoveries: Any) -> str:  # noqa: ANN401 - JSON
    """Write a configuration of one job that finds its targets so."""
    program.configuration(path)
    document = json.loads(path.read_text())
    (job,) = document["cwgpu"]["scrape_configs"]
    del job["static_configs"]
    path.write_text(json.dumps(document | {"cwgpu": {"scrape_configs": [job | discoveries]}}))
    return str(path)


def test_all_sources_give_targets(exporter: FakeExporter, tmp_path: Path) -> None:
    """Two files, and a service behind TLS that wants a password: each names an exporter of its own.

    One of them is named by all three, and scraped once.
    """
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    (tmp_path / "password").write_text("s3cret\n")
    context = secure.server_context(authority.issue_cert("127.0.0.1"))
    with (
        FakeExporter(program.page(1)) as one,
        FakeExporter(program.page(2)) as two,
        FakeExporter(program.page(3)) as three,
        SecureExporter(context, user=("scout", "s3cret"), content_type=JSON) as service,
    ):
        (tmp_path / "gpus-a.json").write_bytes(naming(one.address, exporter.address))
        (tmp_path / "gpus.yml").write_bytes(naming(two.address, exporter.address))
        service.page = naming(three.address, exporter.address)
        config = configuration(
            tmp_path / "agent.json",
            file_sd_configs=[{"files": ["gpus-*.json", "gpus.yml"]}],
            http_sd_configs=[
                {
                    "url": service.url,
                    "basic_auth": {"username": "scout", "password_file": "password"},
                    "tls_config": {"ca_file": "ca.pem"},
                }
            ],
        )
        done = program.run("run", "-c", config, *ARGUMENTS)
    assert done.code == 0
    assert sorted(event["util"] for event in done.events) == [1, 2, 3, 87]
    assert "4 found: 4 up, 0 down" in done.summary
    assert "discovery_failed" not in done.stderr
    assert len(exporter.requests) == 1
    assert len(service.requests) == 1


def test_a_service_that_is_not_there(tmp_path: Path) -> None:
    """Nothing is found, which is said with who did not answer, and is no success."""
    url = "http://127.0.0.1:1/targets?token=s3cret"
    config = configuration(tmp_path / "agent.json", http_sd_configs=[{"url": url}])
    done = program.run("run", "-c", config, *ARGUMENTS)
    assert (done.code, done.stdout) == (4, "")
    (said,) = [one for one in done.journal if one["event"] == "discovery_failed"]
    assert said["reason"].startswith("127.0.0.1:1: connection refused; ")
    assert "http_sd_configs" in done.summary
    assert "s3cret" not in done.stderr


def test_an_answer_that_is_no_list(
    exporter: FakeExporter, service: FakeExporter, tmp_path: Path
) -> None:
    """It is told what to write; the targets of the file are scraped all the same."""
    (tmp_path / "a.json").write_bytes(naming(exporter.address))
    service.answer(Answer(body=b'{"targets": []}', content_type=JSON))
    config = configuration(
        tmp_path / "agent.json",
        file_sd_configs=[{"files": [str(tmp_path / "a.json")]}],
        http_sd_configs=[{"url": service.url}],
    )
    done = program.run("run", "-c", config, *ARGUMENTS)
    assert done.code == 0
    assert [event["util"] for event in done.events] == [87]
    (said,) = [one for one in done.journal if one["event"] == "discovery_failed"]
    assert said["job"] == "dcgm"
    assert said["reason"].startswith(f"{service.address}: it holds a mapping: write a list such as")


def test_a_service_that_names_others_is_followed(service: FakeExporter, tmp_path: Path) -> None:
    """An agent that stays takes up what the service says next, and asks as often as it was told."""
    with FakeExporter(program.page(1)) as one, FakeExporter(program.page(2)) as two:
        service.answer(
            Answer(body=naming(one.address), content_type=JSON),
            Answer(body=naming(two.address), content_type=JSON),
        )
        config = configuration(
            tmp_path / "agent.json",
            http_sd_configs=[{"url": service.url, "refresh_interval": "1s"}],
        )
        with program.started("run", "-c", config, "--dry-run") as process:
            one.wait(lambda: one.requests, program.AMPLE_S)
            two.wait(lambda: two.requests, program.AMPLE_S)
            process.terminate()
            done = program.ended(process)
    assert done.code == 0
    assert service.requests[0].headers["x-prometheus-refresh-interval-seconds"] == "1"
