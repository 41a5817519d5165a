"""prometheus.yml is let in and refused as Prometheus 3.0.1 lets it in and refuses it."""

import json
from pathlib import Path

import pytest

from cwgpu.config import document, load
from cwgpu.config.complaint import Complaint, errors_in
from cwgpu.config.document import Form
from cwgpu.config.where import Found

_ROWS = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "data/scrape_config.jsonl").read_text().splitlines()
]


def complaints(text: str) -> tuple[Complaint, ...]:
    """Read a prometheus.yml and give what is said about it."""
    read = document.read(text.encode(), "prometheus.yml", Form.YAML)
    _, found = load.prometheus_file(Found(read.root, read.complaints, Path("/etc")))
    return found


@pytest.mark.parametrize("row", _ROWS, ids=lambda row: row["id"])
def test_accepts_and_refuses_as_prometheus(row: dict[str, object]) -> None:
    """Whether a file loads is what the real program answered."""
    answer = row["v3_0_1"]
    assert isinstance(answer, dict)
    found = complaints(str(row["yaml"]))
    assert errors_in(found) is not answer["accepted"], (answer["message"], found)


def test_every_recorded_answer_is_asked() -> None:
    """The recorded answers are all there."""
    assert len(_ROWS) == 196


@pytest.mark.parametrize("row", _ROWS, ids=lambda row: row["id"])
def test_every_refusal_has_a_place(row: dict[str, object]) -> None:
    """Whatever is complained about stands on a line of the file."""
    last = str(row["yaml"]).count("\n") + 1
    assert all(1 <= each.line <= last for each in complaints(str(row["yaml"])))
