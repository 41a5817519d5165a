"""Sizes that keep the code readable: held here so that nobody has to argue about them.

Code lines are lines that hold code: blanks, comments and docstrings are free.
"""

import ast
import io
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import TypeAlias

ROOT = Path(__file__).parent.parent
MODULE_LINES = 250
BODY_LINES = 45
NESTING = 3
POSITIONAL = 4

TABLES = {"cwgpu/gpu/names.py"}
"""Modules that hold nothing but one literal; they may be as long as the table is."""

Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
NESTS = (
    ast.If,
    ast.For,
    ast.AsyncFor,
    ast.While,
    ast.With,
    ast.AsyncWith,
    ast.Try,
    ast.TryStar,
    ast.Match,
)
BLANK = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
    tokenize.ENCODING,
}


def _modules() -> Iterator[tuple[str, str]]:
    """Give path and source of each module of the package and of the fakes, which are programs."""
    for folder in ("cwgpu", "tests/fakes"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            if not path.name.startswith("test_"):
                yield path.relative_to(ROOT).as_posix(), path.read_text("utf-8")


def _functions(tree: ast.AST) -> Iterator[Function]:
    for node in ast.walk(tree):
        if isinstance(node, Function):
            yield node


def _is_text(node: ast.AST) -> bool:
    """Tell a docstring, of whatever it is one: a string that stands alone."""
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def _code_lines(source: str) -> set[int]:
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in BLANK:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(source)):
        if _is_text(node):
            lines.difference_update(_span([node]))
    return lines


def _span(nodes: list[ast.AST]) -> range:
    """Give the lines from the first to the last of these statements."""
    first, last = nodes[0], nodes[-1]
    assert isinstance(first, ast.stmt)
    assert isinstance(last, ast.stmt)
    assert last.end_lineno is not None
    return range(first.lineno, last.end_lineno + 1)


def _depth(node: ast.AST) -> int:
    """Give how deep the statements below nest; ``elif`` is no deeper than its ``if``."""
    deepest = 0
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (Function, ast.Lambda, ast.ClassDef)):
            continue
        is_elif = isinstance(node, ast.If) and node.orelse == [child] and isinstance(child, ast.If)
        step = 1 if isinstance(child, NESTS) and not is_elif else 0
        deepest = max(deepest, step + _depth(child))
    return deepest


def _positional(function: Function) -> list[str]:
    names = [argument.arg for argument in (*function.args.posonlyargs, *function.args.args)]
    return names[1:] if names[:1] in (["self"], ["cls"]) else names


def test_modules_are_short() -> None:
    """No module has more than 250 code lines, but for those that are one table."""
    lengths = {name: len(_code_lines(source)) for name, source in _modules()}
    long = {name: n for name, n in lengths.items() if n > MODULE_LINES and name not in TABLES}
    assert long == {}


def test_tables_are_nothing_but_tables() -> None:
    """A module that may be long holds a docstring, imports and one literal."""
    for name in TABLES:
        body = ast.parse((ROOT / name).read_text("utf-8")).body
        rest = [
            node for node in body if not _is_text(node) and not isinstance(node, ast.ImportFrom)
        ]
        assert len(rest) == 1, f"{name} holds more than one literal"
        assert isinstance(rest[0], (ast.Assign, ast.AnnAssign)), name


def test_functions_are_short() -> None:
    """No function's body has more than 45 code lines."""
    long = {}
    for name, source in _modules():
        code = _code_lines(source)
        for function in _functions(ast.parse(source)):
            length = len(code.intersection(_span([*function.body])))
            if length > BODY_LINES:
                long[f"{name}:{function.lineno} {function.name}"] = length
    assert long == {}


def test_nesting_is_shallow() -> None:
    """No function nests its statements deeper than three levels."""
    deep = {
        f"{name}:{function.lineno} {function.name}": _depth(function)
        for name, source in _modules()
        for function in _functions(ast.parse(source))
        if _depth(function) > NESTING
    }
    assert deep == {}


def test_calls_name_their_arguments() -> None:
    """No function takes more than four parameters by position."""
    wide = {
        f"{name}:{function.lineno} {function.name}": _positional(function)
        for name, source in _modules()
        for function in _functions(ast.parse(source))
        if len(_positional(function)) > POSITIONAL
    }
    assert wide == {}
