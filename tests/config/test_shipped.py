"""Where the default configuration is found."""

from pathlib import Path

import pytest

from cwgpu.config import default


def test_a_checkout_has_it_at_its_top() -> None:
    """In a checkout the file at the top is the default."""
    assert default.path() == Path(__file__).parents[2] / "config/cwagent.json"


def test_a_package_has_it_inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In an installed package the file lies beside the modules."""
    (tmp_path / "cwgpu/config").mkdir(parents=True)
    (tmp_path / "cwgpu/cwagent.json").write_text("{}")
    monkeypatch.setattr(default, "__file__", str(tmp_path / "cwgpu/config/default.py"))
    assert default.path() == tmp_path / "cwgpu/cwagent.json"
