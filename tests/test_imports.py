"""The floors of docs/architecture.md, and that nothing is loaded before it is needed."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

HEAVY = {
    "aiohttp",
    "boto3",
    "botocore",
    "kubernetes",
    "msgspec",
    "pydantic",
    "re2",
    "rich",
    "yaml",
    "prometheus_client",
}


def _python(code: str) -> str:
    """Run code in a fresh interpreter and give what it prints."""
    answer = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert answer.returncode == 0, answer.stdout + answer.stderr
    return answer.stdout


def _loaded(module: str) -> set[str]:
    """Name the heavy libraries that importing a module loads."""
    names = _python(f"import sys, {module}; print(*sys.modules)")
    return HEAVY.intersection(names.split())


def test_floors_hold() -> None:
    """Every import contract of pyproject.toml is kept."""
    code = "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports({}))"
    assert "0 broken" in _python(code.format("no_cache=True, no_logo=True"))


def test_command_line_loads_no_heavy_library() -> None:
    """``cwgpu --version`` pays for click alone."""
    assert _loaded("cwgpu.cli.main") == set()


@pytest.mark.parametrize("library", ["boto3", "botocore", "aiohttp", "prometheus_client"])
def test_check_loads_nothing_that_speaks_to_the_outside(library: str) -> None:
    """``cwgpu check`` reads files only, so it loads no client of anything."""
    assert library not in _loaded("cwgpu.cli.check")


@pytest.mark.parametrize("room", ["model", "prom", "emf", "logs", "pace", "gpu", "plan", "digest"])
def test_core_loads_neither_edges_nor_event_loop(room: str) -> None:
    """Importing all modules of a core room loads the libraries of its values at most."""
    modules = sorted((ROOT / "cwgpu" / room).glob("*.py"))
    names = ", ".join(f"cwgpu.{room}.{path.stem}" for path in modules if path.stem != "__init__")
    assert _loaded(names) <= {"msgspec", "re2"}
