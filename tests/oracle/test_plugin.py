"""A run without the real programs says so, and CI does not let it pass."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

_ROOT = Path(__file__).parents[2]
_HIDE = """
from pathlib import Path
from tests.oracle import debian
debian._FOLDER = debian._BESIDE = Path("nowhere")
"""
_NOT_FOUND = (
    "oracles: promtool 2.42, prometheus 2.42 and vmagent 1.79 not found: run .ci/oracles; "
    "kubectl not found: it is among the tests' dependencies"
)


def run_without(folder: Path, *options: str, **environment: str) -> tuple[int, str]:
    """Collect a module whose tests all ask promtool, where there is none."""
    (folder / "hide.py").write_text(_HIDE)
    paths = {"PYTHONPATH": f"{folder}:{_ROOT}", "PATH": str(folder), "CWGPU_REQUIRE_ORACLES": ""}
    command = [sys.executable, "-m", "pytest", "-p", "hide", "-p", "no:cacheprovider", *options]
    said = subprocess.run(
        [*command, "tests/oracle/test_targets.py"],
        cwd=_ROOT,
        env={**os.environ, **paths, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    return said.returncode, said.stdout + said.stderr


@pytest.mark.parametrize("options", [("-n0",), ("-n1", "--no-header")])
def test_what_cannot_be_asked_is_left_out_aloud(tmp_path: Path, options: tuple[str, ...]) -> None:
    """Tests whose program is not here are counted at the end, with what to do about it."""
    code, said = run_without(tmp_path, *options)
    assert code == pytest.ExitCode.NO_TESTS_COLLECTED
    assert "oracles: promtool 2.42 not found: run .ci/oracles; 2 tests not run" in said
    assert ("-n0" in options) == (f"{_NOT_FOUND}\n" in said)


def test_a_missing_program_can_be_an_error(tmp_path: Path) -> None:
    """Where the programs are required, as in CI, nothing runs without them."""
    code, said = run_without(tmp_path, "-n0", CWGPU_REQUIRE_ORACLES="1")
    assert code == pytest.ExitCode.USAGE_ERROR
    assert f"{_NOT_FOUND} (CWGPU_REQUIRE_ORACLES is set)" in said
