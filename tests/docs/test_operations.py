"""docs/operations.md against the code."""

import ast
import importlib

import click
import pytest

from cwgpu.cli import exits
from cwgpu.cli.main import cli
from tests.docs import pages

PAGE = "docs/operations.md"
VERBS = cli.list_commands(click.Context(cli))


def _events() -> set[str]:
    """Find the names that the program gives to ``journal.event``."""
    found = set()
    for path in (pages.ROOT / "cwgpu").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "journal.event":
                assert isinstance(node.args[2], ast.Constant), f"{path}:{node.lineno}"
                found.add(str(node.args[2].value))
    return found


def test_every_exit_code_is_listed() -> None:
    """The table of exit codes has the codes and the words of `cwgpu --help`."""
    rows = pages.rows(PAGE, "## Exit codes")
    assert {int(row[0]): row[1] for row in rows} == exits.MEANINGS


def test_every_journal_event_is_listed() -> None:
    """The table of the journal has every event that the program can write, and no other."""
    assert set(pages.first_cells(PAGE, "## The journal")) == _events()


@pytest.mark.parametrize("verb", VERBS)
def test_every_flag_is_listed(verb: str) -> None:
    """Each verb has a table with all its flags, in the order of its help."""
    command = importlib.import_module(f"cwgpu.cli.{verb}").command
    flags = [max(param.opts, key=len) for param in command.params if param.opts[0][0] == "-"]
    assert pages.first_cells(PAGE, f"### `cwgpu {verb}`") == flags


@pytest.mark.parametrize("verb", VERBS)
def test_every_flag_has_an_environment_variable(verb: str) -> None:
    """A flag can be given as CWGPU_ and its name in capitals."""
    command = importlib.import_module(f"cwgpu.cli.{verb}").command
    for param in command.params:
        if param.opts[0][0] == "-":
            name = max(param.opts, key=len).strip("-").replace("-", "_").upper()
            assert param.envvar == f"CWGPU_{name}"
