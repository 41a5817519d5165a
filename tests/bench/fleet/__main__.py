"""``python -m tests.bench.fleet``: measure, compare, check every datapoint, and print."""

import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.bench.fleet import flags, machine, stage, table
from tests.bench.fleet.child import FleetError


def main(arguments: Sequence[str] | None = None) -> int:
    """Give 0 when all datapoints came and once, 1 when not, 2 when nothing could be measured."""
    given = flags.read(arguments)
    runs: list[stage.Run] = []
    said = machine.describe()
    for _ in range(given.runs):
        with tempfile.TemporaryDirectory(prefix="fleet-") as folder:
            try:
                runs.append(stage.measure(given, Path(folder)))
            except FleetError as error:
                sys.stderr.write(f"{error}\n")
                return 2
    document = table.document(given, said, runs)
    if given.output == "json":
        sys.stdout.write(json.dumps(document, indent=1) + "\n")
    else:
        sys.stdout.write(table.render(document))
    return 0 if document["correct"] else 1


if __name__ == "__main__":
    sys.exit(main())
