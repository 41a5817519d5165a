"""Pages to begin with, real ones and made ones."""

import base64
import functools
import json
import random
from pathlib import Path
from typing import Any

from tests.fuzz import mutate

DATA = Path(__file__).parents[1] / "data"
_CHUNK = 24
"""Lines of a real page that make a seed: enough for several families."""

TOKENS = [
    *[b"m", b"le", b"quantile", b"__name__", b"job", b"DCGM_FI_DEV_GPU_UTIL", b"c_total", b"s_sum"],
    *[b"# ", b"# HELP ", b"# TYPE ", b"# UNIT ", b"# EOF", b"# EOF\n", b" # {", b"\n# TYPE m "],
    *[b"gauge", b"counter", b"summary", b"histogram", b"untyped", b"unknown", b"info", b"stateset"],
    *[b'm{a="b",c="d"} 1\n', b'm{le="1"} 1 2\n', b'{"m","a"="b"} 1\n', b"# TYPE m gauge\n"],
    *[b'm{quantile="0.50",a=""} 1.5\n', b"# TYPE m histogram\n", b'="', b'",', b'"}', b'{a="'],
    *[b' # {trace="x"} 1 1.5\n', b'pod="p"', b'"x\ny"', b'"\\xd"', b'UUID="GPU-1"', b"<html>"],
]
_NAMES = ["m", "DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_DEV_TOTAL_ENERGY", "c_total", "s", "s_sum", "é:x"]
_LABELS = ["a", "pod", "le", "quantile", "UUID", "gpu", "job", "__name__", "__x", "Hostname", "b c"]
_TEXTS = ["", "x", "0.50", "1e6", "GPU-1", "train-0", 'q"q', "b\\b", "n\nn", "é\u2028", "\0", "😀"]
_KINDS = ["gauge", "counter", "summary", "histogram", "untyped", "unknown", "info", "wrong", ""]


@functools.cache
def seeds() -> tuple[bytes, ...]:
    """Give parts of the sample pages, and the pages of every recorded answer of Prometheus."""
    found = [b"", b"# EOF\n"]
    for path in sorted((DATA / "samples").iterdir()):
        lines = path.read_bytes().splitlines(keepends=True)
        starts = range(0, min(len(lines), 4 * _CHUNK), _CHUNK)
        found += [b"".join(lines[at : at + _CHUNK]) for at in starts]
    for name in ("exposition.jsonl", "exposition-mutated.jsonl"):
        found += [_body(json.loads(line)) for line in (DATA / name).read_text("utf-8").splitlines()]
    return tuple(found)


def _body(row: dict[str, Any]) -> bytes:
    if "body_b64" in row:
        return base64.b64decode(row["body_b64"])
    return str(row["body"]).encode("utf-8", "surrogateescape")


def written(random: random.Random) -> bytes:
    """Write a page by the grammar, with a slip here and there."""
    lines = [_line(random) for _ in range(random.randint(1, 12))]
    if random.random() < 0.5:
        lines.append("# EOF\n")
    return "".join(lines).encode()


def _line(random: random.Random) -> str:
    if random.random() < 0.25:
        word = random.choice(("TYPE", "TYPE", "TYPE", "HELP", "UNIT", "", "EOF"))
        return f"# {word} {_name(random)} {random.choice(_KINDS)}\n"
    value = random.choice(mutate.NUMBERS).decode()
    time = random.choice(("", "", "", " 1765000000001", " 1.5", " 0", "  7", " -1"))
    exemplar = f" # {{{_labels(random)}}} 1" if random.random() < 0.1 else ""
    return f"{_series(random)} {value}{time}{exemplar}{random.choice(_ENDS)}"


_ENDS = ["\n"] * 20 + ["\r\n", " \n", "", "\n\n"]


def _series(random: random.Random) -> str:
    name = _name(random)
    if random.random() < 0.1:
        return f'{{"{name}",{_labels(random)}}}'
    blank = random.choice(("", "", "", " "))
    return f"{name}{blank}{{{_labels(random)}}}" if random.random() < 0.8 else name


def _name(random: random.Random) -> str:
    return random.choice(_NAMES)


def _labels(random: random.Random) -> str:
    pairs = [_pair(random) for _ in range(random.choice((0, 1, 1, 2, 3, 5, 70)))]
    comma = random.choice((",", ",", ",", ", ", " ,", " "))
    return comma.join(pairs) + random.choice(("", "", "", ",", ",,", " "))


def _pair(random: random.Random) -> str:
    name, text = random.choice(_LABELS), random.choice(_TEXTS)
    if random.random() < 0.9:
        text = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    if " " in name or random.random() < 0.1:
        name = f'"{name}"'
    return f'{name}{random.choice(("=", "=", "=", "=", " = "))}"{text}"'
