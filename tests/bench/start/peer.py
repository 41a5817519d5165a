"""An exporter and a CloudWatch Logs for one agent, in a process of their own.

    python -m tests.bench.start.peer SCRAPES

Prints where they are as one line of JSON. The next line is when the first log event was accepted,
on the clock of ``time.monotonic``, which all processes of a machine share. Serves until standard
input ends. The page has other values at each of so many scrapes, then the last ones for ever.
"""

import json
import sys
import time

from tests.bench import pages
from tests.fakes.cloudwatch import FakeCloudWatch
from tests.fakes.exporter import FakeExporter

_WAIT_S = 60.0
"""Far beyond any start; where it fails, that shall be seen."""
PAGE = "02-h100x8-pods-4.8.1"
"""200 samples: eight GPUs with 25 fields."""


def serve(scrapes: int) -> None:
    """Serve, and tell."""
    answers = pages.scrapes(PAGE, scrapes)
    with FakeCloudWatch(texts=False, metrics=False) as service, FakeExporter(*answers) as exporter:
        print(json.dumps([exporter.address, service.environ]), flush=True)  # noqa: T201 - see above
        service.wait(lambda: service.taken, _WAIT_S)
        print(time.monotonic(), flush=True)  # noqa: T201
        sys.stdin.read()


if __name__ == "__main__":
    serve(int(sys.argv[1]))
