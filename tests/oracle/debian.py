"""Where the real programs are: promtool, prometheus and vmagent of Debian 12, kubectl from PyPI.

``.ci/oracles`` puts Debian's into a folder of this checkout; kubectl comes with the other
dependencies of the tests. Those on $PATH do as well.
"""

import functools
import gzip
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

PROGRAMS: Mapping[str, str] = {
    "promtool": "2.42",
    "prometheus": "2.42",
    "vmagent": "1.79",
    "kubectl": "",
}
"""Name -> the version whose differences from Prometheus 3.0.1 are known; empty: any will do."""

FETCHED = ("promtool", "prometheus", "vmagent")
"""By ``.ci/oracles``."""

_FOLDER = Path(__file__).parents[2] / ".cache/oracles/usr/bin"
_BESIDE = Path(sys.executable).parent
_CHANGELOG = "share/doc/victoria-metrics/changelog.Debian.gz"


@functools.cache
def find(name: str) -> Path | None:
    """Give the program of this name and our version, if it is here."""
    for each in (str(_FOLDER / name), str(_BESIDE / name), shutil.which(name)):
        if each and Path(each).is_file() and _is_ours(name, Path(each)):
            return Path(each)
    return None


def program(name: str) -> str:
    """Give the program of a test that is marked with its name, and so runs only where it is."""
    found = find(name)
    assert found is not None, f"{name} is not here, and the test is not marked as needing it"
    return str(found)


def _is_ours(name: str, program: Path) -> bool:
    said = _VERSIONS.get(name, _own)(program)
    version = PROGRAMS[name]
    return bool(re.search(rf"\b{re.escape(version)}\." if version else ".", said))


def _own(program: Path) -> str:
    """Give what a program says itself; nothing if it is, say, of another architecture."""
    return _output(program, "--version")


def _of_kubectl(program: Path) -> str:
    return _output(program, "version", "--client")


def _of_package(program: Path) -> str:
    """Give the package's version: Debian's vmagent says none."""
    try:
        with gzip.open(program.parent.parent / _CHANGELOG, "rt") as changelog:
            return changelog.readline() if _output(program, "--help") else ""
    except OSError:
        return ""


def _output(program: Path, *words: str) -> str:
    command = [str(program), *words]
    try:
        said = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return said.stdout + said.stderr


_VERSIONS: Mapping[str, Callable[[Path], str]] = {"vmagent": _of_package, "kubectl": _of_kubectl}
