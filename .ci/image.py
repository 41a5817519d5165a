#!/usr/bin/env python3
"""Run the Dockerfile's statements without Docker: the same commands below a temporary folder.

The build stage's files are copied and its commands run, with every path below /opt and the
working directory moved into that folder. Then, from another folder and without this checkout on
its path, the second stage's commands are run and its program is asked for its version.
"""

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def statements() -> Iterator[tuple[str, str]]:
    """Give keyword and rest of each statement; a backslash at a line's end goes on."""
    text = (ROOT / "Dockerfile").read_text("utf-8").replace("\\\n", " ")
    for line in text.splitlines():
        if line.strip() and not line.startswith("#"):
            keyword, _, rest = line.partition(" ")
            yield keyword, rest.strip()


def copy(rest: str, work: Path) -> None:
    """Copy what git tracks of the sources, as COPY would in a clean checkout."""
    *sources, target = shlex.split(rest)
    for source in sources:
        listing = ["git", "ls-files", "-z", "--cached", "--", source]
        names = subprocess.run(listing, cwd=ROOT, check=True, capture_output=True, text=True)
        files = [name for name in names.stdout.split("\0") if name]
        if not files:
            sys.exit(f"Dockerfile copies {source}, which git does not track")
        for name in files:
            inside = Path(name).relative_to(source) if (ROOT / source).is_dir() else Path(name)
            place = work / target / inside
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, place)


def build(top: Path) -> None:
    """Do what the stages do; what the second copies is where it was."""
    work = top / "src"
    work.mkdir()
    stages = 0
    for keyword, rest in statements():
        stages += keyword == "FROM"
        if keyword == "COPY" and stages == 1:
            copy(rest, work)
        elif keyword == "RUN":
            command = rest.replace("/opt/", f"{top}/opt/").replace("python -m", "python3 -m")
            print("+", rest, flush=True)
            cwd = work if stages == 1 else top
            subprocess.run(["sh", "-euc", command], cwd=cwd, check=True)


def check(top: Path) -> None:
    """Ask the second stage's program for its version, and look into the wheel."""
    final = dict(list(statements())[-2:])
    if final != {"ENTRYPOINT": '["cwgpu"]', "CMD": '["run"]'}:
        sys.exit(f"Dockerfile ends with {final}")
    clean = {"PATH": f"{top}/opt/cwgpu/bin:{os.environ['PATH']}", "HOME": str(top)}
    for command in ("cwgpu --version", "cwgpu run --help >/dev/null"):
        subprocess.run(["sh", "-euc", command], cwd=top, env=clean, check=True)
    (wheel,) = (top / "opt/wheel").glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        shipped = archive.read("cwgpu/cwagent.json")
    if shipped != (ROOT / "config/cwagent.json").read_bytes():
        sys.exit("the wheel's default configuration is not config/cwagent.json")
    print(f"{wheel.name} holds the default configuration")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        build(Path(name))
        check(Path(name))
