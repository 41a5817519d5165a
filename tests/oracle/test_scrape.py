"""Recorded pages, from the answer to the sample: merge, relabelling, times, duplicates."""

from collections.abc import Iterable
from typing import Any

import pytest

from cwgpu.model.reading import Refused
from cwgpu.model.scrape import FailReason, ScrapeFailed
from cwgpu.model.target import Target
from cwgpu.scrape.fetch import Fetcher
from tests.fakes.exporter import FakeExporter
from tests.oracle import apart, ours, rows, storage
from tests.oracle.ours import Sample

_ROWS = rows.pages()
_LARGE = [row for row in rows.read("exposition") if rows.is_large(row)]
_INSTANCE = "127.0.0.1:9400"


def _scraped(row: rows.Json) -> tuple[Any, ...]:
    """Give the arguments that a row's page is read with."""
    [job] = ours.jobs([{"job_name": row["id"], **row.get("job", {})}])
    target = {"job": row["id"], "instance": _INSTANCE, **row.get("target_labels", {})}
    return job, target, rows.body_of(row), row["content_type"]


def _recorded(row: rows.Json) -> list[rows.Json] | None:
    """Give the samples that 3.0.1 makes of a row; None where it refuses the page."""
    newer = apart.NEWER.get(row["id"])
    if newer is None:
        return None if "error" in row["scrape"] else row["scrape"]["samples"]
    if newer.samples is not None:
        return [dict(each) for each in newer.samples]
    if "error" in row or "content_type_error" in row:
        return None
    return [entry[1] for entry in row["entries"] if entry[0] == "series"]


def _stored(row: rows.Json, recorded: list[rows.Json]) -> dict[Any, str]:
    """Give recorded samples as ours are given; the rows leave out job and instance."""
    target = {"job": row["id"], "instance": _INSTANCE}
    found = {}
    for each in recorded:
        if each["name"] not in apart.REPORT:
            labels = ours.pairs({**target, **each["labels"], "__name__": each["name"]})
            at_ms = each.get("timestamp_ms", rows.SCRAPED_MS)
            found[labels, at_ms] = repr(float(each["value"]))
    return found


def _storable(samples: Iterable[Sample]) -> dict[Any, str]:
    """Give what the storage leaves of ours; values as text, for NaN does not equal itself."""
    kept = storage.stored(samples, [rows.SCRAPED_MS])
    return {
        key: repr(value)
        for key, value in kept.items()
        if dict(key[0])["__name__"] not in apart.REPORT
    }


@pytest.mark.parametrize("row", _ROWS, ids=lambda row: row["id"])
def test_scrapes_are_those_of_prometheus(row: rows.Json) -> None:
    """A page is refused where Prometheus refuses it, and else gives its samples."""
    found = ours.scrape(*_scraped(row))
    recorded = _recorded(row)
    if isinstance(found, Refused):
        assert recorded is None
        return
    assert recorded is not None, found
    assert _storable(found.samples) == _stored(row, recorded)
    if row["id"] not in apart.NEWER:
        counts = (row["scrape"]["scraped"], row["scrape"]["passed"])
        assert (found.scraped, len(found.samples)) == counts


@pytest.mark.parametrize("row", _ROWS, ids=lambda row: row["id"])
def test_events_carry_what_was_scraped(row: rows.Json) -> None:
    """What is sent of a page is what Prometheus has of it, as far as CloudWatch has a form."""
    arguments = _scraped(row)
    found = ours.scrape(*arguments)
    if isinstance(found, Refused):
        assert _recorded(row) is None
    else:
        assert ours.sent(*arguments) == ours.sendable(found)


@pytest.mark.parametrize(
    "row", [row for row in _ROWS if row["id"] in apart.NEWER], ids=lambda row: row["id"]
)
def test_newer_answers_are_needed(row: rows.Json) -> None:
    """A row that is listed for its newer answer has another one than was recorded of 2.42."""
    older = None if "error" in row["scrape"] else _stored(row, row["scrape"]["samples"])
    recorded = _recorded(row)
    assert older != (None if recorded is None else _stored(row, recorded))


@pytest.mark.parametrize("row", _LARGE, ids=lambda row: row["id"])
async def test_a_body_of_the_limit_fails_the_scrape(row: rows.Json) -> None:
    """Already a body that is just as large as body_size_limit is too large."""
    [job] = ours.jobs([{"job_name": row["id"], **row["job"]}])
    body = rows.body_of(row)
    assert len(body) == job.body_size_limit_bytes
    async with FakeExporter(body) as exporter, Fetcher(lambda: 0.0, lambda: 0.0) as fetcher:
        target = Target(job.name, exporter.url, {}, job.interval_s, job.timeout_s)
        answer = await fetcher.fetch(target, job)
    assert isinstance(answer, ScrapeFailed)
    assert answer.reason is FailReason.TOO_LARGE
    assert "body size limit" in row["scrape"]["error"]
