"""Slow and dead targets must not delay the others: ``make load``.

The real program scrapes 300 exporters on loopback addresses, every 5 seconds with a timeout of 4,
and 120 of them accept the connection and never answer. The bar: within a minute each of the other
180 is scraped at least 11 times of 12, and 99 of 100 scrapes come less than 250 ms after they were
due. When one was due follows from the target's offset in the interval (``cwgpu.pace.cadence``);
when it came is what the exporter, a process of its own, saw. A target's first scrape, which comes
as soon as the target is known, counts as a scrape but is not late or early.

Prints a table, writes all figures as JSON with ``--json FILE``, and ends with 1 below the bar.
"""

import argparse
import contextlib
import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from cwgpu.config import load
from cwgpu.discovery import static
from cwgpu.model.target import Target
from cwgpu.pace import cadence
from cwgpu.prom import targeting
from tests.load import exporters

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "tests/data/samples/02-h100x8-pods-4.8.1.prom"
INTERVAL_S, TIMEOUT_S = 5, 4
WINDOW_S = 60.0
LEAST_SCRAPES = int(WINDOW_S / INTERVAL_S) - 1
MOST_LATE_S = 0.25
_SPARE_S = 4
"""From the agent's start to its first scrape, and some more for the window to be whole."""
_WAIT_S = 60.0
"""For a program that ends by itself, beyond the time it was told to run."""


@dataclass(frozen=True, slots=True)
class Figures:
    """What came out."""

    healthy: int
    dead: int
    samples_per_page: int
    fewest_scrapes: int
    """Of all healthy targets, within the window."""
    most_scrapes: int
    dead_fewest: int
    """Of all dead targets: they have to be asked as often."""
    late_ms: dict[str, float]
    """By percentile."""
    agent_cpu_s: float
    agent_memory_mb: float
    load_average: float
    """Of the machine, over the minute of the run."""

    @property
    def passes(self) -> bool:
        """Whether the bar is met."""
        return self.fewest_scrapes >= LEAST_SCRAPES and self.late_ms["99"] < MOST_LATE_S * 1000


def configuration(addresses: Sequence[str]) -> dict[str, Any]:
    """Give a CloudWatch agent's JSON that scrapes these and sends everything."""
    job = {
        "job_name": "load",
        "scrape_interval": f"{INTERVAL_S}s",
        "scrape_timeout": f"{TIMEOUT_S}s",
        "static_configs": [{"targets": list(addresses), "labels": {"Service": "dcgm"}}],
    }
    declaration = {
        "source_labels": ["Service"],
        "label_matcher": "dcgm",
        "dimensions": [["Service", "pod"]],
        "metric_selectors": ["^DCGM_"],
    }
    prometheus = {
        "cluster_name": "load",
        "emf_processor": {"metric_declaration": [declaration]},
    }
    return {
        "logs": {"metrics_collected": {"prometheus": prometheus}},
        "cwgpu": {"scrape_configs": [job]},
    }


def targets(config: Path) -> list[Target]:
    """Give the targets as the agent will have them."""
    plan = load.load(config, None, {}).plan
    found = [
        target
        for job in plan.jobs
        for group in static.groups(job)
        for target in targeting.targets(job, group)
    ]
    return [target for target in found if isinstance(target, Target)]


@contextlib.contextmanager
def exporting(healthy: int, dead: int) -> Iterator[subprocess.Popen[str]]:
    """Start the exporters and end them."""
    command = [sys.executable, "-m", "tests.load.exporters", str(healthy), str(dead), str(PAGE)]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def scrape(config: Path, seconds: float) -> str:
    """Run the agent to its end; gives its last words."""
    command = [sys.executable, "-m", "cwgpu", "run", "--dry-run", "-c", str(config)]
    done = subprocess.run(
        [*command, "--duration", f"{round(seconds)}s", "--log-level", "error"],
        cwd=ROOT,
        env={**os.environ, "AWS_EC2_METADATA_DISABLED": "true"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        timeout=seconds + _WAIT_S,
        check=False,
    )
    return done.stderr


def late_s(target: Target, arrivals: Sequence[float]) -> list[float]:
    """Give how long after their moments the scrapes came, without the first."""
    offset_s = cadence.offset_s(repr(target.identity).encode(), target.interval_s)
    early_s = 0.5 * target.interval_s
    return [(at - offset_s + early_s) % target.interval_s - early_s for at in sorted(arrivals)[1:]]


def percentiles(values: Sequence[float]) -> dict[str, float]:
    """Give some percentiles, and the most, in milliseconds."""
    ordered = sorted(values)
    last = len(ordered) - 1
    return {
        f"{share:g}": round(ordered[min(last, int(len(ordered) * share / 100))] * 1000, 1)
        for share in (50, 90, 99, 99.9, 100)
    }


def measure(healthy: int, dead: int, window_s: float) -> tuple[Figures, str]:
    """Do it all once."""
    with tempfile.TemporaryDirectory() as folder, exporting(healthy, dead) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        port = process.stdout.readline().strip()
        good = exporters.addresses(healthy, exporters.FIRST)
        silent = exporters.addresses(dead, exporters.FIRST + 1)
        config = Path(folder, "config.json")
        config.write_text(json.dumps(configuration([f"{each}:{port}" for each in good + silent])))
        words = scrape(config, window_s + _SPARE_S)
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)  # the agent: no other has ended yet
        process.stdin.close()
        arrivals: dict[str, list[float]] = json.loads(process.stdout.readline())
        wanted = {target.url.split("/")[2].split(":")[0]: target for target in targets(config)}
    began = min(min(times) for times in arrivals.values())
    within = {
        address: [at for at in arrivals.get(address, ()) if at < began + window_s]
        for address in wanted
    }
    late = [each for address in good for each in late_s(wanted[address], within[address])]
    figures = Figures(
        healthy=healthy,
        dead=dead,
        samples_per_page=sum(
            not line.startswith("#") for line in PAGE.read_text("utf-8").splitlines()
        ),
        fewest_scrapes=min(len(within[address]) for address in good),
        most_scrapes=max(len(within[address]) for address in good),
        dead_fewest=min((len(within[address]) for address in silent), default=0),
        late_ms=percentiles(late),
        agent_cpu_s=round(usage.ru_utime + usage.ru_stime, 1),
        agent_memory_mb=round(usage.ru_maxrss / 1024, 1),
        load_average=round(os.getloadavg()[0], 2),
    )
    return figures, words


def table(figures: Figures, window_s: float) -> str:
    """Give the figures for a person."""
    rows = [
        ("targets", f"{figures.healthy} that answer, {figures.dead} that never do"),
        ("page", f"{figures.samples_per_page} samples, everything selected"),
        (
            f"scrapes in {window_s:g} s",
            f"{figures.fewest_scrapes} to {figures.most_scrapes} (wanted: {LEAST_SCRAPES})",
        ),
        ("dead ones", f"asked at least {figures.dead_fewest} times"),
        *(
            (f"late, {share} %", f"{late} ms{' (wanted: < 250)' if share == '99' else ''}")
            for share, late in figures.late_ms.items()
        ),
        ("the agent", f"{figures.agent_cpu_s} s of CPU, {figures.agent_memory_mb} MB"),
        ("load average", f"{figures.load_average}"),
    ]
    return "\n".join(f"{name:<18} {value}" for name, value in rows) + "\n"


def main() -> int:
    """Measure, print, judge."""
    parser = argparse.ArgumentParser(prog="python -m tests.load.targets", description=__doc__)
    parser.add_argument("--healthy", type=int, default=180)
    parser.add_argument("--dead", type=int, default=120)
    parser.add_argument("--json", type=Path, help="write the figures there, too")
    flags = parser.parse_args()
    figures, words = measure(flags.healthy, flags.dead, WINDOW_S)
    if flags.json:
        flags.json.write_text(json.dumps({**asdict(figures), "passes": figures.passes}, indent=2))
    sys.stdout.write(table(figures, WINDOW_S))
    if figures.passes:
        return 0
    sys.stdout.write(f"The bar is missed. The agent's last words:\n{words}\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())
