"""Where the real programs are: promtool and prometheus, as Debian 12 has them.

``.ci/oracles`` puts them into a folder of this checkout; those on $PATH do as well.
"""

import functools
import shutil
import subprocess
from pathlib import Path

VERSION = "2.42"
"""The version whose differences from 3.0.1 are known (apart.py); another has others."""

_FOLDER = Path(__file__).parents[2] / ".cache/oracles/usr/bin"


@functools.cache
def find(name: str) -> Path | None:
    """Give the program of this name and our version, if it is here."""
    for each in (str(_FOLDER / name), shutil.which(name)):
        if (
            each
            and Path(each).is_file()
            and _version(each).startswith(f"{name}, version {VERSION}.")
        ):
            return Path(each)
    return None


def program(name: str) -> str:
    """Give the program of a test that is marked with its name, and so runs only where it is."""
    found = find(name)
    assert found is not None, f"{name} is not here, and the test is not marked as needing it"
    return str(found)


def _version(program: str) -> str:
    try:
        said = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)
    except OSError:  # such as one of another architecture
        return ""
    return said.stdout + said.stderr
