"""The explanation of a page: the same account as that of reading it, series by series."""

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cwgpu.digest.explain import Event, Explanation, Fate, Metric, explain
from cwgpu.digest.page import Page
from cwgpu.digest.recipe import Recipe
from cwgpu.emf.delta import Treatment
from cwgpu.model.drop import DropReason
from cwgpu.model.event import StreamKey
from cwgpu.model.kind import Kind
from cwgpu.model.labels import Labels
from cwgpu.model.reading import Refused
from cwgpu.model.scrape import FailReason
from cwgpu.plan.plan import Events, GroupBy, Plan
from cwgpu.prom.rule import Rule, rule
from tests.digest import kitchen
from tests.digest.test_law import answer, lines
from tests.golden import plans

SAMPLES = sorted((Path(__file__).parents[1] / "data/samples").iterdir())
TYPES = {".prom": "text/plain; version=0.0.4", ".om": "application/openmetrics-text"}


def explained(text: str, of: Plan | None = None, **job: object) -> Explanation:
    """Explain a page that must be let in."""
    found = explain(kitchen.recipe(of, **job), kitchen.TARGET, text.encode())
    assert isinstance(found, Explanation), found
    return found


def only(text: str, of: Plan | None = None, **job: object) -> Fate:
    """Explain a page of one series."""
    (fate,) = explained(text, of, **job).fates
    return fate


Account = dict[str, object]


def told(recipe: Recipe, target: Labels, body: bytes, content_type: str) -> Account:
    """Give the account that an explanation adds up to, or why the page is refused."""
    found = explain(recipe, target, body, content_type, at_ms=kitchen.START_MS)
    if isinstance(found, Refused):
        return {"refused": (found.reason, found.detail)}
    reasons = Counter(fate.reason for fate in found.fates if fate.reason)
    reasons.update([DropReason.BAD_LINE] * len(found.bad_lines))
    assert reasons == {drop.reason: drop.count for drop in found.dropped}
    sent = [fate.metric for fate in found.fates if fate.metric and not fate.reason]
    return {
        "samples": found.samples,
        "selected": found.selected,
        "dropped": found.dropped,
        "bad_lines": found.bad_lines[:5],
        "events": len({metric.event for metric in sent}),
        "datapoints": sum(sum(map(len, metric.directives)) for metric in sent),
    }


def read(recipe: Recipe, target: Labels, body: bytes, content_type: str) -> Account:
    """Give the account of a first scrape."""
    page = Page(recipe, target)
    found = page.read(body, kitchen.START_MS, content_type)
    if isinstance(found, Refused):
        return {"refused": (found.reason, found.detail)}
    events = found.events + page.close()
    return {
        "samples": found.samples,
        "selected": found.selected,
        "dropped": found.dropped,
        "bad_lines": found.bad_lines,
        "events": len(events),
        "datapoints": sum(event.datapoints for event in events),
    }


@pytest.mark.parametrize("plan", plans.PLANS)
@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name)
def test_sample_pages_are_explained_as_they_are_read(path: Path, plan: str) -> None:
    """Pages of all shapes: the counts by reason are those of the scrape."""
    recipe = Recipe(plans.PLANS[plan], plans.PLANS[plan].jobs[0])
    page = (recipe, plans.TARGET, path.read_bytes(), TYPES[path.suffix])
    assert told(*page) == read(*page)


@settings(max_examples=150, deadline=None)
@given(
    lines,
    st.booleans(),
    st.booleans(),
    st.sampled_from(
        [
            kitchen.plan(),
            kitchen.by_job(),
            kitchen.by_job(events=Events(GroupBy.DIMENSIONS)),
            kitchen.by_job(events=Events(GroupBy.DIMENSIONS, 60.0, "dimensions", 3)),
            kitchen.by_job(events=Events(window_s=60.0, labels=("pod",))),
        ]
    ),
)
def test_any_page_is_explained_as_it_is_read(
    body: list[str],
    openmetrics: bool,  # noqa: FBT001 - drawn
    strict: bool,  # noqa: FBT001 - drawn
    of: Plan,
) -> None:
    """Bad lines, odd values, duplicates and refusals included."""
    page = (kitchen.recipe(of, strict=strict), kitchen.TARGET, *answer(body, openmetrics))
    assert told(*page) == read(*page)


UTIL = '# TYPE DCGM_FI_DEV_GPU_UTIL gauge\nDCGM_FI_DEV_GPU_UTIL{gpu="0",pod="p"} 87\n'
SETS = (("ClusterName", "Namespace", "Service", "job", "pod"),)


def test_a_series_that_is_sent() -> None:
    """Its event, its name there, unit and resolution, and each directive's dimension sets."""
    of = kitchen.plan(units={"DCGM_FI_DEV_GPU_UTIL": "Percent"}, resolutions=((lambda _: True, 1),))
    found = explained(UTIL, of)
    assert found.events == (
        Event(
            StreamKey("/lab/lab", "dcgm"),
            None,
            {**kitchen.TARGET, "ClusterName": "lab", "gpu": "0", "pod": "p"},
        ),
    )
    metric = Metric(0, "DCGM_FI_DEV_GPU_UTIL", "Percent", 1, None, (SETS,))
    labels = (("gpu", "0"), ("pod", "p"))
    assert found.fates == (
        Fate(2, "DCGM_FI_DEV_GPU_UTIL", labels, "87", None, Kind.GAUGE, metric, None, ""),
    )
    assert (found.samples, found.selected, found.dropped) == (1, 1, ())


def test_a_dimension_set_that_cloudwatch_would_refuse() -> None:
    """It is named with the reason, also where nothing is left but a field of the log."""
    refused = UTIL.replace('"p"', '"é"')
    both = kitchen.plan(kitchen.declared(sets=(("job", "pod"), ("job",))))
    logged = kitchen.plan(kitchen.declared(sets=(("job", "pod"),)), log_unselected=True)
    for of, left in ((both, (kitchen.JOB,)), (logged, ())):
        metric = only(refused, of).metric
        assert metric is not None
        assert metric.directives == left
        assert metric.skipped == "[job, pod]: the value of pod holds a character outside ASCII"


def test_series_are_told_by_their_event() -> None:
    """Labels and the page's own times part them; metrics of one GPU share one."""
    text = (
        "# TYPE a gauge\n# TYPE b gauge\n"
        'a{pod="p"} 1\nb{pod="p"} 2\na{pod="q"} 3\na{pod="p"} 4 1765000000001\n'
    )
    found = explained(text, kitchen.by_job())
    events = [fate.metric and fate.metric.event for fate in found.fates]
    assert events == [0, 0, 1, 2]
    assert [event.at_ms for event in found.events] == [None, None, 1765000000001]


def test_every_directive_is_told() -> None:
    """Without dedup each declaration gives a directive of its own."""
    of = kitchen.plan(
        kitchen.declared(sets=kitchen.JOB), kitchen.declared(sets=kitchen.JOB), dedup=False
    )
    fate = only(UTIL, of)
    assert fate.metric is not None
    assert fate.metric.directives == (kitchen.JOB, kitchen.JOB)


def test_a_plain_field_of_the_log_has_no_directive() -> None:
    """With unselected "log" what no declaration selects is sent all the same."""
    of = kitchen.plan(kitchen.declared("^other$"), log_unselected=True)
    fate = only(UTIL, of)
    assert (fate.reason, fate.metric and fate.metric.directives) == (None, ())


@pytest.mark.parametrize(
    ("treatment", "kind", "reason", "detail"),
    [
        (Treatment.DELTA, Kind.COUNTER, DropReason.FIRST_OF_COUNTER, "its increase is sent"),
        (Treatment.RATE, Kind.COUNTER, DropReason.FIRST_OF_COUNTER, "per second is sent"),
        (Treatment.ABSOLUTE, Kind.COUNTER, None, ""),
    ],
)
def test_counters(treatment: Treatment, kind: Kind, reason: DropReason | None, detail: str) -> None:
    """It is told what they are sent as, and that differences begin with the second scrape."""
    of = kitchen.by_job(counters=((lambda _: True, treatment),))
    fate = only("# TYPE c counter\nc 5\n", of)
    assert fate.metric is not None
    assert (fate.metric.treatment, fate.kind, fate.reason) == (treatment, kind, reason)
    assert fate.detail.endswith(detail)


def renaming(name: str, to: str) -> Rule:
    """A rule that gives metrics another name."""
    return rule(source_labels=["__name__"], regex=name, target_label="__name__", replacement=to)


RULES = (
    rule(action="drop", source_labels=["__name__"], regex="gone"),
    renaming("nameless", ""),
    renaming("blank", " "),
    renaming("former", "later"),
)


@pytest.mark.parametrize(
    ("page", "reason", "detail"),
    [
        ("# TYPE gone gauge\ngone 1", DropReason.RELABEL, "rule 1 of metric_relabel_configs"),
        ("# TYPE nameless gauge\nnameless 1", DropReason.NO_NAME, ""),
        ("# TYPE blank gauge\nblank 1", DropReason.NAME_INVALID, "is empty or blank"),
        ("m 1", DropReason.UNTYPED, "no TYPE line names it"),
        ("# TYPE m untyped\nm 1", DropReason.UNTYPED, "its TYPE is untyped"),
        ("# TYPE m histogram\nm_count 1", DropReason.UNSUPPORTED_TYPE, "histogram"),
        ("# TYPE m gauge\nm 1", DropReason.UNSELECTED, "no metric_selector finds its name"),
        (
            "# TYPE former gauge\nformer 1",
            DropReason.UNSELECTED,
            "no metric_selector finds later, as it is called here",
        ),
        (
            '# TYPE pick gauge\npick{Namespace="x"} 1',
            DropReason.UNSELECTED,
            (
                'selected by name, but label_matcher "^elsewhere" finds nothing in '
                'Service;Namespace = "dcgm-exporter;gpu-operator"'
            ),
        ),
        (
            "# TYPE pod gauge\npod 1",
            DropReason.DIMENSION_MISSING,
            "[job, pod] needs pod; [gpu, job, pod] needs gpu and pod",
        ),
        (
            '# TYPE pod gauge\npod{pod="a",gpu="é"} 1',
            DropReason.DIMENSION_MISSING,
            "a metric of the same event has the name of the label",
        ),
        (
            '# TYPE pod2 gauge\npod2{pod="é"} 1',
            DropReason.DIMENSION_INVALID,
            "the value of pod holds a character outside ASCII",
        ),
        (
            "# TYPE DCGM_FI_DEV_GPU_TEMP gauge\nDCGM_FI_DEV_GPU_TEMP 2147483632",
            DropReason.BLANK,
            "the value is 2147483632",
        ),
        ("# TYPE DCGM_X gauge\nDCGM_X NaN", DropReason.NOT_FINITE, "the value is NaN"),
        ("# TYPE DCGM_X gauge\nDCGM_X 1e300", DropReason.OUT_OF_RANGE, "the value is 1e300"),
    ],
)
def test_why_a_series_is_dropped(page: str, reason: DropReason, detail: str) -> None:
    """The rule, the label or the declaration is named, where the reason does not say it all."""
    of = kitchen.plan(
        kitchen.declared("^DCGM_", sets=kitchen.JOB),
        kitchen.declared("^pod", sets=(("job", "pod"), ("job", "pod", "gpu"))),
        kitchen.declared("^pick$", source="Service Namespace", matcher="^elsewhere"),
    )
    fate = only(f"{page}\n", of, metric_relabel=RULES)
    assert (fate.reason, fate.detail) == (reason, detail)


def test_the_last_of_equal_series_counts() -> None:
    """It is the earlier one that is told to be lost."""
    found = explained("# TYPE a gauge\na 1\na 2\n", kitchen.by_job())
    assert [(fate.value, fate.reason) for fate in found.fates] == [
        ("1", DropReason.DUPLICATE),
        ("2", None),
    ]
    assert found.fates[0].metric is None


def test_bad_lines_are_told_all() -> None:
    """A scrape shows the first few; who asks why wants every one."""
    found = explained("# TYPE a gauge\na 1\n" + "x y\n" * 9, kitchen.by_job())
    assert [bad.number for bad in found.bad_lines] == list(range(3, 12))
    assert (found.samples, found.selected) == (10, 1)


def test_a_page_that_is_refused() -> None:
    """Then nothing of it goes anywhere, and the one reason is that of the scrape."""
    found = explain(kitchen.recipe(sample_limit=1), kitchen.TARGET, b"a 1\nb 2\n")
    assert isinstance(found, Refused)
    assert found.reason is FailReason.SAMPLE_LIMIT
