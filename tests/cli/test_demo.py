"""`cwgpu demo` as a process: the real agent on exporters that are simulated."""

import json
import re
import signal
import socket
import urllib.request

import pytest

from tests.cli import program


def test_the_demo_shows_events_and_a_summary() -> None:
    """Lines of JSON with what the article's graphs are made of, and an account at the end."""
    with program.started("demo", "--duration", "3s", "--gpus", "2") as process:
        assert process.stdout is not None
        first = json.loads(process.stdout.readline())
        done = program.ended(process)
    assert done.code == 0
    events = [first, *done.events]
    assert all(event["ClusterName"] == "demo" and "_aws" in event for event in events)
    assert any("DCGM_FI_DEV_GPU_UTIL" in event for event in events)  # a slice has none
    assert "2 found: 2 up, 0 down" in done.stderr


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_the_pages_alone(number: signal.Signals) -> None:
    """With --serve-only there is no agent; a signal ends it in peace."""
    with program.started("demo", "--serve-only", "--nodes", "2", "--port", "0") as process:
        assert process.stderr is not None
        lines = [process.stderr.readline().decode() for _ in range(2)]
        urls = [line.removeprefix("serving ").strip() for line in lines]
        for url in urls:
            with urllib.request.urlopen(url) as response:  # noqa: S310 - our own server
                assert b"DCGM_FI_DEV_GPU_UTIL{" in response.read()
        process.send_signal(number)
        done = program.ended(process)
    assert (done.code, done.stdout, done.stderr) == (0, "", "")
    assert len(set(urls)) == 2


def test_a_port_that_is_taken() -> None:
    """Exit code 69 and what to do; the nodes' ports follow each other."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = program.run("demo", "--serve-only", "--nodes", "2", "--port", str(port))
    assert (done.code, done.stdout) == (69, "")
    assert re.search(rf"cannot listen on 127.0.0.1:{port} .*name another port", done.stderr)


def test_no_port_after_the_last() -> None:
    """The nodes' ports end at 65535, so that two nodes cannot begin there."""
    done = program.run("demo", "--serve-only", "--nodes", "2", "--port", "65535")
    assert (done.code, done.stdout) == (2, "")
    assert done.stderr == "cwgpu: no 2 ports begin at --port 65535: name a lower one\n"
