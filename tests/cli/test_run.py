"""`cwgpu run` as a process: data on stdout, all else on stderr, an exit code that means it."""

import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli import program
from tests.fakes import faults
from tests.fakes.cloudwatch import FakeCloudWatch
from tests.fakes.exporter import FakeExporter

GROUP, STREAM = "/aws/containerinsights/lab/prometheus", "dcgm"
DIMENSIONS = frozenset({("Service", "dcgm"), ("pod", "train-0")})


@pytest.fixture
def exporter() -> Iterator[FakeExporter]:
    """Serve a page whose counter goes on with every scrape."""
    with FakeExporter(*(program.page(value, 1000 + 5 * value) for value in range(100))) as fake:
        yield fake


@pytest.fixture
def cloudwatch() -> Iterator[FakeCloudWatch]:
    """Run a CloudWatch Logs without any group."""
    with FakeCloudWatch() as fake:
        yield fake


@pytest.fixture
def config(exporter: FakeExporter, tmp_path: Path) -> str:
    """Write a configuration that scrapes the exporter."""
    return str(program.configuration(tmp_path / "agent.json", exporter.address))


def test_a_dry_run(exporter: FakeExporter, config: str) -> None:
    """Events and nothing else on stdout; journal and summary on stderr; every sample has a fate."""
    done = program.run("run", "-c", config, "--dry-run", "--once")
    assert done.code == 0
    (event,) = done.events
    assert (event["util"], event["pod"], event["Service"]) == (0, "train-0", "dcgm")
    assert "energy" not in event
    assert [one["event"] for one in done.journal] == ["config_loaded", "targets_changed"]
    assert "3 read in 1 scrape: 1 selected, 2 dropped" in done.summary
    assert "1 unselected" in done.summary
    assert "1 counter_baseline" in done.summary
    assert "--scrapes 2" in done.summary
    assert len(exporter.requests) == 1


def test_two_scrapes_give_differences(config: str) -> None:
    """The second one has the counter, and the summary no longer asks for it."""
    done = program.run("run", "-c", config, "--dry-run", "--scrapes", "2")
    assert done.code == 0
    assert [(one["util"], one.get("energy")) for one in done.events] == [(0, None), (1, 5)]
    assert "--scrapes 2" not in done.summary


def test_the_environment_stands_for_flags(config: str) -> None:
    """Each flag has a twin, and what is on the command line goes before it."""
    twins = {
        "CWGPU_CONFIG": config,
        "CWGPU_DRY_RUN": "1",
        "CWGPU_SCRAPES": "50",
        "CWGPU_LOG_FORMAT": "logfmt",
        "CWGPU_LOG_LEVEL": "error",
    }
    done = program.run("run", "--scrapes", "1", "--log-level", "info", env=twins)
    assert done.code == 0
    assert len(done.events) == 1
    assert "level=info event=config_loaded" in done.stderr


def test_a_directory_of_files_is_one_configuration(exporter: FakeExporter, tmp_path: Path) -> None:
    """As the CloudWatch agent reads /etc/cwagentconfig; the flag goes before $CWGPU_CONFIG."""
    whole = json.loads(program.configuration(tmp_path / "all.json", exporter.address).read_text())
    folder = tmp_path / "config"
    folder.mkdir()
    for name, part in whole.items():
        (folder / f"{name}.json").write_text(json.dumps({name: part}), "utf-8")
    arguments = ("run", "-c", str(folder), "--dry-run", "--once")
    done = program.run(*arguments, env={"CWGPU_CONFIG": str(tmp_path / "nowhere.json")})
    assert done.code == 0
    assert len(done.events) == 1


def test_once_delivers(config: str, cloudwatch: FakeCloudWatch) -> None:
    """Group and stream are made, the datapoints are there, and the process ends."""
    done = program.run("run", "-c", config, "--once", "--listen", "off", env=cloudwatch.environ)
    assert (done.code, done.stdout) == (0, "")
    (point,) = cloudwatch.datapoints
    assert (point.name, point.value, point.dimensions) == ("util", 0, DIMENSIONS)
    assert len(cloudwatch.messages(GROUP, STREAM)) == 1


def test_throttling_loses_and_doubles_nothing(config: str, cloudwatch: FakeCloudWatch) -> None:
    """Calls are refused and connections broken; then each datapoint is there, once."""
    cloudwatch.fail(faults.throttled(), action="PutLogEvents", times=3)
    cloudwatch.fail(faults.Reset(), action="PutLogEvents")
    cloudwatch.fail(faults.server_error(503), action="PutLogEvents")
    cloudwatch.fail(faults.throttled(), action="CreateLogStream")
    arguments = ("run", "-c", config, "--scrapes", "3", "--listen", "off")
    done = program.run(*arguments, env=cloudwatch.environ)
    assert done.code == 0
    points = sorted((point.name, point.value) for point in cloudwatch.datapoints)
    assert points == [("energy", 5), ("energy", 5), ("util", 0), ("util", 1), ("util", 2)]
    reasons = [one["reason"] for one in done.journal if one["event"] == "delivery_retried"]
    assert "ThrottlingException" in reasons


def test_sigterm_flushes(exporter: FakeExporter, config: str, cloudwatch: FakeCloudWatch) -> None:
    """The flush interval is an hour: what was scraped is delivered because of the signal."""
    arguments = ("run", "-c", config, "--listen", "off")
    with program.started(*arguments, env=cloudwatch.environ) as process:
        exporter.wait(lambda: len(exporter.requests) >= 3, program.AMPLE_S)
        process.terminate()
        done = program.ended(process)
    assert done.code == 0
    values = [point.value for point in cloudwatch.datapoints if point.name == "util"]
    assert values[:2] == [0, 1]
    assert len(values) == len(set(values))
    assert done.summary == ""


def test_sigint_ends_a_dry_run(config: str) -> None:
    """With its summary, as someone at a terminal wants it."""
    with program.started("run", "-c", config, "--dry-run") as process:
        assert process.stdout is not None
        first = json.loads(process.stdout.readline())
        process.send_signal(signal.SIGINT)
        done = program.ended(process)
    assert done.code == 0
    assert first["util"] == 0
    assert "1 found: 1 up, 0 down" in done.summary


def test_a_hangup_during_the_start_is_a_reload(
    exporter: FakeExporter, config: str, tmp_path: Path
) -> None:
    """It does not end the program: when it is up, it reads its files once more."""
    pipe = tmp_path / "pipe.json"
    os.mkfifo(pipe)
    changed = program.configuration(tmp_path / "changed.json", exporter.address, selects="^energy$")
    with program.started("run", "-c", str(pipe), "--dry-run") as process:
        with pipe.open("wb") as writer:  # opens when the program does, to read its configuration
            process.send_signal(signal.SIGHUP)
            writer.write(Path(config).read_bytes())
            changed.replace(pipe)
        loaded = 0
        while loaded < 2:
            line = (process.stderr or io.BytesIO()).readline()
            assert line, "it has ended"
            loaded += b"config_loaded" in line
        process.terminate()
        assert program.ended(process).code == 0


def test_the_second_signal_does_not_wait(config: str, cloudwatch: FakeCloudWatch) -> None:
    """CloudWatch holds the answer; who asks again has the process gone."""
    cloudwatch.fail(faults.Hold(), action="PutLogEvents", times=99)
    cloudwatch.add(GROUP, STREAM)
    arguments = ("run", "-c", config, "--listen", "off")
    with program.started(*arguments, env=cloudwatch.environ) as process:
        cloudwatch.wait(lambda: cloudwatch.calls, program.AMPLE_S)
        while process.poll() is None:
            process.terminate()
            _pause(process)
        done = program.ended(process)
    assert done.code == -signal.SIGTERM


def test_the_second_signal_ends_the_first_process_of_a_container(
    config: str, cloudwatch: FakeCloudWatch
) -> None:
    """It cannot die of a signal, so it takes the exit code of one that did."""
    cloudwatch.fail(faults.Hold(), action="PutLogEvents", times=99)
    cloudwatch.add(GROUP, STREAM)
    first = "import os; os.getpid = lambda: 1; from cwgpu.cli.main import main; main()"
    arguments = [sys.executable, "-c", first, "run", "-c", config, "--listen", "off"]
    environ = program.environ(cloudwatch.environ)
    with subprocess.Popen(
        arguments, env=environ, cwd=program.ROOT, stderr=subprocess.PIPE
    ) as process:
        cloudwatch.wait(lambda: cloudwatch.calls, program.AMPLE_S)
        while process.poll() is None:
            process.terminate()
            _pause(process)
        process.communicate()
    assert process.returncode == 128 + signal.SIGTERM


def _pause(process: subprocess.Popen[bytes]) -> None:
    """Give a process a moment to end in."""
    try:
        process.wait(0.05)
    except subprocess.TimeoutExpired:
        return


def test_a_reader_that_goes_is_no_error(config: str) -> None:
    """As after `| head -1`: exit code 0, and nothing on stderr but the journal."""
    with program.started("run", "-c", config, "--dry-run") as process:
        assert process.stdout is not None
        assert json.loads(process.stdout.readline())["util"] == 0
        process.stdout.close()
        assert process.stderr is not None
        stderr = process.stderr.read()
        assert process.wait(program.AMPLE_S) == 0
    assert program.Ended(0, "", stderr.decode()).summary == ""


def test_a_full_disk_is_an_error(config: str) -> None:
    """Data that cannot be written is said, and is a failure at run time."""
    with (
        Path("/dev/full").open("wb") as full,
        program.started("run", "-c", config, "--dry-run", "--once", stdout=full) as process,
    ):
        done = program.ended(process)
    assert done.code == 1
    assert done.summary == "cwgpu: standard output cannot be written: No space left on device"


@pytest.mark.parametrize("streams", ["2>/dev/full", "2>&-", ">&-", ">&- 2>&- <&-"])
def test_streams_that_are_not_there_stop_nothing(
    exporter: FakeExporter, config: str, streams: str
) -> None:
    """Whoever closes stdout wants no data; a journal that cannot be written is only missing."""
    line = f'exec "$@" {streams}'
    arguments = [sys.executable, "-m", "cwgpu", "run", "-c", config, "--dry-run", "--once"]
    done = subprocess.run(
        ["/bin/sh", "-c", line, "sh", *arguments],
        env=program.environ(),
        cwd=program.ROOT,
        capture_output=True,
        timeout=program.AMPLE_S,
        check=False,
    )
    assert done.returncode == 0
    assert len(exporter.requests) == 1
    assert bool(done.stdout) == (">&-" not in streams.replace("2>&-", ""))
    assert b"Traceback" not in done.stderr


def test_nothing_selected_is_not_success(exporter: FakeExporter, tmp_path: Path) -> None:
    """Exit code 4; the summary says what to look at."""
    config = program.configuration(tmp_path / "agent.json", exporter.address, selects="^Util$")
    done = program.run("run", "-c", str(config), "--dry-run", "--once")
    assert (done.code, done.stdout) == (4, "")
    assert "No metric_selector finds the names that are unselected." in done.summary


def test_labels_that_are_missing_are_named(exporter: FakeExporter, tmp_path: Path) -> None:
    """In the summary's samples and in its next step, with the rule that asks for them."""
    config = program.configuration(tmp_path / "agent.json", exporter.address)
    document = json.loads(config.read_text())
    group = document["cwgpu"]["scrape_configs"][0]["static_configs"][0]
    del group["labels"]
    config.write_text(json.dumps(document))
    done = program.run("run", "-c", str(config), "--dry-run", "--once")
    why = 'selected by name, but label_matcher "dcgm" finds nothing in Service = ""'
    said = " ".join(done.summary.split())
    assert f"util, energy, temperature some are {why}" in said
    assert f"Next Samples are {why}. Give the job's targets a value that it finds, by " in said
    processor = document["logs"]["metrics_collected"]["prometheus"]["emf_processor"]
    processor["metric_declaration"][0]["dimensions"] = [["Service", "Namespace"]]
    group["labels"] = {"Service": "dcgm"}
    config.write_text(json.dumps(document))
    done = program.run("run", "-c", str(config), "--dry-run", "--once")
    said = " ".join(done.summary.split())
    assert "util, energy [Namespace, Service] needs Namespace 1 unselected" in said
    assert "no dimension set fits them: [Namespace, Service] needs Namespace. Give the" in said


def test_no_target_that_answers_is_not_success(tmp_path: Path) -> None:
    """Exit code 69, and why it did not answer."""
    config = program.configuration(tmp_path / "agent.json", "127.0.0.1:1")
    done = program.run("run", "-c", str(config), "--dry-run", "--once")
    assert (done.code, done.stdout) == (69, "")
    assert "connection_refused" in done.summary


def test_a_broken_configuration_starts_nothing(tmp_path: Path) -> None:
    """Exit code 78, and the complaint names its place."""
    config = program.configuration(tmp_path / "agent.json", selects="(")
    done = program.run("run", "-c", str(config), "--dry-run", "--once")
    assert (done.code, done.stdout) == (78, "")
    assert f"{config}:1:" in done.stderr


def test_a_permission_that_is_missing(config: str, cloudwatch: FakeCloudWatch) -> None:
    """Exit code 77 of a run that ends by itself; the service's words are in the journal."""
    cloudwatch.fail(faults.access_denied(), times=99)
    done = program.run("run", "-c", config, "--once", "--listen", "off", env=cloudwatch.environ)
    assert done.code == 77
    (lost,) = [one for one in done.journal if one["event"] == "samples_lost"]
    assert lost["reason"] == "shutdown"
    assert "is not authorized to perform: logs:PutLogEvents" in lost["detail"]


def test_a_service_that_is_not_there(config: str, cloudwatch: FakeCloudWatch) -> None:
    """Exit code 69; a port that another program has is one, too."""
    nowhere = {**cloudwatch.environ, "AWS_ENDPOINT_URL_CLOUDWATCH_LOGS": "http://127.0.0.1:1"}
    done = program.run("run", "-c", config, "--once", "--listen", "off", env=nowhere)
    assert done.code == 69
    taken = cloudwatch.url.removeprefix("http://")
    done = program.run("run", "-c", config, "--listen", taken, env=cloudwatch.environ)
    assert done.code == 69
    assert f"cannot listen on {taken}" in done.stderr


def test_it_is_scraped_itself(config: str, exporter: FakeExporter, tmp_path: Path) -> None:
    """A second cwgpu reads the self metrics of the first, at the address in the journal."""
    with program.started("run", "-c", config, "--dry-run", "--listen", "127.0.0.1:0") as process:
        assert process.stderr is not None
        lines = (json.loads(line) for line in process.stderr)
        address = next(line["address"] for line in lines if line["event"] == "listening")
        other = program.configuration(
            tmp_path / "other.json", address, selects="^cwgpu_config_last_reload_successful$"
        )
        text = other.read_text().replace('["Service", "pod"]', '["Service"]')
        other.write_text(text, "utf-8")
        done = program.run("run", "-c", str(other), "--dry-run", "--once")
    assert done.code == 0
    assert [one["cwgpu_config_last_reload_successful"] for one in done.events] == [1]


def test_a_dry_run_imports_no_sdk(config: str) -> None:
    """What is not needed is not loaded."""
    modules = program.imported("run", "-c", config, "--dry-run", "--once")
    assert {"aiohttp", "pydantic"} <= modules
    assert modules.isdisjoint({"boto3", "botocore", "kubernetes", "msgspec"})
    assert modules.isdisjoint({"cwgpu.agent.watches", "cwgpu.model.objects", "cwgpu.kube.connect"})


def test_a_sidecar_imports_nothing_for_others(config: str, cloudwatch: FakeCloudWatch) -> None:
    """With targets that stand in one file of JSON there is no Kubernetes and no YAML."""
    modules = program.imported("run", "-c", config, "--once", env=cloudwatch.environ)
    assert {"aiohttp", "boto3", "pydantic"} <= modules
    assert modules.isdisjoint({"kubernetes", "yaml", "rich", "cwgpu.kube.connect"})
    assert modules.isdisjoint({"cwgpu.agent.watches", "cwgpu.agent.contend", "cwgpu.model.objects"})
