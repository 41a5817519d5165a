"""`cwgpu` itself: its verbs, its mistakes, its errors."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import cwgpu
from cwgpu.cli import exits
from cwgpu.model import errors
from tests.cli import program


def test_help_lists_verbs_and_exit_codes() -> None:
    """What a script needs to know stands in the help."""
    done = program.run("--help")
    assert done.code == 0
    for verb in ("run", "check", "demo"):
        assert f"\n  {verb} " in done.stdout
    for code, meaning in exits.MEANINGS.items():
        assert f"  {code:<3} {meaning}" in done.stdout


def test_the_version_imports_nothing_heavy() -> None:
    """It is asked for by scripts, often."""
    modules = program.imported("--version")
    assert "click" in modules
    heavy = {"aiohttp", "pydantic", "boto3", "botocore", "kubernetes", "re2", "yaml", "asyncio"}
    assert modules.isdisjoint(heavy)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["rnu"], "No such command 'rnu'. Did you mean 'run'?"),
        (["frobnicate"], "No such command 'frobnicate'.\n"),
        (["--verison"], "No such option '--verison'. Did you mean '--version'?"),
        (["run", "--dryrun"], "No such option '--dryrun'. Did you mean '--dry-run'?"),
        (["run", "--duration", "soon"], "'soon' is no duration: write 30s, 5m or 1h"),
        (["run", "--scrapes", "0"], "'--scrapes'"),
        (["run", "--once", "--scrapes", "2"], "--once and --scrapes exclude each other"),
        (["run", "--listen", "9464"], "'9464' is no address: write HOST:PORT, :PORT or \"off\""),
        (["run", "--listen", ":" + "9" * 5000], "9' is no address: write HOST:PORT"),
        (["run", "--log-level", "loud"], "'loud'"),
        ([], "Usage:"),
    ],
)
def test_a_wrong_command_line(arguments: list[str], said: str) -> None:
    """Exit code 2, nothing on stdout, and on stderr what to write instead."""
    done = program.run(*arguments)
    assert (done.code, done.stdout) == (2, "")
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_help_into_a_closed_pipe_is_quiet() -> None:
    """As with `cwgpu --help | true`."""
    reader, writer = os.pipe()
    os.close(reader)
    arguments = [sys.executable, "-m", "cwgpu", "run", "--help"]
    done = subprocess.run(
        arguments, stdout=writer, stderr=subprocess.PIPE, check=False, cwd=program.ROOT
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (errors.ConfigurationError(), 78),
        (errors.UsageError(), 2),
        (errors.PermissionError_(), 77),
        (errors.UnavailableError(), 69),
        (errors.RuleError(), 1),
    ],
)
def test_errors_have_exit_codes(error: errors.CwgpuError, code: int) -> None:
    """Whoever decides on the exit code knows whose fault it was."""
    assert exits.code(error) == code


def test_the_version_is_told() -> None:
    """In one line."""
    assert program.run("--version").stdout == f"cwgpu {cwgpu.__version__}\n"


@pytest.mark.parametrize("arguments", [["--version"], ["run", "--help"]])
def test_a_full_disk_is_said(arguments: list[str]) -> None:
    """In one line, and it is a failure."""
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "cwgpu", *arguments],
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
            cwd=program.ROOT,
        )
    said = b"cwgpu: standard output cannot be written: No space left on device\n"
    assert (done.returncode, done.stderr) == (1, said)
