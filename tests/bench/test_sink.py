"""The measurement of sending, run once to see that it still works."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_sending_can_be_measured() -> None:
    """A full batch goes out in each way, and each is named with what it took."""
    command = [sys.executable, "-m", "tests.bench.sink", "--calls", "1"]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, check=True, text=True)
    lines = ran.stdout.splitlines()
    assert [line.split()[1] for line in lines if line[0] != " "] == ["events,"] * 2
    for way in ("plain boto3", "ours, not compressed", "ours", "ours, but for gzip", "ours, ready"):
        assert [line.startswith(f"  {way}  ") for line in lines].count(True) == 2
