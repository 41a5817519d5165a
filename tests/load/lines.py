"""A hostile line must not cost more than honest lines of its size: ``make load``.

Each shape is read once as a line of 10 MB and once of 5 MB, from bytes to events, by a process of
its own: CPU time and memory. The bars: no line costs more CPU than honest lines of the same size,
and twice the size costs at most 2.5 times as much.
"""

import argparse
import functools
import json
import math
import multiprocessing
import resource
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from cwgpu.prom.exposition import Format
from tests.golden import plans

MB = 1 << 20
LARGE, SMALL = 10 * MB, 5 * MB
MOST_RATIO = 2.5
_NOISE_S = 0.3
"""Below this, a ratio says more about the machine."""
_TRIES = 3
_PATIENCE_S = 300
_PAGE = Path(__file__).parents[1] / "data/samples/02-h100x8-pods-4.8.1.prom"

Shape = tuple[bytes, bytes, bytes]
"""What a line begins with, what is repeated in it, and how it ends."""

SHAPES: dict[str, Shape] = {
    "labels that are one": (b"m{", b'a="",', b"} 1\n"),
    "labels, no end": (b"m{", b'a="b",', b""),
    "labels, wrong end": (b"m{", b'a="b",', b"} 1 1 1\n"),
    "labels with blanks": (b"m{", b' a = "b" ', b"} 1\n"),
    "labels in quotes": (b'{"m",', b'"a"="b",', b"} 1\n"),
    "labels with escapes": (b"m{", b'a="\\n\\"",', b"} 1\n"),
    "labels, wrong byte": (b"m{", b'a="b",', b'c="\xff"} 1\n'),
    "bounds": (b"# TYPE m histogram\nm{", b'le="1",', b"} 1\n"),
    "value, no end": (b'm{a="', b"x", b""),
    "value of escapes": (b'm{a="', b"\\n", b'"} 1\n'),
    "escapes, no end": (b'm{a="', b"\\n", b""),
    "escaped quotes": (b'm{a="', b'\\"', b""),
    "backslashes": (b'm{a="', b"\\", b"\n"),
    "backslash, NULs": (b'm{a="\\', b"\0", b"\n"),
    "name of escapes": (b'{"', b"\\n", b'"} 1\n'),
    "newlines in quotes": (b'm{a="', b"\n", b'"} 1\n'),
    "characters": (b'm{a="', "é😀".encode(), b'"} 1\n'),
    "name": (b"", b"m", b" 1\n"),
    "label name": (b"m{", b"a", b'="b"} 1\n'),
    "name, no value": (b"", b"m", b""),
    "opening braces": (b"m", b"{", b"\n"),
    "closing braces": (b"m{", b"}", b"\n"),
    "commas": (b"m{", b",", b"} 1\n"),
    "blanks": (b"", b" ", b"?\n"),
    "blanks in braces": (b"m{", b" \t", b"?\n"),
    "blanks at the end": (b"m 1", b" ", b"x\n"),
    "digits": (b"m ", b"1", b"\n"),
    "digits, wrong end": (b"m ", b"1", b"x\n"),
    "zeros, wrong end": (b"m ", b"0", b"x\n"),
    "fraction": (b"m 0.", b"1", b"\n"),
    "fraction, wrong": (b"m 0.", b"1", b"x\n"),
    "exponent": (b"m 1e", b"1", b"\n"),
    "time": (b"m 1 ", b"1", b"\n"),
    "time, zeros": (b"m 1 ", b"0", b"x\n"),
    "comment": (b"", b"#", b"\n"),
    "HELP": (b"# HELP m ", b"\\n", b"\n"),
    "TYPE": (b"# TYPE m ", b"x", b"\n"),
    "TYPE of escapes": (b'# TYPE "', b"\\n", b'" gauge\n'),
    "UNIT": (b"# UNIT m ", b"x", b"\n"),
    "NULs": (b"m 1", b"\0", b"\n"),
    "carriage returns": (b"m 1", b"\r", b"\n"),
    "exemplar": (b"m 1 # {", b'a="b",', b"} 1\n"),
    "exemplars": (b"m 1", b" # {} 1", b"\n"),
    "no text": (b"", bytes(range(128, 256)), b""),
    "markup": (b"", b"<p>", b"\n"),
}


def hostile(shape: Shape, size: int) -> bytes:
    """Give a line of this shape and size."""
    begin, again, end = shape
    return begin + again * ((size - len(begin) - len(end)) // len(again)) + end


def labels(size: int) -> bytes:
    """Give a line of labels that are all different."""
    pairs = (b'l%07d="b"' % number for number in range(size // len(b'l0000000="b",')))
    return b"m{" + b",".join(pairs) + b"} 1\n"


def honest(size: int) -> bytes:
    """Give a page as long, of lines as exporters write them, all of them different."""
    page = _PAGE.read_bytes()
    pages = (page.replace(b'gpu="', b'node="%d",gpu="' % node) for node in range(size // len(page)))
    return b"".join(pages)


@dataclass(frozen=True, slots=True)
class Cost:
    """What reading one page cost."""

    cpu_s: float
    memory_mb: float


def cost(make: Callable[[], bytes], form: Format) -> Cost:
    """Read a page in a process of its own."""
    context = multiprocessing.get_context("fork")
    question, answer = context.Pipe()

    def read() -> None:
        body = make()
        memory, began_s = _memory_mb(), time.process_time()
        plans.page("everything").read(body, 1, form.value)
        answer.send(Cost(time.process_time() - began_s, _memory_mb() - memory))

    child = context.Process(target=read)
    child.start()
    answered = question.poll(_PATIENCE_S)
    child.kill()
    child.join()
    if not answered:
        raise TimeoutError(f"no answer in {_PATIENCE_S} s")
    found: Cost = question.recv()
    return found


def _memory_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(form: Format) -> Iterator[tuple[str, Cost, Cost, str]]:
    """Give the cost of each shape, large and half as large, and the bar that it misses.

    The honest page comes first. Who misses a bar is measured again: it may have been the machine.
    """
    makes: dict[str, Callable[[int], bytes]] = {"honest lines": honest, "labels": labels}
    makes |= {name: functools.partial(hostile, shape) for name, shape in SHAPES.items()}
    bar_s = math.inf
    for name, make in makes.items():
        for _ in range(_TRIES):
            large = cost(functools.partial(make, LARGE), form)
            small = cost(functools.partial(make, SMALL), form)
            said = missed(large, small, bar_s)
            if not said:
                break
        bar_s = min(bar_s, large.cpu_s) if name == "honest lines" else bar_s
        yield name, large, small, said


def missed(large: Cost, small: Cost, bar_s: float) -> str:
    """Say which bar a shape misses; nothing when it is good."""
    if large.cpu_s > bar_s + _NOISE_S:
        return "costs more than honest lines"
    if large.cpu_s > _NOISE_S and large.cpu_s > MOST_RATIO * small.cpu_s:
        return f"twice the size costs {large.cpu_s / small.cpu_s:.1f} times as much"
    return ""


def main() -> int:
    """Measure, print, judge."""
    flags = argparse.ArgumentParser(prog="python -m tests.load.lines", description=__doc__)
    flags.add_argument("--json", type=Path, help="write the figures there, too")
    given = flags.parse_args()
    figures: dict[str, dict[str, list[dict[str, float]]]] = {}
    failed = 0
    for form in Format:
        figures[form.value] = {}
        sys.stdout.write(f"{form.name.lower():<22} {'10 MB':>8} {'5 MB':>8} {'memory':>9}\n")
        for name, large, small, said in measure(form):
            figures[form.value][name] = [asdict(large), asdict(small)]
            failed += bool(said)
            row = f"{large.cpu_s:6.2f} s {small.cpu_s:6.2f} s {large.memory_mb:6.0f} MB"
            sys.stdout.write(f"{name:<22} {row}  {said}".rstrip() + "\n")
            sys.stdout.flush()
    if given.json:
        given.json.write_text(json.dumps(figures, indent=1), "utf-8")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
