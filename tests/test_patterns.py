"""Regular expressions must mean the same in every Python that we promise to run on."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent

# Early releases of 3.11, among them Debian 12's 3.11.2, do not go back to where a possessive group
# began its last, failed round: https://github.com/python/cpython/issues/106052
RISKY = re.compile(r"\)(?:\*|\+|\?|\{\d*,?\d*\})\+|\(\?>")
# Between brackets all these are characters.
CLASS = re.compile(r"\[(?:\\+.|[^\]\\])*\]")


def _patterns() -> Iterator[tuple[str, str]]:
    for path in sorted((ROOT / "cwgpu").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "re.compile":
                yield f"{path.relative_to(ROOT)}:{node.lineno}", ast.unparse(node.args[0])


def test_no_group_is_possessive() -> None:
    """Only single characters are repeated possessively; groups never are."""
    found = [place for place, pattern in _patterns() if RISKY.search(CLASS.sub("", pattern))]
    assert found == []
    assert RISKY.search(CLASS.sub("", r"(?:[)*+]|a)*+"))
