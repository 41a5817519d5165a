"""What fuzzing has found, one test for each: it must not come back.

Hostile sizes are in tests/prom/test_stride.py and test_regex.py, beside what reads them.
"""

from pathlib import Path

import pytest

from cwgpu.config import document, load
from cwgpu.config.document import Form
from cwgpu.config.where import Found


@pytest.mark.parametrize("end", ["", "\n", "\r\n"])
def test_a_file_that_ends_too_early_is_complained_about_where_it_ends(end: str) -> None:
    """The complaint is not below the last line."""
    text = f"scrape_configs:\n- job_name: gpu\n  static_configs: [{{tar{end}"
    read = document.read(text.encode(), "f", Form.YAML)
    (said,) = load.prometheus_file(Found(read.root, read.complaints, Path("/etc")))[1]
    lines = text.splitlines()
    assert said.line in {len(lines), len(lines) + bool(end)}
    assert said.excerpt in {lines[-1], ""}
