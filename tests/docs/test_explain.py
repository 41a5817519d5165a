"""The examples of docs/explain.md are what the program prints.

``python -m tests.docs.test_explain`` writes them anew; read the difference before you commit it.
"""

import os
import re
import shlex
import subprocess
import sys

import pytest

from tests.docs import pages

PAGE = "docs/explain.md"
DATA = pages.ROOT / "tests/data/explain"
BLOCK = re.compile(r"(?ms)^```console\n\$ cwgpu ([^\n]+)\n(.*?)^```$")


def printed(command: str) -> str:
    """Run it where the example's files are, and give what a terminal would show."""
    done = subprocess.run(
        [sys.executable, "-m", "cwgpu", *shlex.split(command)],
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(pages.ROOT)},
        cwd=DATA,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.stdout


@pytest.mark.parametrize(("command", "shown"), BLOCK.findall(pages.text(PAGE)))
def test_examples_are_real(command: str, shown: str) -> None:
    """What the page shows below a command is what that command prints."""
    assert printed(command) == shown


def main() -> None:
    """Write the output of every example anew."""
    whole = BLOCK.sub(
        lambda found: f"```console\n$ cwgpu {found[1]}\n{printed(found[1])}```", pages.text(PAGE)
    )
    (pages.ROOT / PAGE).write_text(whole, "utf-8")


if __name__ == "__main__":
    main()
