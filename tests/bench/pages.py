"""The sample pages at several times: every value moves, nothing else does."""

from pathlib import Path

SAMPLES = Path(__file__).parents[1] / "data/samples"
START_MS = 1_765_000_000_000
TYPE = "text/plain; version=0.0.4"


def scrapes(name: str, times: int = 4) -> list[bytes]:
    """Give a page so many times."""
    return [_moved((SAMPLES / f"{name}.prom").read_text("utf-8"), step) for step in range(times)]


def openmetrics(body: bytes, time: str = "") -> bytes:
    """Write a page in the other format, its samples with a timestamp if one is given."""
    lines, counters = [], set()
    for line in body.decode().splitlines():
        head, _, value = line.rpartition(" ")
        if line.startswith("#"):
            lines.append(line)
            if value == "counter":
                counters.add(head.split()[2])
            continue
        name, brace, labels = head.partition("{")
        suffix = "_total" if name in counters else ""
        lines.append(f"{name}{suffix}{brace}{labels} {value}{time and ' '}{time}")
    return ("\n".join([*lines, "# EOF"]) + "\n").encode()


def _moved(text: str, step: int) -> bytes:
    lines = []
    for line in text.splitlines():
        head, _, value = line.rpartition(" ")
        if line.startswith("#"):
            lines.append(line)
        elif "." in value:
            lines.append(f"{head} {float(value) + step:.6f}")
        else:
            lines.append(f"{head} {int(value) + step}")
    return ("\n".join(lines) + "\n").encode()
