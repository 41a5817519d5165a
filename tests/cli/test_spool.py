"""``cwgpu spool``: a spool for people, beside an agent and without one."""

import errno
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NoReturn

import pytest
from click.testing import CliRunner

from cwgpu.cli import exits
from cwgpu.cli.main import cli
from cwgpu.cli.spool import contents, table
from cwgpu.logs.parcel import pack
from cwgpu.model.errors import PermissionError_, UsageError
from cwgpu.model.event import EmfEvent, LogBatch, StreamKey
from cwgpu.spool.directory import Spool
from tests.cli import program
from tests.fakes import faults
from tests.fakes.cloudwatch import FakeCloudWatch

NOW_MS = int(time.time() * 1000)
A, B = StreamKey("/gpu/lab", "a"), StreamKey("/gpu/lab", "b")
FOREIGN = "\x1b[31mred\nherring"


def event(number: int, stream: StreamKey = A) -> EmfEvent:
    """Make an event of two samples and three datapoints."""
    return EmfEvent.of(stream, NOW_MS - 60_000 + number, b'{"n":%d}' % number, 2, 3)


def numbers(cloudwatch: FakeCloudWatch, stream: StreamKey = A) -> list[int]:
    """Give which events CloudWatch has."""
    return sorted(each["n"] for each in cloudwatch.messages(stream.group, stream.stream))


class Filled:
    """A spool as an agent leaves it, or while it is still there."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.spool = Spool(path, "0123abcd")
        self.spool.open()
        self.slips = [*self.batch(0, 1, 2), *self.batch(10, 11, stream=B)]
        self.spool.note([event(20), event(21)])
        (self.segment,) = [each.name for each in (path / "wal").iterdir()]

    def batch(self, *which: int, stream: StreamKey = A) -> list[Any]:
        """Put a batch of these events there."""
        made = LogBatch(stream, tuple(event(number, stream) for number in which))
        return list(self.spool.commit([pack(made)]))

    def damage(self, index: int, at: int) -> str:
        """Flip a byte of a batch's file; gives its name."""
        name: str = self.slips[index].name
        file = self.path / "new" / name
        data = bytearray(file.read_bytes())
        data[at] ^= 0xFF
        file.write_bytes(data)
        return name

    def say(self, verb: str, *more: str) -> tuple[Any, str, str]:
        """Run a verb on it, which has to end well or badly in its own words."""
        done = CliRunner().invoke(
            cli, ["spool", verb, str(self.path), *more], standalone_mode=False
        )
        if done.exception is not None:
            raise done.exception
        return done.return_value, done.stdout, done.stderr

    def listed(self) -> dict[str, Any]:
        """Give what `ls -o json` says."""
        code, said, _ = self.say("ls", "-o", "json")
        assert code == exits.OK
        document: dict[str, Any] = json.loads(said)
        return document


@pytest.fixture
def filled(tmp_path: Path) -> Iterator[Filled]:
    """Give a spool of two batches and two events more, whose owner is at work."""
    made = Filled(tmp_path / "spool")
    yield made
    made.spool.close()


def left(filled: Filled) -> list[str]:
    """Give the batches that are there."""
    return sorted(each["name"] for each in filled.listed()["batches"])


def test_what_is_there_is_listed_beside_its_owner(filled: Filled) -> None:
    """Batches and the log, with times and loads, the oldest first, and the sums of both."""
    found = filled.listed()
    first, second = found["batches"]
    assert first == {
        "name": filled.slips[0].name,
        "group": "/gpu/lab",
        "stream": "a",
        "from": contents.moment(NOW_MS - 60_000),
        "to": contents.moment(NOW_MS - 59_998),
        "events": 3,
        "samples": 6,
        "datapoints": 9,
        "message_bytes": 21,
        "size_bytes": 4096,
        "age_s": first["age_s"],
    }
    assert first["age_s"] >= 60
    assert (second["stream"], second["events"]) == ("b", 2)
    (segment,) = found["segments"]
    assert (segment["name"], segment["events"], segment["samples"]) == (filled.segment, 2, 4)
    assert found["total"]["batches"] | {"size_bytes": 0} == {
        "count": 2,
        "events": 5,
        "samples": 10,
        "datapoints": 15,
        "size_bytes": 0,
    }
    assert found["quarantine"] == []


def test_the_table_is_for_people(filled: Filled) -> None:
    """A line for each, numbers below each other, and the sum at the end."""
    code, said, _ = filled.say("ls")
    head, *rows, total = said.splitlines()
    assert code == exits.OK
    assert head.split() == ["NAME", "STREAM", "FROM", "TO", "EVENTS", "SAMPLES", "BYTES", "AGE"]
    assert [row.split()[0] for row in rows] == [
        *(each.name for each in filled.slips),
        filled.segment,
    ]
    assert "/gpu/lab a" in rows[0]
    assert "not in a batch yet" in rows[2]
    assert total.startswith("2 batches of 5 events, 2 events not in a batch yet; 14 samples, ")


def test_an_empty_spool_is_no_fault(tmp_path: Path) -> None:
    """Nothing waits, which is as it should be."""
    Spool(tmp_path, "0123abcd").open()
    done = CliRunner().invoke(cli, ["spool", "ls", str(tmp_path)], standalone_mode=False)
    assert done.return_value == exits.OK
    assert done.stdout == "Nothing waits to be delivered.\n"


def test_the_environment_names_the_directory(filled: Filled) -> None:
    """In a container it is the agent's own."""
    done = program.run("spool", "ls", "-o", "json", env={"CWGPU_SPOOL_DIR": str(filled.path)})
    assert json.loads(done.stdout)["directory"] == str(filled.path)


@pytest.mark.parametrize("verb", ["ls", "replay"])
def test_a_directory_that_is_no_spool_is_named(verb: str, tmp_path: Path) -> None:
    """That nothing is there is told from that nothing waits; nothing is made of a typing error."""
    missing = tmp_path / "not" / "there"
    done = program.run("spool", verb, str(missing))
    assert done.code == exits.UNAVAILABLE
    assert str(missing) in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("verb", ["ls", "show"])
def test_a_spool_of_somebody_else_is_a_matter_of_rights(
    filled: Filled, monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    """The exit code says so, and the message names the place."""

    def refuse(path: Path) -> NoReturn:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))

    # What the kernel says to others than root, who runs these tests in a container.
    monkeypatch.setattr(Path, "is_file", refuse)
    monkeypatch.setattr(Path, "iterdir", refuse)
    with pytest.raises(PermissionError_, match=str(filled.path)) as caught:
        filled.say(verb, *([filled.slips[0].name] if verb == "show" else []))
    assert exits.code(caught.value) == exits.PERMISSION


def test_damaged_files_are_named_and_stop_nothing(filled: Filled) -> None:
    """The good batch is listed; the bad one and what people laid there stand with a reason."""
    name = filled.damage(0, 30)
    (filled.path / "new" / FOREIGN).write_bytes(b"hello")
    (filled.path / "quarantine" / "old.batch").write_bytes(b"kept")
    found = filled.listed()
    assert [each["stream"] for each in found["batches"]] == ["b"]
    files = {Path(each["file"]).name for each in found["quarantine"]}
    assert {name, "old.batch"} < files
    assert all(each["reason"] for each in found["quarantine"])
    _, said, _ = filled.say("ls")
    assert "\x1b" not in said
    assert "3 files in quarantine." in said


def test_a_batch_that_can_be_told_says_what_it_carries(filled: Filled) -> None:
    """Where only the body is damaged, the header still says how many samples are in it."""
    name = filled.damage(0, -3)
    filled.spool.quarantine(filled.slips[0], "its body is damaged")
    (bad,) = filled.listed()["quarantine"]
    assert (bad["events"], bad["samples"]) == (3, 6)
    code, said, complaint = filled.say("show", name)
    assert (code, json.loads(said)["events"]) == (exits.RUNTIME, 3)
    assert name in complaint


def test_a_batch_is_shown(filled: Filled) -> None:
    """What is known of it, or its messages: each is JSON, a line for each, and nothing else."""
    name = filled.slips[0].name
    code, said, _ = filled.say("show", name)
    assert (code, json.loads(said)["samples"]) == (exits.OK, 6)
    for asked in (name, str(filled.path / "new" / name)):
        code, said, complaint = filled.say("show", asked, "--events")
        assert (code, said, complaint) == (exits.OK, '{"n":0}\n{"n":1}\n{"n":2}\n', "")


def test_a_part_of_the_log_is_shown(filled: Filled) -> None:
    """Events that are in no batch yet can be read as well."""
    code, said, _ = filled.say("show", filled.segment)
    assert (code, json.loads(said)["samples"]) == (exits.OK, 4)
    code, said, _ = filled.say("show", filled.segment, "--events")
    assert said == '{"n":20}\n{"n":21}\n'


def test_a_damaged_log_is_shown_as_far_as_it_goes(filled: Filled) -> None:
    """Good lines are printed, and what is wrong is said beside them."""
    with (filled.path / "wal" / filled.segment).open("ab") as file:
        file.write(b"half a li")
    code, said, complaint = filled.say("show", filled.segment, "--events")
    assert (code, said) == (exits.RUNTIME, '{"n":20}\n{"n":21}\n')
    assert filled.segment in complaint
    (filled.path / "wal" / filled.segment).write_bytes(b"\0" * 40)
    code, said, complaint = filled.say("show", filled.segment)
    assert (code, said) == (exits.RUNTIME, "")
    assert complaint


def test_a_body_that_is_none_is_said(filled: Filled) -> None:
    """Checksums that agree make no request of what is in between."""
    parcel = pack(LogBatch(A, (event(1),)))
    (slip,) = filled.spool.commit([type(parcel)(parcel.waybill, b"not gzip")])
    code, said, complaint = filled.say("show", slip.name, "--events")
    assert (code, said) == (exits.RUNTIME, "")
    assert "gzip" in complaint


@pytest.mark.parametrize("name", ["nothing.batch", "../../lock", "", "new"])
def test_a_file_that_is_not_there(filled: Filled, name: str) -> None:
    """Only what lies in the spool's own folders is read."""
    with pytest.raises(UsageError, match="spool ls"):
        filled.say("show", name)


def test_all_is_sent_and_gone(filled: Filled) -> None:
    """Batches and the events of the log arrive once, in their streams, and nothing is left."""
    filled.spool.close()
    with FakeCloudWatch() as cloudwatch:
        done = program.run("spool", "replay", str(filled.path), env=cloudwatch.environ)
        assert (done.code, done.stdout) == (exits.OK, "")
        assert numbers(cloudwatch) == [0, 1, 2, 20, 21]
        assert numbers(cloudwatch, B) == [10, 11]
    assert done.stderr == "cwgpu: 7 events (14 samples) delivered; nothing is left\n"
    assert left(filled) == []
    assert filled.listed()["segments"] == []


def test_where_it_is_sent_can_be_said(filled: Filled, tmp_path: Path) -> None:
    """By the agent's configuration; by flags, which count more."""
    filled.spool.close()
    config = program.configuration(tmp_path / "cwagent.json", "a:9400")
    written = json.loads(config.read_text("utf-8"))
    written["logs"]["endpoint_override"] = "http://127.0.0.1:1"
    config.write_text(json.dumps(written), "utf-8")
    with FakeCloudWatch() as cloudwatch:
        keys = {name: text for name, text in cloudwatch.environ.items() if "KEY" in name}
        arguments = ("replay", str(filled.path), "-c", str(config))
        flags = ("--region", "us-west-2", "--endpoint-url", cloudwatch.url)
        assert program.run("spool", *arguments, *flags[:2], env=keys).code == exits.UNAVAILABLE
        assert program.run("spool", *arguments, *flags, env=keys).code == exits.OK
        assert numbers(cloudwatch) == [0, 1, 2, 20, 21]


@pytest.mark.parametrize(
    ("region", "said"),
    [({}, "no AWS region"), ({"AWS_REGION": "eu west"}, "Provided region_name 'eu west'")],
)
def test_the_flag_that_gives_a_region_is_named(
    filled: Filled, region: dict[str, str], said: str
) -> None:
    """Where nobody names one, and where somebody names what is none."""
    filled.spool.close()
    keys = {"AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "key"}
    done = program.run("spool", "replay", str(filled.path), env={**keys, **region})
    assert done.code == exits.PERMISSION
    assert said in done.stderr
    assert "; or give --region, such as --region eu-west-1" in done.stderr


@pytest.mark.parametrize("name", ["other", "other/nowhere", "other/file"])
def test_nothing_is_sent_from_what_is_no_spool(tmp_path: Path, name: str) -> None:
    """A directory that was mistaken for one is an error, and stays as it was."""
    other = tmp_path / "other"
    other.mkdir()
    (other / "file").write_text("not ours", "utf-8")
    done = program.run("spool", "replay", str(tmp_path / name))
    assert done.code == exits.UNAVAILABLE
    assert "there is no spool" in done.stderr
    assert [path.name for path in other.iterdir()] == ["file"]


def test_an_agent_at_work_is_not_disturbed(filled: Filled) -> None:
    """Its lock is respected, and who has it is said."""
    done = program.run("spool", "replay", str(filled.path))
    assert done.code == exits.UNAVAILABLE
    assert f"process {os.getpid()}" in done.stderr


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        (faults.access_denied(), exits.PERMISSION),
        (faults.expired_token(), exits.PERMISSION),
        (faults.server_error(503), exits.RUNTIME),
        (faults.Reset(), exits.UNAVAILABLE),
    ],
    ids=["denied", "expired", "server", "reset"],
)
def test_what_is_not_taken_stays(filled: Filled, fault: faults.Fault, code: int) -> None:
    """It ends by itself, says why in its exit code, and leaves everything for the next time."""
    filled.spool.close()
    with FakeCloudWatch() as cloudwatch:
        cloudwatch.fail(fault, times=1_000, action="PutLogEvents")
        done = program.run("spool", "replay", str(filled.path), env=cloudwatch.environ)
    assert done.code == code, done.stderr
    assert "0 events (0 samples) delivered; 3 batches (14 samples) are left in" in done.stderr
    found = filled.listed()["total"]
    assert (found["batches"]["events"], found["segments"]["events"]) == (7, 0)


def test_what_can_never_be_stored_is_lost_and_said(filled: Filled) -> None:
    """Events of last month are refused by CloudWatch, and a spool keeps nothing for that long."""
    old = EmfEvent.of(A, NOW_MS - 20 * 86_400_000, b'{"n":99}', 2, 3)
    filled.spool.commit([pack(LogBatch(A, (old,)))])
    filled.spool.close()
    with FakeCloudWatch() as cloudwatch:
        done = program.run("spool", "replay", str(filled.path), env=cloudwatch.environ)
        assert numbers(cloudwatch) == [0, 1, 2, 20, 21]
    assert done.code == exits.RUNTIME
    assert "7 events (14 samples) delivered; 2 samples are lost; nothing is left" in done.stderr


def test_it_can_be_ended_at_any_time(filled: Filled) -> None:
    """Ctrl-C while nobody answers: the batches are there as before, and the spool is free."""
    filled.spool.close()
    with (
        FakeCloudWatch() as cloudwatch,
        program.started("spool", "replay", str(filled.path), env=cloudwatch.environ) as process,
    ):
        cloudwatch.fail(faults.Hold(), times=1_000, action="PutLogEvents")
        cloudwatch.wait(lambda: cloudwatch.actions.count("PutLogEvents") == 2)
        process.send_signal(signal.SIGINT)
        done = program.ended(process)
        cloudwatch.release()
    assert done.code == 130
    found = filled.listed()["total"]
    assert found["batches"]["events"] + found["segments"]["events"] == 7
    filled.spool.open()


def test_a_terminal_sees_it_go_on(filled: Filled) -> None:
    """A line that replaces itself says how much of it is done."""
    filled.spool.close()
    ours, terminal = os.openpty()
    with FakeCloudWatch() as cloudwatch:
        done = subprocess.run(
            [sys.executable, "-m", "cwgpu", "spool", "replay", str(filled.path)],
            cwd=program.ROOT,
            env=program.environ(cloudwatch.environ),
            stderr=terminal,
            timeout=program.AMPLE_S,
            check=False,
        )
    os.close(terminal)
    said = os.read(ours, 65_536).decode()
    os.close(ours)
    assert done.returncode == exits.OK
    assert "\r\x1b[K7 of 7 events delivered\r\x1b[Kcwgpu: 7 events" in said


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (None, "-"),
        (0.4, "0s"),
        (59.9, "59s"),
        (60, "1m"),
        (3_725, "1h 2m"),
        (7_201, "2h"),
        (90_000, "1d 1h"),
        (864_000, "10d"),
    ],
)
def test_ages(seconds: float | None, text: str) -> None:
    """Two units are enough."""
    assert table.age(seconds) == text


def test_a_time_that_no_calendar_has() -> None:
    """A file's header may say what it likes."""
    assert contents.moment(10**17) == "100000000000000000 ms since 1970"


@pytest.mark.parametrize("verb", ["ls", "show", "replay"])
def test_help_loads_nothing(verb: str) -> None:
    """Neither the SDK nor pydantic is for who asks what there is."""
    modules = program.imported("spool", verb, "--help")
    assert not {"boto3", "pydantic", "aiohttp", "msgspec"} & modules


def test_looking_needs_no_sdk(filled: Filled) -> None:
    """`ls` is fast, also on a machine in trouble."""
    modules = program.imported("spool", "ls", str(filled.path))
    assert not {"boto3", "botocore", "pydantic", "aiohttp"} & modules


def test_each_owner_has_one_spool(tmp_path: Path) -> None:
    """Two spools are two directories, and each verb is about the one that it was given."""
    with ExitStack() as stack:
        for name in ("one", "two"):
            made = Filled(tmp_path / name)
            stack.callback(made.spool.close)
            assert made.listed()["directory"] == str(tmp_path / name)
