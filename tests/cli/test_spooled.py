"""`cwgpu run` as a process that has to end while CloudWatch takes nothing."""

import signal
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from cwgpu.spool.directory import look
from tests.cli import program
from tests.fakes import faults
from tests.fakes.cloudwatch import FakeCloudWatch
from tests.fakes.exporter import FakeExporter

GROUP, STREAM = "/aws/containerinsights/lab/prometheus", "dcgm"


@pytest.fixture
def exporter() -> Iterator[FakeExporter]:
    """Serve pages that can be told apart by the gauge's value."""
    with FakeExporter(*(program.page(value) for value in range(100))) as fake:
        yield fake


@pytest.fixture
def cloudwatch() -> Iterator[FakeCloudWatch]:
    """Run a CloudWatch Logs that takes nothing until it is healed."""
    with FakeCloudWatch() as fake:
        fake.add(GROUP, STREAM)
        fake.fail(faults.server_error(503), times=10_000)
        yield fake


@pytest.fixture
def config(exporter: FakeExporter, tmp_path: Path) -> str:
    """Write a configuration that scrapes the exporter and flushes at the end."""
    return str(
        program.configuration(tmp_path / "agent.json", exporter.address, shutdown_grace="10s")
    )


@pytest.fixture
def arguments(config: str) -> list[str]:
    """Give the command line of an agent that stays."""
    return ["run", "-c", config, "--listen", "off"]


def scraped(exporter: FakeExporter, pages: int = 2) -> None:
    """Wait until so many pages have been read: the last but one was rendered by then."""
    exporter.wait(lambda: len(exporter.requests) > pages, program.AMPLE_S)


def values(cloudwatch: FakeCloudWatch) -> Counter[float]:
    """Count the datapoints of the gauge by their values."""
    return Counter(point.value for point in cloudwatch.datapoints if point.name == "util")


def spooled(directory: Path) -> int:
    """Count the events that a spool holds."""
    found = look(directory)
    noted = sum(len(events) for _, events in found.segments)
    return noted + sum(slip.waybill.events for slip in found.slips)


def test_without_a_spool_it_is_lost(
    exporter: FakeExporter, cloudwatch: FakeCloudWatch, arguments: list[str]
) -> None:
    """Exit code 1, and how much it is and why is the last that is said."""
    with program.started(*arguments, env=cloudwatch.environ) as process:
        scraped(exporter)
        process.terminate()
        done = program.ended(process)
    assert done.code == 1
    last = done.journal[-1]
    assert done.stderr.splitlines()[-1].startswith("{")
    assert (last["event"], last["level"]) == ("ended", "error")
    assert (last["spooled_batches"], last["spooled_samples"]) == (0, 0)
    assert last["lost_samples"] >= 3
    assert "cwgpu.spool.dir" in last["reason"]
    lost = [one for one in done.journal if one["event"] == "samples_lost"]
    assert sum(one["count"] for one in lost) == last["lost_samples"]
    assert "ServiceUnavailableException" in lost[0]["detail"]


def test_with_a_spool_nothing_is_lost(
    exporter: FakeExporter, cloudwatch: FakeCloudWatch, arguments: list[str], tmp_path: Path
) -> None:
    """Exit code 0, and the next process delivers each datapoint once."""
    directory = tmp_path / "spool"
    arguments = [*arguments, "--spool-dir", str(directory)]
    with program.started(*arguments, env=cloudwatch.environ) as process:
        scraped(exporter)
        process.terminate()
        done = program.ended(process)
    assert done.code == 0
    last = done.journal[-1]
    assert (last["event"], last["level"]) == ("ended", "info")
    assert (last["lost_samples"], last["directory"]) == (0, str(directory))
    assert last["spooled_batches"] == len(look(directory).slips)
    assert [one["event"] for one in done.journal if one["event"] == "samples_lost"] == []
    events = spooled(directory)
    assert events >= 2

    cloudwatch.heal()
    again = program.run(*arguments, "--once", env=cloudwatch.environ)
    assert again.code == 0
    (opened,) = [one for one in again.journal if one["event"] == "spool_opened"]
    assert (opened["batches"], opened["events"]) == (last["spooled_batches"], events)
    taken = values(cloudwatch)
    assert len(taken) == events + 1  # a page that was being read at the signal is in neither
    assert set(taken.values()) == {1}
    assert spooled(directory) == 0


def test_a_run_that_ends_by_itself_says_where_the_rest_is(
    cloudwatch: FakeCloudWatch, arguments: list[str], tmp_path: Path
) -> None:
    """Its exit code is a failure's, but nothing is lost: the summary's last line says so."""
    directory = tmp_path / "spool"
    arguments = [*arguments, "--spool-dir", str(directory), "--scrapes", "2"]
    done = program.run(*arguments, env=cloudwatch.environ)
    assert done.code == 1
    last = done.stderr.splitlines()[-1]
    assert last.startswith("Left       3 samples are not delivered yet")
    assert str(directory) in last

    cloudwatch.heal()
    again = program.run(*arguments, env=cloudwatch.environ)
    assert again.code == 0
    assert "Left" not in again.stderr


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_who_is_ended_at_once_loses_nothing(
    exporter: FakeExporter,
    cloudwatch: FakeCloudWatch,
    arguments: list[str],
    tmp_path: Path,
    number: signal.Signals,
) -> None:
    """The second SIGTERM does not wait, and SIGKILL never does: what was rendered is in the log."""
    directory = tmp_path / "spool"
    arguments = [*arguments, "--spool-dir", str(directory)]
    with program.started(*arguments, env=cloudwatch.environ) as process:
        scraped(exporter, 3)
        while process.poll() is None:
            process.send_signal(number)
            _pause(process)
        done = program.ended(process)
    assert done.code == -number
    assert spooled(directory) >= 2

    cloudwatch.heal()
    assert program.run(*arguments, "--once", env=cloudwatch.environ).code == 0
    taken = values(cloudwatch)
    assert set(taken.values()) == {1}
    assert taken.keys() >= {0, 1}
    assert spooled(directory) == 0


def _pause(process: subprocess.Popen[bytes]) -> None:
    """Give a process a moment to end in."""
    try:
        process.wait(0.05)
    except subprocess.TimeoutExpired:
        return


def test_a_spool_that_is_in_use(
    exporter: FakeExporter, cloudwatch: FakeCloudWatch, arguments: list[str], tmp_path: Path
) -> None:
    """Exit code 69; the message says by whom, and what to do."""
    directory = tmp_path / "spool"
    arguments = [*arguments, "--spool-dir", str(directory)]
    with program.started(*arguments, env=cloudwatch.environ) as process:
        scraped(exporter)
        done = program.run(*arguments, env=cloudwatch.environ)
        process.terminate()
        program.ended(process)
    assert done.code == 69
    assert f"{directory}: the spool is in use by process {process.pid}" in done.stderr
    assert "cwgpu.spool.dir" in done.stderr


def test_a_spool_that_may_not_be_written(arguments: list[str], tmp_path: Path) -> None:
    """Something else is there: exit code 69, before anything is scraped."""
    (tmp_path / "spool").write_text("no directory", "utf-8")
    done = program.run(*arguments, "--spool-dir", str(tmp_path / "spool"))
    assert done.code == 69
    assert f"{tmp_path / 'spool'}: the spool cannot be opened" in done.stderr


def test_a_dry_run_leaves_the_spool_alone(
    exporter: FakeExporter, config: str, tmp_path: Path
) -> None:
    """Somebody looks at what the agent would do: the agent's files are not theirs."""
    directory = tmp_path / "spool"
    done = program.run("run", "-c", config, "--dry-run", "--once", "--spool-dir", str(directory))
    assert done.code == 0
    assert not directory.exists()
    assert len(exporter.requests) == 1


def test_a_spool_that_is_off(
    exporter: FakeExporter, cloudwatch: FakeCloudWatch, tmp_path: Path
) -> None:
    """The directory may be written down for another day; nothing is written there."""
    own = {"dir": str(tmp_path / "spool"), "mode": "off"}
    config = program.configuration(tmp_path / "off.json", exporter.address, spool=own)
    cloudwatch.heal()
    done = program.run(
        "run", "-c", str(config), "--once", "--listen", "off", env=cloudwatch.environ
    )
    assert done.code == 0
    assert values(cloudwatch) == Counter({0: 1})
    assert not (tmp_path / "spool").exists()
