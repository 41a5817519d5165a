"""Signals and the first process of a container, which the kernel does not end by itself."""

import signal
import subprocess
import sys

import pytest

_SOON = """
import os, signal
os.getpid = lambda: {pid}
from cwgpu.agent import init
init.terminable()
signal.signal(signal.SIGHUP, lambda *_: print("still there", flush=True))
print("up", flush=True)
while True:
    signal.pause()
"""


@pytest.mark.parametrize(("pid", "code"), [(1, 128 + signal.SIGTERM), (7, -signal.SIGTERM)])
def test_sigterm_ends_every_process(pid: int, code: int) -> None:
    """The first one by an exit code, as it cannot die of the signal; another as it always would."""
    asked = [sys.executable, "-c", _SOON.format(pid=pid)]
    with subprocess.Popen(asked, stdout=subprocess.PIPE, bufsize=0) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"up\n"
        process.send_signal(signal.SIGHUP)
        assert process.stdout.readline() == b"still there\n"
        process.terminate()
        assert process.wait() == code
