"""docs/cost.md against the program.

``python -m tests.docs.test_cost`` writes its example anew; read the difference before you commit.
"""

import json
import os
import re
import shlex
import subprocess
import sys
from functools import cache

from cwgpu.cli.cost import prices
from tests.docs import pages

PAGE = "docs/cost.md"
DATA = pages.ROOT / "tests/data/cost"
BLOCK = re.compile(r"(?ms)^```console\n\$ cwgpu ([^\n]+)\n(.*?)^```$")


@cache
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


def test_the_example_is_real() -> None:
    """What the page shows below the command is what that prints."""
    ((command, shown),) = BLOCK.findall(pages.text(PAGE))
    assert printed(command) == shown


def test_every_member_of_the_json_is_explained() -> None:
    """The table has the members of the object, in their order."""
    found = json.loads(printed("cost -c cwagent.json --page node.prom -o json"))
    assert found.pop("estimate") is True
    rows = pages.section(PAGE, "## As JSON").splitlines()
    cells = [line.split(" | ")[0] for line in rows if line.startswith("| `")]
    assert [name for cell in cells for name in re.findall(r"`(\w+)`", cell)] == list(found)


def test_every_member_of_a_price_list_is_explained() -> None:
    """The table has the members that are read, and those of the list that is shipped."""
    named = pages.first_cells(PAGE, "## Prices")
    assert named == list(prices.Prices.__dataclass_fields__)
    assert named == list(json.loads(prices.PACKAGED.read_text("utf-8")))


def main() -> None:
    """Write the output of the example anew."""
    whole = BLOCK.sub(
        lambda found: f"```console\n$ cwgpu {found[1]}\n{printed(found[1])}```", pages.text(PAGE)
    )
    (pages.ROOT / PAGE).write_text(whole, "utf-8")


if __name__ == "__main__":
    main()
