"""A target's page over several scrapes."""

import itertools
import tracemalloc
from dataclasses import dataclass, field
from typing import Any

import pytest

from cwgpu.digest.memory import KEPT_SCRAPES
from cwgpu.digest.page import Page
from cwgpu.emf.delta import Treatment
from cwgpu.model.drop import DropReason
from cwgpu.model.reading import Reading, Refused
from cwgpu.model.scrape import FailReason
from cwgpu.plan.plan import Plan
from cwgpu.prom import relabel
from cwgpu.prom.exposition import Format
from tests.digest import kitchen
from tests.digest.kitchen import START_MS, STEP_MS

OPENMETRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8"


def counter(value: object, pod: str = "p") -> str:
    """A page with one counter."""
    return f'# TYPE DCGM_C counter\nDCGM_C{{pod="{pod}"}} {value}\n'


def gauge(value: object, name: str = "DCGM_A") -> str:
    """A page with one gauge."""
    return f'# TYPE {name} gauge\n{name}{{pod="p"}} {value}\n'


@dataclass(frozen=True, slots=True)
class Story:
    """Scrapes of one target, and what each gives."""

    sentence: str
    scrapes: tuple[tuple[str, str], ...]
    job: dict[str, Any] = field(default_factory=dict)
    plan: Plan = field(default_factory=kitchen.plan)


BASELINE = "| counter_baseline=1"

STORIES = [
    Story(
        "the first total of a counter is a baseline, then differences are sent, also of 0",
        ((counter(5), BASELINE), (counter(8), "DCGM_C=3"), (counter(8), "DCGM_C=0")),
    ),
    Story(
        "a total below the last one was reset, and all of it is new",
        ((counter(500), BASELINE), (counter(40), "DCGM_C=40"), (counter(45), "DCGM_C=5")),
    ),
    Story(
        "NaN makes a counter begin anew",
        (
            (counter(5), BASELINE),
            (counter("NaN"), "| not_finite=1"),
            (counter(7), BASELINE),
            (counter(9), "DCGM_C=2"),
        ),
    ),
    Story(
        "a counter whose exposed time stands still gives nothing and keeps its baseline",
        (
            (counter(f"5 {START_MS}"), BASELINE),
            (counter(f"6 {START_MS}"), "| counter_time_not_advanced=1"),
            (counter(f"8 {START_MS + 1}"), "DCGM_C=3"),
        ),
    ),
    Story(
        "a counter that comes with a time and without one has its totals in the page's order",
        (
            (counter(5), BASELINE),
            (
                counter(f"6 {START_MS + 1}") + 'DCGM_C{pod="p"} 9\n',
                "DCGM_C=1 DCGM_C=3",
            ),
        ),
    ),
    Story(
        "a counter that is away for a while goes on from where it was",
        ((counter(5), BASELINE), (gauge(1), "DCGM_A=1"), (counter(9), "DCGM_C=4")),
    ),
    Story(
        "a counter that is away for too long begins anew",
        (
            (counter(5), BASELINE),
            *(((gauge(1), "DCGM_A=1"), (gauge(2) + "\n", "DCGM_A=2")) * (KEPT_SCRAPES // 2 + 1)),
            (counter(9), BASELINE),
        ),
    ),
    Story(
        "a page that stays the same goes on counting",
        ((counter(5), BASELINE), *((counter(5 + n), "DCGM_C=1") for n in range(1, 6))),
    ),
    Story(
        "a gauge that cannot be sent leaves the others of its event alone",
        (
            (gauge(1) + gauge("NaN", "DCGM_B"), "DCGM_A=1 | not_finite=1"),
            (gauge(2) + gauge(3, "DCGM_B"), "DCGM_A=2 DCGM_B=3"),
            (gauge("-Inf") + gauge("+Inf", "DCGM_B"), "| not_finite=2"),
        ),
    ),
    Story(
        "values beyond what CloudWatch takes are left out",
        (
            (gauge("1e300") + gauge("-1e300", "DCGM_B"), "| out_of_range=2"),
            (gauge("1e30") + gauge("-1e30", "DCGM_B"), "DCGM_A=1e+30 DCGM_B=-1e+30"),
        ),
    ),
    Story(
        "DCGM's blank values are left out, by the kind of field",
        (
            (
                gauge(2147483632, "DCGM_FI_DEV_GPU_TEMP")
                + gauge(2147483632, "DCGM_FI_DEV_ENERGY")
                + gauge("140737488355328.000000", "DCGM_FI_DEV_X")
                + gauge(9223372036854775794, "DCGM_FI_DEV_Y")
                + gauge(2147483632, "TEMP"),
                "DCGM_FI_DEV_ENERGY=2.14748e+09 TEMP=2.14748e+09 | dcgm_blank=3",
            ),
        ),
    ),
    Story(
        "a series that comes twice counts once, with its last value",
        (
            (gauge(1) + gauge(2), "DCGM_A=2 | duplicate=1"),
            (gauge(3) + gauge(4), "DCGM_A=4 | duplicate=1"),
            (gauge(1) + 'DCGM_A{pod="p",x=""} 9\n', "DCGM_A=9 | duplicate=1"),
        ),
    ),
    Story(
        "a counter that comes twice counts once",
        (
            (counter(5) + counter(6), "| duplicate=1 counter_baseline=1"),
            (counter(7) + counter(9), "DCGM_C=3 | duplicate=1"),
        ),
    ),
    Story(
        "TYPE may stand below its samples",
        (('DCGM_A{pod="p"} 4\n# TYPE DCGM_A gauge\n', "DCGM_A=4"),),
    ),
    Story(
        "a TYPE that changes between scrapes changes what becomes of the samples",
        (
            (gauge(5), "DCGM_A=5"),
            (gauge(6).replace("gauge", "counter"), BASELINE),
            (gauge(9).replace("gauge", "counter"), "DCGM_A=3"),
            (gauge(9).replace("gauge", "histogram"), "| unsupported_type=1"),
            (gauge(9).replace("gauge", "untyped"), "| untyped=1"),
            (gauge(7), "DCGM_A=7"),
        ),
    ),
    Story(
        "a TYPE that goes away below a known sample is noticed",
        (
            ('DCGM_A{pod="p"} 4\n# TYPE DCGM_A gauge\n', "DCGM_A=4"),
            ('DCGM_A{pod="p"} 4\n# TYPE DCGM_B gauge\n', "| untyped=1"),
        ),
    ),
    Story(
        "a bad line costs itself alone, at every scrape",
        (
            (gauge(1) + "DCGM_A{pod=} 1\n", "DCGM_A=1 | bad_line=1"),
            (gauge(2) + "DCGM_A{pod=} 1\n", "DCGM_A=2 | bad_line=1"),
            (gauge(2) + 'DCGM_A{a="1",a="2"} 1\n', "DCGM_A=2 | bad_line=1"),
            (gauge("x") + gauge(1, "DCGM_B"), "DCGM_B=1 | bad_line=1"),
        ),
    ),
    Story(
        "a known line may end otherwise than before",
        (
            (gauge(1) + gauge(1, "DCGM_B"), "DCGM_A=1 DCGM_B=1"),
            (gauge(2) + gauge("2 x", "DCGM_B"), "DCGM_A=2 | bad_line=1"),
            (gauge(3) + gauge(f"3 {START_MS + 9}", "DCGM_B"), "DCGM_A=3 DCGM_B=3"),
            (gauge(4) + gauge("4\t", "DCGM_B"), "DCGM_A=4 DCGM_B=4"),
            (gauge(5) + gauge("", "DCGM_B"), "DCGM_A=5 | bad_line=1"),
            (gauge(6) + gauge("6", "DCGM_B").rstrip(), "DCGM_A=6 DCGM_B=6"),
        ),
    ),
    Story(
        "a known TYPE line may end otherwise than before",
        (
            (gauge(1), "DCGM_A=1"),
            (gauge(2).replace("gauge", "gauge x"), "| bad_line=1 untyped=1"),
            (gauge(3), "DCGM_A=3"),
        ),
    ),
    Story(
        "a metric called like a label that it needs as dimension cannot be sent",
        (
            (gauge(1) + gauge(2, "pod"), "DCGM_A=1 | dimension_missing=1"),
            (gauge(1) + gauge(2, "gpu"), "DCGM_A=1 gpu=2"),
        ),
    ),
    Story(
        "a metric that takes the place of a label leaves no dimension set that needs it",
        ((gauge(1) + gauge(2, "pod") + gauge("NaN", "DCGM_B"), "DCGM_A=1 pod=2 | not_finite=1"),),
        plan=kitchen.plan(kitchen.declared(sets=(("job",), ("job", "pod")))),
    ),
    Story(
        "labels that hold a line break are read whole, and what follows them too",
        (
            (gauge(1) + '# TYPE b gauge\nb{pod="p\nb 7"} 2\nb{pod="p"} 3\n', "DCGM_A=1 b=2 b=3"),
            (gauge(2) + '# TYPE b gauge\nb{pod="p\nb 7"} 3\nb{pod="p"} 4\n', "DCGM_A=2 b=3 b=4"),
        ),
        plan=kitchen.by_job(),
    ),
    Story(
        "nothing is nothing",
        (("", ""), ("# only words\n", ""), ("\n\n", "")),
    ),
    Story(
        "a counter may be sent as it is, or per second",
        (
            ("# TYPE abs counter\nabs 7\n# TYPE rate counter\nrate 30\n", "abs=7 " + BASELINE),
            ("# TYPE abs counter\nabs 7\n# TYPE rate counter\nrate 60\n", "abs=7 rate=2"),
        ),
        plan=kitchen.by_job(
            counters=(
                (lambda name: name == "abs", Treatment.ABSOLUTE),
                (lambda name: name == "rate", Treatment.RATE),
            )
        ),
    ),
    Story(
        "sample_limit counts what relabelling leaves",
        ((gauge(1) + gauge(2, "DCGM_B") + gauge(3, "DCGM_D"), "DCGM_B=2 | metric_relabel=2"),),
        job={
            "sample_limit": 1,
            "metric_relabel": (
                relabel.rule(action="drop", source_labels=["__name__"], regex="DCGM_[AD]"),
            ),
        },
    ),
]


@pytest.mark.parametrize("told", STORIES, ids=lambda told: told.sentence)
def test_a_page_over_time(told: Story) -> None:
    """Scrape by scrape, the page sends and drops what the story says."""
    page = kitchen.page(told.plan, **told.job)
    texts = [text for text, _ in told.scrapes]
    assert kitchen.story(page, *texts) == [expected for _, expected in told.scrapes]


@dataclass(frozen=True, slots=True)
class Refusal:
    """An answer that is not let in."""

    sentence: str
    body: str
    reason: FailReason
    words: str
    content_type: str = ""
    job: dict[str, Any] = field(default_factory=dict)


REFUSALS = [
    Refusal(
        "HTML is no metrics page",
        " <html><body>login</body></html>\n",
        FailReason.NOT_METRICS,
        "begins '<html><body>login</body></html>\\n'): check metrics_path and port",
    ),
    Refusal(
        "not even with something like a sample in it",
        "<pre>\nDCGM_A 1\n</pre>\n",
        FailReason.NOT_METRICS,
        "begins '<pre>",
    ),
    Refusal(
        "a page that means to be one hears what is wrong with it",
        "# TYPE DCGM_A gauge\r\nDCGM_A 1\r\n",
        FailReason.NOT_METRICS,
        'line 1: column 15: found "gauge\\r", allowed',
    ),
    Refusal("nor is JSON", '{"status":"up"}', FailReason.NOT_METRICS, "no metrics page"),
    Refusal("nor is plain text", "404 page not found\n", FailReason.NOT_METRICS, "404 page"),
    Refusal(
        "without a fallback the Content-Type has to be one of metrics",
        gauge(1),
        FailReason.NOT_METRICS,
        'Content-Type "application/json"',
        content_type="application/json",
        job={"fallback_format": None},
    ),
    Refusal(
        "protobuf cannot be read",
        gauge(1),
        FailReason.NOT_METRICS,
        "protobuf",
        content_type="application/vnd.google.protobuf",
    ),
    Refusal(
        "strict: one bad line fails the scrape and is named",
        gauge(1) + "DCGM_A{ 1\n",
        FailReason.BAD_LINE,
        "line 3: column",
        job={"strict": True},
    ),
    Refusal(
        "strict: a page of OpenMetrics that is cut off fails",
        gauge(1),
        FailReason.BAD_LINE,
        "# EOF",
        content_type=OPENMETRICS,
        job={"strict": True},
    ),
    Refusal(
        "a page of nonsense is none, though there is a sample on it",
        gauge(1) + "}\n" * 10_001,
        FailReason.NOT_METRICS,
        "more than 10000 lines of the answer are no metrics, the first of them line 3: column 1:",
    ),
    Refusal(
        "strict: of such a page the first bad line is named, as of any",
        gauge(1) + "}\n" * 10_001,
        FailReason.BAD_LINE,
        "line 3: column 1:",
        job={"strict": True},
    ),
    Refusal(
        "more samples than sample_limit fail the scrape",
        gauge(1) + gauge(2, "DCGM_B"),
        FailReason.SAMPLE_LIMIT,
        "2 samples after relabelling, sample_limit is 1",
        job={"sample_limit": 1},
    ),
]


@pytest.mark.parametrize("refusal", REFUSALS, ids=lambda refusal: refusal.sentence)
def test_what_is_not_let_in(refusal: Refusal) -> None:
    """The answer is refused, also when it comes again, with a reason a person can act on."""
    page = kitchen.page(**refusal.job)
    for _ in range(2):
        found = page.read(refusal.body.encode(), START_MS, refusal.content_type)
        assert isinstance(found, Refused)
        assert found.reason is refusal.reason
        assert refusal.words in found.detail


def test_bad_lines_cost_themselves_up_to_thousands() -> None:
    """All of them are counted, and the samples between them are read."""
    reading = kitchen.read(kitchen.page(), "}\n" * 5000 + gauge(1) + "}\n" * 5000)
    assert kitchen.account(reading) == "DCGM_A=1 | bad_line=10000"


def test_endless_nonsense_is_not_read_to_its_end() -> None:
    """A page of newlines, of which OpenMetrics knows none, is refused before anybody waits."""
    found = kitchen.page().read(b"\n" * 8_000_000, START_MS, OPENMETRICS)
    assert isinstance(found, Refused)


def test_blank_lines_cost_next_to_nothing() -> None:
    """A page of the text format may have any number; what is kept of it does not grow by them."""
    page, body = kitchen.page(), ("\n" * 300_000 + gauge(1)).encode()
    tracemalloc.start()
    readings = [page.read(body, START_MS) for _ in range(2)]
    kept_bytes, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    for reading in readings:
        assert isinstance(reading, Reading)
        assert kitchen.account(reading) == "DCGM_A=1"
    # A list of the lines takes 9 bytes for each of them.
    assert peak_bytes < 20 * len(body)
    assert kept_bytes < 100_000


@pytest.mark.parametrize(
    "line",
    ["# {}", "{}_a 1", 'a{{x="{}"}} 1', 'DCGM_A{{UUID="GPU-{}"}} 1', 'a{{l{}_a=""}} 1', "a {}"],
)
def test_a_page_with_a_large_text_leaves_nothing_behind(line: str) -> None:
    """Another text each time, as of a program gone mad: what was there long ago is forgotten."""
    rules = (
        relabel.rule(action="drop", source_labels=["x"], regex=".*yes"),
        relabel.rule(source_labels=["x"], regex="(1.*)", target_label="y"),
        relabel.rule(action="labeldrop", regex="y.*a"),
        relabel.rule(action="labelmap", regex="(.*)_b"),
    )
    plan = kitchen.plan(
        kitchen.declared(source="x UUID job", matcher="[0-9]x|dcgm", sets=(("job",),))
    )
    page = kitchen.page(plan, metric_relabel=rules)
    kept: list[int] = []
    tracemalloc.start()
    for scrape in range(2 * KEPT_SCRAPES + 6):
        text = line.format(f"{scrape}{'x' * 300_000}")
        page.read(f"{gauge(1)}# TYPE a gauge\n{text}\n".encode(), START_MS + scrape * STEP_MS)
        kept.append(tracemalloc.get_traced_memory()[0])
    tracemalloc.stop()
    assert kept[-1] - kept[KEPT_SCRAPES + 2] < 1_000_000


def test_a_blank_line_within_a_label_is_part_of_it() -> None:
    """It is passed over where an item may begin, and nowhere else."""
    reading = kitchen.read(kitchen.page(), '# TYPE DCGM_A gauge\nDCGM_A{pod="p\n\n"} 1\n\n')
    assert isinstance(reading, Reading)
    assert reading.samples == 1
    assert reading.bad_lines == ()


def test_a_refused_answer_costs_no_baseline() -> None:
    """After a login page, say, counters go on from where they were."""
    page = kitchen.page()
    kitchen.read(page, counter(5))
    assert isinstance(page.read(b"<html>", START_MS + STEP_MS), Refused)
    reading = kitchen.read(page, counter(7), START_MS + 2 * STEP_MS)
    assert kitchen.account(reading) == "DCGM_C=2"


TIMED = gauge(f"1 {START_MS - 90_000}") + gauge(f"2 {START_MS - 30_000}", "DCGM_B") + gauge(3, "D")


@pytest.mark.parametrize(
    ("honor", "expected"),
    [
        (True, [("DCGM_A", -90_000), ("DCGM_B", -30_000), ("D", 0)]),
        (False, [("DCGM_A", 0), ("DCGM_B", 0), ("D", 0)]),
    ],
)
def test_each_exposed_time_has_its_event(honor: bool, expected: list[tuple[str, int]]) -> None:  # noqa: FBT001 - a table's column
    """Samples of one GPU and of different times are not put under the first one's time."""
    page = kitchen.page(honor_timestamps=honor)
    for _ in range(2):
        reading = kitchen.read(page, TIMED)
        assert [(p.name, p.at_ms - START_MS) for p in kitchen.points(reading)] == expected
        assert len(reading.events) == len({at for _, at in expected})


def test_one_series_may_have_several_times() -> None:
    """A page may tell a little history: each time is a sample of its own."""
    page = kitchen.page()
    text = gauge(f"1 {START_MS}") + gauge(f"2 {START_MS + 1}")
    reading = kitchen.read(page, text)
    assert kitchen.account(reading) == "DCGM_A=1 DCGM_A=2"
    assert [event.at_ms for event in reading.events] == [START_MS, START_MS + 1]


def test_bad_lines_are_shown_with_number_and_fault() -> None:
    """The first five are shown, cut to a readable length; all are counted."""
    lines = [f"DCGM_A{{pod={'x' * 200}}} {number}" for number in range(7)]
    reading = kitchen.read(kitchen.page(), gauge(1) + "\n".join(lines))
    assert [bad.number for bad in reading.bad_lines] == [3, 4, 5, 6, 7]
    assert {bad.text for bad in reading.bad_lines} == {lines[0][:120]}
    assert all("double quotes" in bad.fault for bad in reading.bad_lines)
    (drop,) = reading.dropped
    assert (drop.reason, drop.count) == (DropReason.BAD_LINE, 7)
    assert drop.names == ("line 3", "line 4", "line 5", "line 6", "line 7")


def test_the_content_type_chooses_the_format() -> None:
    """OpenMetrics has timestamps in seconds, exemplars and an end; both formats may alternate."""
    page = kitchen.page()
    text = counter(5)
    metrics = counter(f'7 {START_MS // 1000 + 30} # {{trace="x"}} 1') + "# EOF\n"
    assert kitchen.account(kitchen.read(page, text)) == BASELINE
    reading = page.read(metrics.encode(), START_MS, OPENMETRICS)
    assert isinstance(reading, Reading)
    assert [p.at_ms - START_MS for p in kitchen.points(reading)] == [30_000]
    assert kitchen.account(reading) == "DCGM_C=2"
    later = kitchen.read(page, counter(8), START_MS + 60_000)
    assert kitchen.account(later) == "DCGM_C=1"


def test_what_one_format_takes_is_not_taken_by_the_other() -> None:
    """A series that only the text format allows is a bad line once the page is OpenMetrics."""
    page = kitchen.page()
    text = '# TYPE DCGM_A gauge\nDCGM_A{ pod="p" } 1\n'
    assert kitchen.account(kitchen.read(page, text)) == "DCGM_A=1"
    reading = page.read(text.encode() + b'DCGM_A{pod="q"} 2\n# EOF\n', START_MS, OPENMETRICS)
    assert isinstance(reading, Reading)
    assert kitchen.account(reading) == "DCGM_A=2 | bad_line=1"


@pytest.mark.parametrize("end", ["", "# EOF\nDCGM_A 1\n", 'DCGM_A{pod="p"} 1'])
def test_a_page_of_openmetrics_that_is_not_whole(end: str) -> None:
    """Its good lines are read and the fault of the page is a bad line, hot and cold."""
    page = kitchen.page(fallback_format=Format.OPENMETRICS)
    for value in (1, 2):
        reading = page.read((gauge(value) + end).encode(), START_MS)
        assert isinstance(reading, Reading)
        assert [p.value for p in kitchen.points(reading)] == [value]
        assert {drop.reason for drop in reading.dropped} == {DropReason.BAD_LINE}


def heir(*former: Page) -> Page:
    """A page that replaces the last of these, each of which replaces the one before."""
    chain = [*former, kitchen.page()]
    for one, next_one in itertools.pairwise(chain):
        next_one.adopt(one)
    return chain[-1]


def test_a_reload_keeps_the_baselines() -> None:
    """The page of a new plan goes on counting, also when a second reload follows at once."""
    first = kitchen.page()
    kitchen.read(first, counter(5))
    page = heir(first, kitchen.page())
    assert kitchen.account(kitchen.read(page, counter(9), START_MS + STEP_MS)) == "DCGM_C=4"


def test_a_reload_keeps_baselines_no_longer_than_a_page_does() -> None:
    """What an exporter has not shown again after some scrapes is forgotten."""
    first = kitchen.page()
    kitchen.read(first, counter(5))
    page = heir(first)
    assert page.remembered == 1
    for number in range(KEPT_SCRAPES + 1):
        kitchen.read(page, gauge(1) + "\n" * number)
    assert page.remembered == 3  # the gauge's line, its label set and its event's template
    assert kitchen.account(kitchen.read(page, counter(9), START_MS + STEP_MS)) == BASELINE


def test_pods_that_come_and_go_leave_nothing_behind() -> None:
    """However many pods a node has seen, a page holds those of the last scrapes."""
    page = kitchen.page()
    most = 0
    for number in range(20 * KEPT_SCRAPES):
        kitchen.read(page, counter(number, f"pod-{number}") + gauge(number))
        most = max(most, page.remembered)
    assert most <= (KEPT_SCRAPES + 1) + 1 + 5 * 2
    assert page.remembered <= most


def test_values_that_come_and_go_leave_nothing_behind() -> None:
    """Which values of an event are missing may change at every scrape, without end."""
    page = kitchen.page()
    names = [f"DCGM_{letter}" for letter in "ABDEFGHIJK"]

    def text(number: int) -> str:
        return "".join(
            gauge("NaN" if number >> place & 1 else 1, name) for place, name in enumerate(names)
        )

    for number in range(200):
        kitchen.read(page, text(number))
    assert page.remembered <= len(names) + 2 + 2


def test_events_of_more_than_100_metrics_are_split() -> None:
    """Each half is a valid event of the same labels, time and dimensions."""
    text = "".join(gauge(n, f"m{n:03}") for n in range(101))
    reading = kitchen.read(kitchen.page(), text)
    assert [event.samples for event in reading.events] == [100, 1]
    assert {(p.dimensions, p.at_ms) for p in kitchen.points(reading)} == {
        (
            frozenset({**kitchen.TARGET, "ClusterName": "lab", "pod": "p"}.items()),
            START_MS,
        )
    }
    assert kitchen.account(reading) == " ".join(f"m{n:03}={n}" for n in range(101))


def test_a_split_event_may_lose_values_too() -> None:
    """Missing values are taken out of the part that they are in."""
    text = "".join(gauge("NaN" if n in {3, 100} else n, f"m{n:03}") for n in range(101))
    reading = kitchen.read(kitchen.page(), text)
    assert [event.samples for event in reading.events] == [99]
    assert (reading.samples, reading.selected) == (101, 99)


def test_numbers_are_sent_as_the_exporter_wrote_them() -> None:
    """A text that JSON takes is not converted, so that no digit is lost or made up."""
    texts = {"A": "0.10000000000000001", "B": "1E+2", "D": "+1.50", "E": ".5", "F": "7."}
    page = kitchen.page(kitchen.by_job())
    (event,) = kitchen.read(page, "".join(gauge(text, name) for name, text in texts.items())).events
    for written in (b'"A":0.10000000000000001', b'"B":1E+2', b'"D":1.5', b'"E":0.5', b'"F":7'):
        assert written in event.message


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a_b 1\na 2\n", "a 1\na_b 2\n"),
        ('a{x="1"} 1\nb{x="2"} 2\n', 'a{x="2"} 1\nb{x="1"} 2\n'),
        ('a{x="1"} 1\n{"b",x="2"} 2\n', '{"b",x="2"} 1\na{x="1"} 2\n'),
        ('a{x="1"} 1\nb 1\n', '{x="1"} 1\nb 1\n'),
        ('a{x="1"} 12\n', 'a{x="1"}12 \n'),
        ("# HELP a b\na 1\n", "# HELP a bc\na 1\n"),
        ("a 1\n\nb 2\n", "a 1\nb 2\n\n"),
        ("a 1\nb 22\n", "a 1\nb 2 2\n"),
        ('a{x="1"} 1\na{x="2"} 12345678\n', 'a{x="2"} 1\na{x="1"} 12345678\n'),
    ],
)
def test_a_page_of_another_shape_is_not_taken_for_the_known_one(before: str, after: str) -> None:
    """Lines that change places, lose a part, or grow, are read anew, as by a page that is fresh."""
    plan = kitchen.by_job(untyped_as_gauge=True)
    known, fresh = kitchen.page(plan), kitchen.page(plan)
    kitchen.read(known, before)
    assert known.replay(after.encode(), START_MS + STEP_MS) is None
    found, other = (page.read(after.encode(), START_MS + STEP_MS) for page in (known, fresh))
    assert isinstance(found, Reading)
    assert isinstance(other, Reading)
    assert (found.events, found.dropped) == (other.events, other.dropped)


def test_a_set_that_a_metric_hides_is_named() -> None:
    """A metric called as a label takes its place; what is sent by the other sets says so."""
    sets = (("job", "pod"), ("job",))
    text = '# TYPE pod gauge\npod{gpu="0",pod="p"} 2\n'
    reading = kitchen.read(kitchen.page(kitchen.plan(kitchen.declared(sets=sets))), text)
    assert [point.dimensions for point in kitchen.points(reading)] == [{("job", "dcgm")}]
    (drop,) = reading.partly
    assert (drop.count, drop.names) == (1, ("pod",))
    assert drop.detail == "[job, pod]: a metric of the event has the name of a label"
