"""The figures as one document, and the document as one table."""

import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from tests.bench.fleet import course, verify
from tests.bench.fleet.flags import Flags
from tests.bench.fleet.stage import Run

_WHO = ("agent", "floor", "peer")
_MIB = 1 << 20


def document(flags: Flags, machine: Mapping[str, Any], runs: Sequence[Run]) -> dict[str, Any]:
    """Put everything together; of each figure the median of the runs, and all of them."""
    rows = [_flat(asdict(run)) for run in runs]
    for row in rows:
        for who in _WHO[1:]:
            if f"{who}.cpu_us_per_sample" in row:
                own, other = row["agent.cpu_us_per_sample"], row[f"{who}.cpu_us_per_sample"]
                row[f"agent_to_{who}"] = round(own / other, 3)
    spread = {
        name: {"median": statistics.median(values), "min": min(values), "max": max(values)}
        for name in rows[0]
        if (values := [row[name] for row in rows if isinstance(row.get(name), int | float)])
    }
    return {
        "flags": asdict(flags),
        "machine": dict(machine),
        "warm_up": f"until every target was scraped {course.COLD} times"
        + (", and a whole minute began" if flags.aligned else ""),
        "figures": spread,
        "correct": not any(run.wrong for run in runs),
        "wrong": verify.shorten([line for run in runs for line in run.wrong]),
    }


def _flat(document: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in document.items():
        if isinstance(value, Mapping):
            found |= _flat(value, f"{prefix}{name}.")
        else:
            found[f"{prefix}{name}"] = value
    return found


# ---- the table


def _plain(digits: int, factor: float = 1.0) -> Callable[[float], str]:
    return lambda value: f"{value * factor:,.{digits}f}"


_ROWS: tuple[tuple[str, str, Callable[[float], str]], ...] = (
    ("CPU, us per sample", "cpu_us_per_sample", _plain(2)),
    ("samples/s per core", "samples_per_s_of_core", _plain(0)),
    ("CPU, % of one core", "core_percent", _plain(2)),
    ("RSS peak, MiB", "rss_peak_bytes", _plain(1, 1 / _MIB)),
    ("PSS peak, MiB", "pss_peak_bytes", _plain(1, 1 / _MIB)),
    ("threads", "threads", _plain(0)),
    ("open files", "fds", _plain(0)),
    ("lateness p50, ms", "lateness_s.p50", _plain(1, 1e3)),
    ("lateness p99, ms", "lateness_s.p99", _plain(1, 1e3)),
    ("loop lag p50, ms", "loop_lag_s.p50", _plain(1, 1e3)),
    ("loop lag p99, ms", "loop_lag_s.p99", _plain(1, 1e3)),
    ("accepted after p50, s", "accepted_after_s.p50", _plain(2)),
    ("accepted after p99, s", "accepted_after_s.p99", _plain(2)),
    ("calls", "calls", _plain(0)),
    ("events", "events", _plain(0)),
    ("bodies raw, MB", "raw_bytes", _plain(2, 1e-6)),
    ("bodies sent, MB", "wire_bytes", _plain(2, 1e-6)),
    ("bytes per sample, billed", "billed_bytes_per_sample", _plain(1)),
    ("exporters, us per sample", "exporters_us_per_sample", _plain(2)),
    ("samples scraped", "samples", _plain(0)),
    ("samples sent", "samples_sent", _plain(0)),
    ("measured, s", "seconds", _plain(1)),
    ("warm-up, s", "warm_up_s", _plain(1)),
)


def render(document: Mapping[str, Any]) -> str:
    """Lay the document out for a person."""
    figures, flags, machine = document["figures"], document["flags"], document["machine"]
    who = [each for each in _WHO if f"{each}.cpu_s" in figures]
    lines = [*_head(flags, machine), f"warm-up: {document['warm_up']}", "", _line("", who)]
    for title, name, form in _ROWS:
        cells = [_cell(figures.get(f"{each}.{name}"), form, flags["runs"]) for each in who]
        lines += [_line(title, cells)] if any(cells) else []
    for each in who[1:]:
        cell = _cell(figures[f"agent_to_{each}"], _plain(2), flags["runs"])
        lines.append(_line(f"agent / {each}, CPU per sample", [cell]))
    points = figures["datapoints"]["median"]
    lines.append("")
    lines.append(
        f"{points:,.0f} datapoints, each as expected and once"
        if document["correct"]
        else "WRONG:\n  " + "\n  ".join(document["wrong"])
    )
    return "\n".join(lines) + "\n"


def _head(flags: Mapping[str, Any], machine: Mapping[str, Any]) -> Iterator[str]:
    size = f"{flags['targets']} targets x {flags['gpus']} GPUs x {flags['fields']} fields"
    how = f"every {flags['interval']:g} s, events by {flags['mode']}, emit {flags['emit']}"
    yield f"{size} {how}"
    libraries = ", ".join(f"{name} {version}" for name, version in machine["libraries"].items())
    load = machine["load_average"][0]
    yield f"{machine['cores']} cores ({machine['cpu']}), load average {load}"
    yield f"Python {machine['python']}, {libraries}"


def _cell(figure: Mapping[str, float] | None, form: Callable[[float], str], runs: int) -> str:
    if figure is None:
        return ""
    said = form(figure["median"])
    return f"{said} ({form(figure['min'])}..{form(figure['max'])})" if runs > 1 else said


def _line(title: str, cells: Sequence[str]) -> str:
    return f"{title:<32}" + "".join(f"{cell:>24}" for cell in cells).rstrip()
