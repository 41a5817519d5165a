"""docs/lint.md against the complaints that the configuration's readers can make."""

import ast
import re

from tests.docs import pages

PAGE = "docs/lint.md"
CODE = re.compile(r"[a-z]+[0-9]*(?:-[a-z0-9]+)+")
OTHER_WORDS = {"dcgm-exporter", "nvidia-dcgm-exporter", "utf-8-sig", "utf-16"}
"""Words with hyphens in the room that are no codes."""
WITHOUT_HYPHEN = {"overridden"}


def _constants() -> set[str]:
    """Find every text in the room that is a word with hyphens: a code, or one of a few others."""
    found = set()
    for path in (pages.ROOT / "cwgpu/config").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                found |= {node.value} if CODE.fullmatch(node.value) else set()
    return found


def _explained() -> list[str]:
    return re.findall(r"(?m)^### `([a-z0-9-]+)`$", pages.text(PAGE))


def test_every_code_is_explained() -> None:
    """Each code that a complaint can have is a heading of the page, once, and no other word is."""
    assert sorted(_explained()) == sorted((_constants() - OTHER_WORDS) | WITHOUT_HYPHEN)


def test_codes_without_a_hyphen_are_codes() -> None:
    """The words that are no constants of that form stand in the code all the same."""
    code = "".join(path.read_text("utf-8") for path in (pages.ROOT / "cwgpu/config").glob("*.py"))
    assert [word for word in WITHOUT_HYPHEN if f'"{word}"' not in code] == []


def test_every_code_has_a_level() -> None:
    """Each section begins with the level, and goes on with what it means."""
    for code in _explained():
        first = pages.section(PAGE, f"### `{code}`").strip()
        assert re.match(r"(?:An? )?(?:[Ee]rror|[Ww]arning|[Nn]ote)\b", first), code
        assert len(first.split()) > 5, code
