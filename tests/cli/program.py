"""The program as a process: started, told, and judged by what it writes and how it ends."""

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

ROOT = Path(__file__).parents[2]
AMPLE_S = 50.0
"""For a process that ends by itself, on a machine that has other things to do."""
SELECTED, OTHERS = "util", "temperature"


@dataclass(frozen=True, slots=True)
class Ended:
    """A process that has ended."""

    code: int
    stdout: str
    stderr: str

    @property
    def events(self) -> list[dict[str, Any]]:
        """The data: every line of stdout has to be a JSON object."""
        read = [json.loads(line) for line in self.stdout.splitlines()]
        assert all(isinstance(one, dict) for one in read)
        return read

    @property
    def journal(self) -> list[dict[str, Any]]:
        """The lines of stderr that are the journal's."""
        return [json.loads(line) for line in self.stderr.splitlines() if line.startswith("{")]

    @property
    def summary(self) -> str:
        """The rest of stderr."""
        lines = [line for line in self.stderr.splitlines() if not line.startswith("{")]
        return "\n".join(lines)


def environ(more: Mapping[str, str] | None = None) -> dict[str, str]:
    """Give an environment in which nothing leads to AWS or to another configuration."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    return {**kept, "AWS_EC2_METADATA_DISABLED": "true", **(more or {})}


def run(*arguments: str, env: Mapping[str, str] | None = None, cwd: Path = ROOT) -> Ended:
    """Run to the end."""
    done = subprocess.run(
        [sys.executable, "-m", "cwgpu", *arguments],
        env={**environ(env), "PYTHONPATH": str(ROOT)},
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=AMPLE_S,
        check=False,
    )
    return Ended(done.returncode, done.stdout, done.stderr)


def imported(*arguments: str, env: Mapping[str, str] | None = None) -> set[str]:
    """Run to a good end, and give the modules that it imported."""
    done = run(*arguments, env={**(env or {}), "PYTHONPROFILEIMPORTTIME": "1"})
    assert done.code == 0
    return {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}


@contextlib.contextmanager
def started(
    *arguments: str, env: Mapping[str, str] | None = None, stdout: int | IO[bytes] | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    """Start it; who leaves the block early leaves nothing running."""
    process = subprocess.Popen(
        [sys.executable, "-m", "cwgpu", *arguments],
        env=environ(env),
        cwd=ROOT,
        stdout=subprocess.PIPE if stdout is None else stdout,
        stderr=subprocess.PIPE,
        bufsize=0,  # a line can be read, and what follows is still there for `ended`
    )
    with process:
        try:
            yield process
        finally:
            process.kill()


def ended(process: subprocess.Popen[bytes]) -> Ended:
    """Wait for the end of a process that was started; gives what was not read before."""
    stdout, stderr = process.communicate(timeout=AMPLE_S)
    return Ended(process.returncode, (stdout or b"").decode(), stderr.decode())


def configuration(
    path: Path, *addresses: str, selects: str = f"^({SELECTED}|energy)$", **own: object
) -> Path:
    """Write a CloudWatch agent's JSON that scrapes these addresses once a second."""
    job = {
        "job_name": "dcgm",
        "scrape_interval": "1s",
        "scrape_timeout": "1s",
        "static_configs": [{"targets": list(addresses), "labels": {"Service": "dcgm"}}],
    }
    declaration = {
        "source_labels": ["Service"],
        "label_matcher": "dcgm",
        "dimensions": [["Service", "pod"]],
        "metric_selectors": [selects],
    }
    prometheus = {
        "cluster_name": "lab",
        "emf_processor": {"metric_declaration": [declaration]},
    }
    logs = {"metrics_collected": {"prometheus": prometheus}, "force_flush_interval": 3600}
    document = {"logs": logs, "cwgpu": {"scrape_configs": [job], **own}}
    path.write_text(json.dumps(document), "utf-8")
    return path


def page(value: int = 87, energy: int = 1000) -> bytes:
    """Give a page with a gauge and a counter that are selected, and a gauge that is not."""
    labels = '{pod="train-0"}'
    return (
        f"# TYPE {SELECTED} gauge\n{SELECTED}{labels} {value}\n"
        f"# TYPE energy counter\nenergy{labels} {energy}\n"
        f"# TYPE {OTHERS} gauge\n{OTHERS}{labels} 41\n"
    ).encode()
