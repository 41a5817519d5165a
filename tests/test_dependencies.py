"""What is declared, what is locked, what is imported: the same things."""

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

IMPORTED_AS = {"google-re2": "re2", "prometheus-client": "prometheus_client", "PyYAML": "yaml"}
BROUGHT_BY = {
    "botocore": "boto3",
    "pydantic_core": "pydantic",
    "yarl": "aiohttp",
    "multidict": "aiohttp",
}
"""Parts of a library that have a name and a distribution of their own."""
FOR_TYPES = {"mypy_boto3_logs"}


def _imports() -> Iterator[str]:
    """Give the top-level name of every absolute import of the package."""
    for path in (ROOT / "cwgpu").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                yield from (alias.name.partition(".")[0] for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module:
                yield node.module.partition(".")[0]


def _declared() -> list[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    return [re.split("[<>=!~; ]", line)[0] for line in project["dependencies"]]


def test_dependencies_are_those_that_are_imported() -> None:
    """A dependency is declared if and only if the package imports it."""
    foreign = set(_imports()) - sys.stdlib_module_names - {"cwgpu"} - FOR_TYPES
    used = {BROUGHT_BY.get(name, name) for name in foreign}
    assert used == {IMPORTED_AS.get(name, name) for name in _declared()}


@pytest.mark.parametrize("lock", ["run", "dev"])
def test_locks_hold_the_dependencies(lock: str) -> None:
    """Every dependency is pinned in each lock that is installed."""
    text = (ROOT / f"requirements/{lock}.txt").read_text("utf-8")
    pinned = set(re.findall(r"(?m)^([a-z0-9-]+)==", text))
    assert {name.lower() for name in _declared()} <= pinned


@pytest.mark.parametrize("lock", ["run", "build", "dev"])
def test_locks_pin_by_hash_and_name_no_index(lock: str) -> None:
    """Each line of a lock is a version with hashes: where it comes from is pip's business."""
    text = (ROOT / f"requirements/{lock}.txt").read_text("utf-8")
    pins = re.split(r"(?m)^(?=[a-z])", re.sub(r"(?m)^ *#.*\n", "", text))[1:]
    assert pins
    assert [pin for pin in pins if "==" not in pin or "--hash=sha256:" not in pin] == []
    assert "://" not in text
    assert "--index-url" not in text
    assert "--find-links" not in text


def test_dev_lock_agrees_with_the_others() -> None:
    """The tests run with the versions that the image has."""
    versions = {
        lock: dict(re.findall(r"(?m)^([a-z0-9-]+)==(\S+)", (ROOT / lock).read_text("utf-8")))
        for lock in (f"requirements/{name}.txt" for name in ("run", "build", "dev"))
    }
    dev = versions.pop("requirements/dev.txt")
    for others in versions.values():
        assert {name: dev.get(name) for name in others} == others
