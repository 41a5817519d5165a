"""Pages of exporters whose pods come and go, as functions of the time alone.

Four of the eight H100 of a real page, with 25 samples each: one pod holds one GPU.
"""

import re
import zlib
from dataclasses import dataclass

from tests.bench import pages

GPUS = 4
FAMILIES = 25
SAMPLES = GPUS * FAMILIES
_PAGE = "02-h100x8-pods-4.8.1"
_SERIES = re.compile(r'(?P<name>\w+)\{gpu="(?P<gpu>[0-3])",.*\} (?P<value>\S+)')
_OURS = re.compile(r'(?<=[{,])(?P<label>UUID|Hostname|pod)="[^"]*"')
_TYPE = re.compile(r"# TYPE (\w+) counter")


@dataclass(frozen=True, slots=True)
class _Line:
    gpu: int
    head: str
    """With places for what is another one elsewhere or later."""
    value: float
    counts: bool


def _read() -> list[_Line | str]:
    text = (pages.SAMPLES / f"{_PAGE}.prom").read_text("utf-8")
    counters = set(_TYPE.findall(text))
    found: list[_Line | str] = []
    for line in text.splitlines():
        match = _SERIES.fullmatch(line)
        if line.startswith("#"):
            found.append(line)
        elif match is not None:
            head = line.rpartition(" ")[0].replace("{", "{{").replace("}", "}}")
            head = _OURS.sub(lambda one: f'{one["label"]}="{{{one["label"]}}}"', head)
            counts = match["name"] in counters
            found.append(_Line(int(match["gpu"]), head, float(match["value"]), counts))
    return found


_LINES = _read()


@dataclass(frozen=True, slots=True)
class Node:
    """One exporter between two of its restarts."""

    name: str
    pod_s: float
    """How long each of its pods lives."""
    born_s: float
    """When its counters began."""

    def page(self, now_s: float) -> bytes:
        """Give the page of this moment. Every value moves."""
        labels = [self._labels(gpu, now_s) for gpu in range(GPUS)]
        lines = [
            line
            if isinstance(line, str)
            else f"{line.head.format_map(labels[line.gpu])} {self._value(line, now_s)}"
            for line in _LINES
        ]
        return ("\n".join(lines) + "\n").encode()

    def _labels(self, gpu: int, now_s: float) -> dict[str, str]:
        # At no time do all pods change: each GPU of each node has its own moment.
        phase = zlib.crc32(f"{self.name}-{gpu}".encode()) % 1000 / 1000
        pod = f"train-{self.name}-{gpu}-{int(now_s / self.pod_s + phase)}"
        return {"UUID": f"GPU-{self.name}-{gpu}", "Hostname": self.name, "pod": pod}

    def _value(self, line: _Line, now_s: float) -> str:
        if line.counts:
            return f"{line.value % 1000 + (now_s - self.born_s) * (1 + line.gpu):.0f}"
        return f"{line.value + now_s % 10:.12g}"
