"""What is to be measured, from the command line."""

import argparse
import math
from collections.abc import Sequence
from dataclasses import dataclass

from tests.bench.fleet import configuration

_LONGEST_S = 3600.0
"""Of what is measured once: what lasts longer is `make soak`'s."""


@dataclass(frozen=True, slots=True)
class Flags:
    """One measuring, and how often."""

    targets: int
    gpus: int
    fields: int
    interval: float
    duration: float
    mode: str
    emit: str
    full: bool
    floor: bool
    peer: str
    runs: int
    output: str

    @property
    def samples(self) -> int:
        """On each page."""
        return self.gpus * self.fields

    @property
    def aligned(self) -> bool:
        """Whether what is measured has the events of whole minutes, and no others."""
        return self.emit != "scrape" and not self.duration % configuration.MINUTE_S


def read(arguments: Sequence[str] | None) -> Flags:
    """Read the command line, or end with what is wrong with it."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.fleet", description=__doc__)
    parser.add_argument("--targets", type=_count, default=200)
    parser.add_argument("--gpus", type=_count, default=8, help="of each target")
    parser.add_argument("--fields", type=_count, default=25, help="of each GPU")
    parser.add_argument("--interval", type=_seconds, default=5.0, help="between scrapes, seconds")
    parser.add_argument("--duration", type=_seconds, default=60.0, help="measured, seconds")
    parser.add_argument("--mode", choices=["labels", "dimensions"], default="labels")
    parser.add_argument(
        "--emit", choices=["scrape", "60s"], help="default: scrape with labels, else 60s"
    )
    parser.add_argument("--full", action="store_true", help="compare datapoints one by one")
    parser.add_argument("--floor", action="store_true", help="measure the least there is to do")
    parser.add_argument(
        "--peer",
        default="",
        metavar="CMD",
        help="measure another agent, too; {config}, {prometheus}, {targets}, {endpoint} and "
        "{region} in it are replaced",
    )
    parser.add_argument("--runs", type=_count, default=1, help="how often to do all of it")
    parser.add_argument("-o", dest="output", choices=["table", "json"], default="table")
    given = vars(parser.parse_args(arguments))
    given["emit"] = given["emit"] or ("scrape" if given["mode"] == "labels" else "60s")
    return Flags(**given)


def _count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("write a number from 1 on")
    return number


def _seconds(text: str) -> float:
    seconds = float(text)
    if not 0 < seconds <= _LONGEST_S or math.isnan(seconds):
        raise argparse.ArgumentTypeError(f"write seconds, {_LONGEST_S:g} at most")
    return seconds
