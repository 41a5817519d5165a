"""The series that report a scrape."""

from typing import Any

import pytest

from cwgpu.digest import report
from cwgpu.digest.report import Report
from cwgpu.model.labels import Labels
from cwgpu.model.reading import Counts
from cwgpu.prom import relabel
from cwgpu.prom.exposition import Format
from tests.digest import kitchen

REPORT = Report(up=True, duration_s=0.25, counts=Counts(5, 4, 3))


def test_a_report_is_a_page_of_gauges() -> None:
    """Five of them; those that are left out are not there."""
    whole = kitchen.read(kitchen.page(kitchen.by_job()), REPORT.page())
    assert kitchen.account(whole) == (
        "scrape_duration_seconds=0.25 scrape_samples_post_metric_relabeling=4 "
        "scrape_samples_scraped=5 scrape_series_added=3 up=1"
    )
    less = kitchen.read(kitchen.page(kitchen.by_job()), REPORT.page(report.NAMES - {"up"}))
    assert kitchen.account(less) == "up=1"


def test_a_failed_scrape_is_down() -> None:
    """Also when it took no time at all."""
    down = Report(up=False, duration_s=0, counts=Counts())
    found = kitchen.read(kitchen.page(kitchen.by_job()), down.page({"scrape_series_added"}))
    assert kitchen.account(found) == (
        "scrape_duration_seconds=0 scrape_samples_post_metric_relabeling=0 "
        "scrape_samples_scraped=0 up=0"
    )


LABELS: list[tuple[Labels, Labels]] = [
    ({"job": "j", "instance": "i"}, {"job": "j", "instance": "i"}),
    ({"pod": "T", "exported_pod": "U"}, {"pod": "T"}),
    ({"exported_pod": "U"}, {"exported_pod": "U"}),
    ({"a": "T", "exported_a": "U"}, {"a": "T", "exported_a": "U"}),
    ({"": "x", "job": "j"}, {"job": "j"}),
]


@pytest.mark.parametrize(("target", "expected"), LABELS)
def test_report_series_have_the_targets_labels(target: Labels, expected: Labels) -> None:
    """As in Prometheus, ``exported_x`` is lost to an ``x`` that comes later in the order."""
    assert report.labels(target) == expected


def test_a_reports_job_keeps_what_decides_where_its_events_go() -> None:
    """Rules, limits and strictness are for pages of targets."""
    job = kitchen.recipe(
        metric_relabel=(relabel.rule(action="labeldrop", regex=".*"),),
        honor_labels=False,
        sample_limit=1,
        label_limit=1,
        label_name_length_limit=1,
        label_value_length_limit=1,
        legacy_names=True,
        strict=True,
        fallback_format=None,
        report_series=True,
    ).job
    ours = kitchen.recipe(fallback_format=Format.TEXT, honor_labels=True).job
    assert report.job(job) == ours


EXPOSED = [
    ("up 5\n", {}, {"up"}),
    ("up 5\nscrape_duration_seconds 7\n", {}, {"up", "scrape_duration_seconds"}),
    ('up{a="b"} 5\n', {}, set()),
    ('up{a=""} 5\n', {}, {"up"}),
    ('up{job="dcgm"} 5\n', {"honor_labels": True}, {"up"}),
    ("up 5 1765000000000\n", {}, set()),
    ("up 5 1765000000000\n", {"honor_timestamps": False}, {"up"}),
    (
        "util 5\n",
        {"metric_relabel": (relabel.rule(target_label="__name__", replacement="up"),)},
        {"up"},
    ),
    ("up 5\n", {"metric_relabel": (relabel.rule(action="drop"),)}, set()),
    ("up 5\n", {"report_series": False}, set()),
]


@pytest.mark.parametrize(("page", "job", "shadowed"), EXPOSED)
def test_a_page_may_have_a_report_series_itself(
    page: str, job: dict[str, Any], shadowed: set[str]
) -> None:
    """With the same labels at the same time it is the one that counts, typed or not."""
    of = kitchen.page(**{"report_series": True, **job})
    for _ in range(2):  # read, and replayed
        assert kitchen.read(of, page).shadowed == shadowed
