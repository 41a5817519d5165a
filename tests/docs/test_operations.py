"""docs/operations.md against the code."""

import ast
from collections.abc import Iterator

import click
import pytest

from cwgpu.cli import exits
from cwgpu.cli.main import cli
from tests.docs import pages

PAGE = "docs/operations.md"


def _commands(group: click.Group, before: str = "") -> Iterator[tuple[str, click.Command]]:
    """Give every verb with its name, and those within verbs."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        yield f"{before}{name}", command
        if isinstance(command, click.Group):
            yield from _commands(command, f"{before}{name} ")


VERBS = dict(_commands(cli))


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
    """Each verb has a table with all its flags, in the order of its help.

    Those of a verb within a verb stand on a page that has the outer one's name.
    """
    params = VERBS[verb].params
    flags = [max(param.opts, key=len) for param in params if param.opts[0][0] == "-"]
    page = f"docs/{verb.split(maxsplit=1)[0]}.md" if " " in verb else PAGE
    assert pages.first_cells(page, f"### `cwgpu {verb}`") == flags


@pytest.mark.parametrize("verb", VERBS)
def test_every_flag_has_an_environment_variable(verb: str) -> None:
    """A flag can be given as CWGPU_ and its name in capitals."""
    for param in VERBS[verb].params:
        if param.opts[0][0] == "-":
            name = max(param.opts, key=len).strip("-").replace("-", "_").upper()
            assert param.envvar == f"CWGPU_{name}"
