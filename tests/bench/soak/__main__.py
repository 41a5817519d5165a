"""``python -m tests.bench.soak [--minutes 30] [-o json]``: soak, print, judge."""

import argparse
import json
import secrets
import signal
import sys
import tempfile
from pathlib import Path

from tests.bench import soak
from tests.bench.soak import figures
from tests.bench.soak.play import play
from tests.bench.soak.shape import Shape

_USUAL = Shape()


def main() -> int:
    """Do it; 1 is a bar that is missed."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.soak", description=soak.__doc__)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--targets", type=int, default=_USUAL.targets, help="that answer well")
    parser.add_argument("--seed", type=int, default=secrets.randbelow(1 << 32))
    parser.add_argument("-o", "--output", choices=("table", "json"), default="table")
    flags = parser.parse_args()
    # Who ends a soak ends what it has started, too: the agent does not end by itself.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))

    def tell(line: str) -> None:
        end = "\r" if sys.stderr.isatty() else "\n"
        sys.stderr.write(f"{line}{end}")
        sys.stderr.flush()

    shape = Shape(targets=flags.targets)
    with tempfile.TemporaryDirectory() as folder:
        record = play(shape, flags.minutes * 60, Path(folder), seed=flags.seed, tell=tell)
    told = figures.table(record)
    if flags.output == "json":
        sys.stderr.write(told)
        told = json.dumps(figures.document(record), indent=1) + "\n"
    sys.stdout.write(told)
    return 1 if record.faults() else 0


if __name__ == "__main__":
    sys.exit(main())
