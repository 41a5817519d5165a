"""docs/lint.md against the complaints that the configuration's readers can make."""

import ast
import re

from tests.docs import pages

PAGE = "docs/lint.md"
CODE = re.compile(r"[a-z]+(?:-[a-z0-9]+)+")


def _codes() -> set[str]:
    """Find the codes of complaints: the arguments in kebab-case of all calls in the room."""
    found = set()
    for path in (pages.ROOT / "cwgpu/config").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call):
                arguments = [*node.args, *(keyword.value for keyword in node.keywords)]
                values = {a.value for a in arguments if isinstance(a, ast.Constant)}
                found |= {v for v in values if isinstance(v, str) and CODE.fullmatch(v)}
    return found


def test_every_code_is_explained() -> None:
    """Each code that a complaint can have is a heading or begins a row of the page."""
    explained = set(re.findall(r"(?m)^(?:#+|\|) `([a-z0-9-]+)`", pages.text(PAGE)))
    assert _codes() - explained == set()
