"""prometheus.yml is let in and refused as Prometheus 3.0.1 lets it in and refuses it."""

import json
from pathlib import Path
from typing import Any

import pytest

from cwgpu.config import document, load
from cwgpu.config.complaint import Complaint, errors_in
from cwgpu.config.document import Form
from cwgpu.config.where import Found
from cwgpu.plan.plan import Job
from tests.config import answers

_DATA = Path(__file__).parents[1] / "data"


def rows(name: str) -> list[dict[str, Any]]:
    """Read recorded answers."""
    return [json.loads(line) for line in (_DATA / name).read_text("utf-8").splitlines()]


_ROWS = rows("scrape_config.jsonl")
_VALUES = rows("scrape_values.jsonl")


def read(text: str) -> tuple[tuple[Job, ...], tuple[Complaint, ...]]:
    """Read a prometheus.yml in /etc/gpu."""
    document_read = document.read(text.encode(), "prometheus.yml", Form.YAML)
    found = Found(document_read.root, document_read.complaints, Path("/etc/gpu"))
    return load.prometheus_file(found)


def complaints(text: str) -> tuple[Complaint, ...]:
    """Give what is said about a prometheus.yml."""
    return read(text)[1]


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
    assert len(_VALUES) == 569


@pytest.mark.parametrize("row", _VALUES, ids=lambda row: row["id"])
def test_makes_the_same_jobs_as_prometheus(row: dict[str, Any]) -> None:
    """Of odd values it makes what the real program makes of them, and refuses the same ones."""
    jobs, said = read(row["yaml"])
    assert errors_in(said) is ("refused" in row), (row.get("refused"), said)
    if "jobs" in row:
        assert [answers.job(job) for job in jobs] == row["jobs"]


@pytest.mark.parametrize("row", _ROWS, ids=lambda row: row["id"])
def test_every_refusal_has_a_place(row: dict[str, object]) -> None:
    """Whatever is complained about stands on a line of the file."""
    last = str(row["yaml"]).count("\n") + 1
    assert all(1 <= each.line <= last for each in complaints(str(row["yaml"])))
