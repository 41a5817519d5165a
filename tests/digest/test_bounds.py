"""What a job asks of its samples: names, and labels within limits."""

from dataclasses import dataclass
from typing import Any

import pytest

from cwgpu.digest import bounds
from cwgpu.model.labels import Labels
from cwgpu.model.reading import Reading, Refused
from cwgpu.model.scrape import FailReason
from cwgpu.plan.plan import Job
from cwgpu.prom import relabel
from tests.digest import kitchen

SAMPLE = {"__name__": "util", "instance": "10.0.0.1:9400", "job": "dcgm", "größe": "ü" * 10}


def fault(labels: Labels, **job: Any) -> Refused | None:  # noqa: ANN401 - fields of Job
    """Judge a sample."""
    return bounds.fault(labels, Job("dcgm", 60.0, 10.0, **job))


@dataclass(frozen=True, slots=True)
class Bound:
    """A bound, the highest or lowest value that lets the sample in, and what the fault says."""

    key: str
    most: int
    says: str
    labels: Labels


BOUNDS = [
    Bound(
        "label_limit",
        4,
        'metric "util" has 4 labels, its name, job and instance among them, and label_limit is 3: '
        "raise the limit, or drop labels by metric_relabel_configs",
        SAMPLE,
    ),
    Bound(
        "label_name_length_limit",
        8,
        'the name of label "__name__" of metric "util" has 8 bytes, and label_name_length_limit '
        "is 7: raise the limit, or shorten or drop the label by metric_relabel_configs",
        SAMPLE,
    ),
    Bound(
        "label_value_length_limit",
        20,
        'the value of label "gr\\xf6\\xdfe" of metric "util" has 20 bytes, and '
        "label_value_length_limit is 19",
        SAMPLE,
    ),
    Bound(
        "label_value_length_limit",
        13,
        'the value of label "instance" of metric "util" has 13 bytes',
        {name: value for name, value in SAMPLE.items() if name != "größe"},
    ),
    Bound(
        "label_value_length_limit",
        50,
        'the value of label "__name__" of metric '
        f'"{"x" * 40}..." has 50 bytes, and label_value_length_limit is 49',
        {"__name__": "x" * 50},
    ),
]


@pytest.mark.parametrize("bound", BOUNDS, ids=lambda bound: f"{bound.key}-{bound.most}")
def test_a_limit_counts_as_prometheus_does(bound: Bound) -> None:
    """Lengths are in bytes, and the name, job and instance count; equal to the limit is fine."""
    assert fault(bound.labels, **{bound.key: bound.most}) is None
    found = fault(bound.labels, **{bound.key: bound.most - 1})
    assert found is not None
    assert found.reason is FailReason.LABEL_LIMIT
    assert bound.says.replace("\\xf6\\xdf", "öß") in found.detail


NAMES = [
    ("util", "pod", ""),
    ("gpu:util:rate5m", "_pod9", ""),
    ("gpu.util", "pod", 'metric name "gpu.util": metric_name_validation_scheme legacy allows'),
    ("9util", "pod", 'metric name "9util"'),
    ("util", "my.pod", 'label name "my.pod" of metric "util"'),
    ("util", "a:b", 'label name "a:b" of metric "util"'),
]


@pytest.mark.parametrize(("metric", "label", "says"), NAMES)
def test_legacy_names(metric: str, label: str, says: str) -> None:
    """They are letters, digits and _, and : in metrics; without the scheme any name will do."""
    labels = {"__name__": metric, label: "x"}
    assert fault(labels) is None
    found = fault(labels, legacy_names=True)
    assert (found.reason if found else None) == (FailReason.BAD_NAME if says else None)
    assert says in (found.detail if found else "")


def test_a_label_without_a_name() -> None:
    """A labelmap can make one; Prometheus fails the scrape whatever the scheme."""
    found = fault({**SAMPLE, "": "x"})
    assert found is not None
    assert found.reason is FailReason.BAD_NAME
    assert "labelmap" in found.detail


PAGE = '# TYPE util gauge\nutil{pod="p",a="1"} 1\n# TYPE other gauge\nother{pod="p"} 2\n'


def test_a_sample_that_a_rule_drops_is_not_judged() -> None:
    """The page is within its limit once the only sample that broke it is gone."""
    refused = kitchen.page(label_limit=5).read(PAGE.encode(), kitchen.START_MS)
    assert isinstance(refused, Refused)
    assert refused.counts.scraped == 1
    drop = relabel.rule(action="drop", source_labels=["__name__"], regex="util")
    page = kitchen.page(label_limit=5, metric_relabel=(drop,))
    assert kitchen.account(kitchen.read(page, PAGE)) == "other=2 | metric_relabel=1"


def test_limits_see_what_the_rules_make() -> None:
    """A rule brings a sample within its limit, or beyond; a cluster's name is added later."""
    shorter = relabel.rule(action="labeldrop", regex="a")
    page = kitchen.page(label_limit=5, metric_relabel=(shorter,))
    assert kitchen.account(kitchen.read(page, PAGE)) == "other=2 util=1"
    longer = relabel.rule(target_label="b", replacement="x" * 30)
    page = kitchen.page(label_value_length_limit=20, metric_relabel=(longer,))
    assert isinstance(page.read(PAGE.encode(), kitchen.START_MS), Refused)


def test_limits_see_the_usual_names_of_gpu_labels() -> None:
    """What other exporter versions call otherwise is measured by its usual name, as in rules."""
    row = b'# TYPE DCGM_A gauge\nDCGM_A{pod_namespace="n",pod="p"} 1\n'
    assert isinstance(kitchen.page(label_name_length_limit=9).read(row, kitchen.START_MS), Reading)


@pytest.mark.parametrize("strict", [True, False], ids=["strict", "default"])
def test_a_sample_whose_name_a_rule_takes_away(strict: bool) -> None:  # noqa: FBT001 - parametrised
    """Strictly it fails the scrape, as in Prometheus; else it costs itself alone."""
    unnamed = relabel.rule(
        source_labels=["__name__"], regex="util", target_label="__name__", replacement=""
    )
    page = kitchen.page(strict=strict, metric_relabel=(unnamed,))
    found = page.read(PAGE.encode(), kitchen.START_MS)
    if isinstance(found, Refused):
        assert strict
        assert found.reason is FailReason.BAD_NAME
        assert "left a sample without a metric name" in found.detail
    else:
        assert not strict
        assert kitchen.account(found) == "other=2 | no_metric_name=1"


def test_a_sample_that_loses_all_labels_is_dropped() -> None:
    """Prometheus takes it for one that a rule dropped, and the scrape is good."""
    nothing = relabel.rule(action="labelkeep", regex="none")
    page = kitchen.page(strict=True, metric_relabel=(nothing,))
    assert kitchen.account(kitchen.read(page, PAGE)) == "| metric_relabel=2"


def test_a_page_that_grows_beyond_a_limit_is_refused_from_then_on() -> None:
    """What was let in before is known, and only the new line is judged; then all is well again."""
    page = kitchen.page(label_limit=6)
    longer = PAGE + '# TYPE more gauge\nmore{pod="p",a="1",b="2"} 3\n'
    assert kitchen.account(kitchen.read(page, PAGE)) == "other=2 util=1"
    for _ in range(2):
        found = page.read(longer.encode(), kitchen.START_MS)
        assert isinstance(found, Refused)
        assert (found.counts.scraped, found.counts.passed, found.counts.added) == (3, 2, 0)
    assert kitchen.account(kitchen.read(page, PAGE)) == "other=2 util=1"
