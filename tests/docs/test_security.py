"""docs/security.md against the program."""

import re

from cwgpu.cli.iam import rights, script
from cwgpu.config import load
from tests.docs import pages

PAGE = "docs/security.md"
SHIPPED = "config/cwagent.json"


def _policy(**environ: str) -> rights.Rights:
    plan = load.draft(pages.ROOT / SHIPPED, environ)
    return rights.of(plan, environ, account="111122223333", trust=None)


def test_the_policy_is_what_iam_prints() -> None:
    """The command of the page, on the shipped configuration, gives the policy of the page."""
    iam = pages.section(PAGE, "## IAM")
    environ = dict(re.findall(r"([A-Z_]+)=(\S+)", iam.partition("cwgpu iam -c")[0]))
    assert f"cwgpu iam -c {SHIPPED} --account 111122223333 -o json\n" in iam
    found = _policy(**environ)
    assert found.asides == ()
    assert f"```json\n{script.pretty(found.policy)}\n```\n" in iam


def test_every_statement_is_explained() -> None:
    """Each has its row, so that one knows what may be left out."""
    sids = [each["Sid"] for each in _policy(CLUSTER_NAME="lab").policy["Statement"]]
    assert pages.first_cells(PAGE, "## IAM") == sids
