"""The tests are sentences, and each can fail."""

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).parent


def _tests(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name[:5] == "test_":
            yield node


def _can_fail(node: ast.AST) -> bool:
    """Tell whether a test asserts, expects an error, or calls one of the ``check`` functions."""
    for child in ast.walk(node):
        if isinstance(child, ast.Assert):
            return True
        if isinstance(child, ast.Call):
            name = ast.unparse(child.func).rpartition(".")[2]
            if name.lstrip("_").startswith(("check", "raises", "assert")):
                return True
    return False


@pytest.mark.parametrize(
    "path", sorted(TESTS.rglob("test_*.py")), ids=lambda path: str(path.relative_to(TESTS))
)
def test_tests_are_sentences_that_can_fail(path: Path) -> None:
    """Every test says in a sentence of its own what holds, and checks it."""
    sentences = Counter(ast.get_docstring(test) or test.name for test in _tests(path))
    assert [text for text in sentences if not text.endswith((".", "?", '"'))] == []
    assert [text for text, count in sentences.items() if count > 1] == []
    assert [test.name for test in _tests(path) if not _can_fail(test)] == []
