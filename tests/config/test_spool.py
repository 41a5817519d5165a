"""The spool's directory and bounds, and the time that an end may take."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from cwgpu.config.complaint import Complaint, Level
from cwgpu.plan.plan import Plan, Spool, SpoolMode
from tests.config.inline import HERE, examined


def plan(environ: Mapping[str, str] | None = None, **own: Any) -> Plan:  # noqa: ANN401 - JSON
    """Give the plan of this in the object ``cwgpu``, of which nothing may be said."""
    found = examined({"role": "pod"}, environ=environ, **own)
    assert found.complaints == ()
    assert found.plan is not None
    return found.plan


def said(environ: Mapping[str, str] | None = None, **own: Any) -> Complaint:  # noqa: ANN401 - JSON
    """Give the only thing that is said about it."""
    (one,) = examined({"role": "pod"}, environ=environ, **own).complaints
    return one


def test_what_waits_is_held_in_memory_unless_told() -> None:
    """Without a word there is no directory, and the bounds and the grace are the defaults."""
    assert (plan().spool, plan().shutdown_grace_s) == (Spool(), 25.0)
    assert plan(spool={}).spool == Spool()


def test_everything_written() -> None:
    """Each key has its place in the plan."""
    written = {
        "dir": "/var/spool/cwgpu",
        "mode": "on_failure",
        "max_bytes": "512MiB",
        "max_age": "13d",
    }
    made = plan(spool=written, shutdown_grace="1m")
    assert made.spool == Spool("/var/spool/cwgpu", SpoolMode.ON_FAILURE, 512 << 20, 1_123_200.0)
    assert made.shutdown_grace_s == 60.0


def test_a_relative_directory_begins_where_the_file_is() -> None:
    """As every file name in the configuration does."""
    assert plan(spool={"dir": "spool"}).spool.directory == str(HERE / "spool")


@pytest.mark.parametrize(
    ("written", "size_bytes"),
    [(4_194_304, 4 << 20), ("4MiB", 4 << 20), ("5MB", 5 << 20), (8388608.0, 8 << 20)],
)
def test_a_size_is_bytes_or_has_a_unit(written: object, size_bytes: int) -> None:
    """A number counts bytes; units are Prometheus' powers of 1024."""
    assert plan(spool={"max_bytes": written}).spool.most_bytes == size_bytes


def test_the_environment_names_the_directory() -> None:
    """The variable counts more than the file."""
    environ = {"CWGPU_SPOOL_DIR": "/data/spool"}
    assert plan(environ).spool.directory == "/data/spool"
    assert plan(environ, spool={"dir": "/other"}).spool.directory == "/data/spool"
    assert plan(environ, spool={"mode": "always"}).spool.directory == "/data/spool"
    relative = plan({"CWGPU_SPOOL_DIR": "here"}).spool.directory
    assert relative == str(Path("here").absolute())


@pytest.mark.parametrize(
    ("keys", "code", "path", "message"),
    [
        ({"dir": ""}, "wrong-value", "dir", "wanted 1 characters or more"),
        ({"dir": "", "mode": "always"}, "wrong-value", "dir", "wanted 1 characters or more"),
        ({"dir": 5}, "wrong-type", "dir", "wanted a string"),
        ({"mode": "never"}, "wrong-value", "mode", "wanted 'always', 'on_failure' or 'off'"),
        ({"max_bytes": "256Mi"}, "bad-size", "max_bytes", "write a number and B, KB, MB"),
        ({"max_bytes": 4_194_303}, "wrong-value", "max_bytes", "less than 4MiB"),
        ({"max_bytes": "-4MiB"}, "wrong-value", "max_bytes", "max_bytes -4194304 is less"),
        ({"max_bytes": 5000000.5}, "wrong-type", "max_bytes", "wanted a whole number"),
        ({"max_bytes": None}, "wrong-value", "max_bytes", "max_bytes 0 is less than 4MiB"),
        ({"max_bytes": [1]}, "wrong-type", "max_bytes", "wanted a string, found a list"),
        ({"max_age": "59s"}, "wrong-value", "max_age", "max_age 59s is shorter than 1m"),
        ({"max_age": "13d1ms"}, "wrong-value", "max_age", "is longer than 13d"),
        ({"max_age": "1 day"}, "bad-duration", "max_age", ""),
        ({"directory": "/x"}, "unknown-key", "directory", "unknown key"),
    ],
)
def test_a_spool_that_cannot_be(
    keys: Mapping[str, Any], code: str, path: str, message: str
) -> None:
    """What is wrong is told with the bound."""
    one = said(spool=keys)
    assert (one.code, one.level, one.path) == (code, Level.ERROR, f"cwgpu.spool.{path}")
    assert message in one.message


@pytest.mark.parametrize(
    ("environ", "keys", "message"),
    [
        ({}, {"mode": "always"}, "held in memory only"),
        ({}, {"mode": "on_failure"}, "held in memory only"),
        ({"CWGPU_SPOOL_DIR": ""}, {"mode": "always"}, "held in memory only"),
        ({}, {"mode": "off", "dir": "/x"}, "nothing is written into the spool's directory"),
        ({"CWGPU_SPOOL_DIR": "/x"}, {"mode": "off"}, "nothing is written"),
    ],
)
def test_a_mode_that_has_no_effect(
    environ: Mapping[str, str], keys: Mapping[str, Any], message: str
) -> None:
    """Who asks for a spool and has none is told, and so is who has one that nothing uses."""
    one = said(environ, spool=keys)
    assert (one.code, one.level, one.path) == (
        "nothing-spooled",
        Level.WARNING,
        "cwgpu.spool.mode",
    )
    assert message in one.message


def test_no_spool_is_no_fault() -> None:
    """``off`` without a directory is how one says it."""
    assert plan(spool={"mode": "off"}).spool == Spool(mode=SpoolMode.OFF)


def test_events_that_the_group_would_not_take() -> None:
    """They need not wait for longer than the log group keeps them."""
    one = said(spool={"dir": "/x", "max_age": "3d1m"}, log_retention_days=3)
    assert (one.code, one.level) == ("spool-outlives-group", Level.WARNING)
    assert plan(spool={"dir": "/x", "max_age": "3d"}, log_retention_days=3).warnings == ()
    assert plan(log_retention_days=1).warnings == ()


@pytest.mark.parametrize(
    ("written", "code", "message"),
    [
        ("5s", "wrong-value", "shutdown_grace 5s is shorter than 6s"),
        (0, "wrong-value", "shutdown_grace 0s is shorter than 6s"),
        ("1h1s", "wrong-value", "shutdown_grace 1h1s is longer than an hour"),
        (25, "bad-duration", "no unit; write 25s"),
    ],
)
def test_a_grace_that_cannot_be(written: object, code: str, message: str) -> None:
    """Sending takes place in all but the last 5 seconds of it."""
    one = said(shutdown_grace=written)
    assert (one.code, one.path) == (code, "cwgpu.shutdown_grace")
    assert message in one.message


@pytest.mark.parametrize(("written", "grace_s"), [("6s", 6.0), ("1h", 3600.0)])
def test_bounds_of_the_grace(written: str, grace_s: float) -> None:
    """Both ends are allowed."""
    assert plan(shutdown_grace=written).shutdown_grace_s == grace_s
