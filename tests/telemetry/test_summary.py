"""The dry run's summary."""

from dataclasses import replace

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cwgpu.model.drop import DropReason
from cwgpu.model.event import EmfEvent, Outcome, StreamKey
from cwgpu.model.reading import BadLine, Drop, Reading
from cwgpu.model.scrape import FailReason, Scrape, ScrapeFailed
from cwgpu.model.target import DroppedTarget, Target
from cwgpu.telemetry import escape, report
from cwgpu.telemetry.summary import Summary

STREAM = StreamKey("group", "stream")
PAGE = Scrape(1, b"", "", 0.1)


def aim(url: str = "http://10.0.0.1:9400/metrics") -> Target:
    """Make a target."""
    return Target("dcgm", url, {}, 60.0, 10.0)


def event(pod: str = "p", *names: str) -> EmfEvent:
    """Make an event of one dimension."""
    metrics = [{"Name": name} for name in names]
    directive = {"Namespace": "N", "Dimensions": [["pod"]], "Metrics": metrics}
    root = {"_aws": {"Timestamp": 1, "CloudWatchMetrics": [directive]}, "pod": pod}
    message = orjson.dumps(root | dict.fromkeys(names, 1))
    return EmfEvent.of(STREAM, 1, message, len(names), len(names))


def reading(*drops: Drop, selected: int = 0, **more: object) -> Reading:
    """Make a reading whose account is right."""
    samples = selected + sum(drop.count for drop in drops)
    parts: dict[str, object] = {"events": (), "bad_lines": (), **more}
    return Reading(samples=samples, selected=selected, dropped=drops, **parts)  # type: ignore[arg-type]


def failed(reason: FailReason = FailReason.REFUSED, detail: str = "it refused") -> ScrapeFailed:
    """Make a failed scrape."""
    return ScrapeFailed(1, reason, detail, 0.1)


UNSELECTED = Drop(DropReason.UNSELECTED, 3, ("A", "B"))
UNMATCHED = 'selected by name, but label_matcher "dcgm" finds nothing in Service = ""'
BASELINE = Drop(DropReason.FIRST_OF_COUNTER, 2, ("C_TOTAL",))


def test_a_good_run_in_full() -> None:
    """All that there is to say of an ordinary run, as it is laid out."""
    summary = Summary()
    up, down = aim(), aim("http://10.0.0.2:9400/metrics")
    summary.discovered([up, down], [DroppedTarget("dcgm", {}, "rule 1 dropped it")] * 2)
    summary.scraped(
        up,
        PAGE,
        reading(
            UNSELECTED,
            Drop(DropReason.BAD_LINE, 1, ()),
            selected=1200,
            events=(event("p", "X", "Y"), event("q", "X", "Y")),
            bad_lines=(BadLine(12, "no value", "DCGM_FI{"),),
        ),
    )
    summary.scrape_failed(down, failed())
    assert summary.render(90).splitlines() == [
        "Targets    2 found: 1 up, 1 down; 2 more discovered and dropped",
        "           down: http://10.0.0.2:9400/metrics",
        "               connection_refused: it refused",
        "           dropped: 2 of job dcgm: rule 1 dropped it",
        "Samples    1,204 read in 2 scrapes: 1,200 selected, 4 dropped",
        "           3 unselected: no metric_declaration selects it",
        "               A, B",
        "           1 bad_line: not exposition text; listed below",
        "Bad lines  1 on 1 page",
        "           http://10.0.0.1:9400/metrics",
        "               line 12: no value",
        "                 DCGM_FI{",
        "Events     2 events, 4 datapoints of 4 CloudWatch metrics, 294 bytes",
    ]
    assert summary.live_line() == (
        "1/2 targets up, 1,204 samples read, 1,200 selected, 2 events, 4 datapoints, 4 metrics,"
        " 1 bad line"
    )


def test_whose_samples_cannot_be_sent() -> None:
    """A target is named where it is one's own fault, and the others are counted."""
    summary = Summary()
    odd = Drop(DropReason.NOT_FINITE, 1, ("A",))
    targets = [aim(f"http://10.0.0.{number}:9400/metrics") for number in range(3)]
    summary.discovered(targets, [])
    for target in targets:
        summary.scraped(target, PAGE, reading(odd, UNSELECTED))
    summary.scraped(targets[1], PAGE, reading(Drop(DropReason.DUPLICATE, 5, ("B",))))
    lines = [line.strip() for line in summary.render().splitlines()]
    assert lines[2:9] == [
        "9 unselected: no metric_declaration selects it",
        "A, B",
        "5 duplicate: the same series came again on the page; the last one counts",
        "B",
        "of http://10.0.0.1:9400/metrics",
        "3 not_finite: NaN or infinite",
        "A",
    ]
    assert lines[9] == "of http://10.0.0.0:9400/metrics and 2 other targets"
    summary.discovered([], [])
    assert "of targets that are gone" in summary.render()


def test_rules_that_decided() -> None:
    """Where a reason has several rules the first that decided is told, also of single sets."""
    summary = Summary()
    rule = "the value of pod is blank"
    invalid = Drop(DropReason.DIMENSION_INVALID, 2, ("A",), rule)
    partly = Drop(DropReason.DIMENSION_INVALID, 1, ("B",), f"[pod]: {rule}")
    summary.discovered([aim()], [])
    for _ in range(2):
        summary.scraped(aim(), PAGE, reading(invalid, selected=1, partly=(partly,)))
    lines = [line.strip() for line in summary.render(120).splitlines()]
    assert lines[2:10] == [
        "4 dimension_invalid: selected, but a label's value is no CloudWatch dimension",
        "A",
        rule,
        "of http://10.0.0.1:9400/metrics",
        "2 sent by fewer dimension sets, dimension_invalid:",
        "B",
        f"[pod]: {rule}",
        "of http://10.0.0.1:9400/metrics",
    ]


def test_nothing_has_happened_yet() -> None:
    """Before the first scrape there is a line to show, too."""
    summary = Summary()
    summary.discovered([aim()], [])
    assert summary.render(80).startswith("Targets    1 found: 0 up, 0 down, 1 not scraped yet\n")
    assert "Next" not in summary.render(80)
    assert summary.live_line().startswith("0/1 targets up, 0 samples read")
    assert summary.live_line(20) == "0/1 targets up, 0..."


def steps(summary: Summary) -> str:
    """Give the advice of a summary."""
    return " ".join(summary.render(1000).partition("\nNext")[2].split())


def test_no_target_says_where_to_name_one() -> None:
    """Without a target the next step is the scrape configuration."""
    assert "static_configs" in steps(Summary())


def test_no_target_because_of_a_variable() -> None:
    """It is named, with what to set it to; where there are targets nobody misses it."""
    summary = Summary(["URL", "OTHER"])
    assert steps(summary).startswith("No target was discovered. Set URL and OTHER to where an ")
    assert "such as URL=127.0.0.1:9400 before the command" in steps(summary)
    summary.discovered([aim()], [])
    assert steps(summary) == ""


def test_why_targets_are_missing() -> None:
    """What discovery said stands below the targets: each sentence once, a few of many."""
    summary = Summary()
    for _ in range(2):
        for number in range(200):
            summary.discovery_said("dcgm", f"pods in namespace n{number} cannot be listed")
    said = summary.render()
    assert said.count("job dcgm: pods in namespace n") == 5
    assert "job dcgm: pods in namespace n0 cannot be listed" in said
    assert "and 95 more sentences of discovery" in said


def test_targets_that_were_all_dropped() -> None:
    """When relabelling dropped everything the next step is its rules."""
    summary = Summary()
    summary.discovered([], [DroppedTarget("dcgm", {}, "rule 1")])
    assert "relabel regexes must match the whole value" in steps(summary)


def test_no_target_answers() -> None:
    """When every scrape failed the next step is a scrape by hand."""
    summary = Summary()
    summary.scrape_failed(aim(), failed())
    assert "curl" in steps(summary)
    assert (summary.up, summary.down) == (0, 1)


def test_a_scrape_that_broke() -> None:
    """That nothing came of it is our fault, and is said to be."""
    summary = Summary()
    summary.discovered([aim()], [])
    summary.bugs = 2
    text = " ".join(summary.render().split())
    assert "broken: 2 scrapes, by a fault of cwgpu; please report it" in text


def test_empty_pages() -> None:
    """A page without samples leads to the exporter."""
    summary = Summary()
    summary.scraped(aim(), PAGE, reading())
    assert "empty" in steps(summary)


def test_one_empty_page_among_others() -> None:
    """It is up and named; once it has samples, or fails, it is not called empty any more."""
    summary = Summary()
    full, empty = aim(), aim("http://10.0.0.2:9400/metrics")
    said = "up, but its page is empty: http://10.0.0.2:9400/metrics"
    summary.discovered([full, empty], [])
    summary.scraped(full, PAGE, reading(selected=2))
    summary.scraped(empty, PAGE, reading())
    assert said in summary.render()
    assert "Does the exporter see a GPU?" not in summary.render()
    summary.scrape_failed(empty, failed())
    assert said not in summary.render()
    summary.scraped(empty, PAGE, reading())
    summary.scraped(empty, PAGE, reading(selected=1))
    assert said not in summary.render()


def test_dropped_targets_that_are_not_remembered() -> None:
    """They are counted, and it is said why their reasons are not there."""
    summary = Summary()
    summary.discovered([], [DroppedTarget("dcgm", {}, "rule 1")], {("dcgm", False): 1200})
    assert "1,201 more discovered and dropped" in summary.render()
    assert "dropped: 1,200 more, which keep_dropped_targets leaves out" in summary.render()


@pytest.mark.parametrize(
    ("drops", "says"),
    [
        ([UNSELECTED], "Correct metric_selectors of the metric_declaration"),
        (
            [replace(UNSELECTED, detail=UNMATCHED)],
            f"Samples are {UNMATCHED}. Give the job's targets",
        ),
        (
            [UNSELECTED, Drop(DropReason.DIMENSION_MISSING, 1, ("A",), "[pod] needs pod")],
            "no dimension set fits them: [pod] needs pod. Give the job's targets the label",
        ),
        (
            [Drop(DropReason.DIMENSION_MISSING, 1, ("A",))],
            "no dimension set fits them. Give the job's targets the label",
        ),
        (
            [Drop(DropReason.DIMENSION_INVALID, 1, ("A",), "the value of pod is blank")],
            "no dimension set fits them: the value of pod is blank. Replace it",
        ),
        ([Drop(DropReason.UNTYPED, 1, ("A",))], "the reasons above"),
        ([BASELINE, UNSELECTED], "Counters are sent as differences"),
    ],
)
def test_nothing_selected(drops: list[Drop], says: str) -> None:
    """When no sample is sent the next step follows from the reasons."""
    summary = Summary()
    summary.scraped(aim(), PAGE, reading(*drops))
    assert steps(summary).startswith(says) or says in steps(summary)
    assert ("--scrapes 2" in steps(summary)) is (BASELINE in drops)


def test_counters_need_two_scrapes() -> None:
    """The advice goes once a target was scraped twice."""
    summary = Summary()
    summary.scraped(aim(), PAGE, reading(BASELINE, selected=5))
    summary.scraped(aim("http://b/"), PAGE, reading(BASELINE, selected=5))
    assert "--scrapes 2" in steps(summary)
    summary.scraped(aim(), PAGE, reading(selected=7))
    assert steps(summary) == ""


def test_a_target_that_comes_back_is_up() -> None:
    """The last scrape decides whether a target is up; a target that is gone is forgotten."""
    summary = Summary()
    summary.discovered([aim()], [])
    summary.scrape_failed(aim(), failed())
    summary.scraped(aim(), PAGE, reading(selected=1))
    assert (summary.up, summary.down) == (1, 0)
    summary.discovered([aim()], [])
    assert summary.up == 1
    summary.discovered([], [])
    assert summary.up == 0


def test_metrics_are_counted_once() -> None:
    """Two scrapes of one page are twice the datapoints and no more metrics."""
    summary = Summary()
    for _ in range(2):
        summary.scraped(aim(), PAGE, reading(selected=2, events=(event("p", "X", "Y"),)))
    assert (summary.events, summary.datapoints, summary.metrics) == (2, 4, 2)


def test_examples_are_few() -> None:
    """Of names, bad lines, targets and reasons the first few are shown, and that there are more."""
    summary = Summary()
    many = tuple(f"NAME_{number}" for number in range(8))
    bad = tuple(BadLine(number, "odd", "text") for number in range(1, 9))
    for node in range(8):
        url = f"http://node-{node}:9400/metrics"
        drops = (Drop(DropReason.UNSELECTED, 9, many), Drop(DropReason.BAD_LINE, 8, ()))
        summary.scraped(aim(url), PAGE, reading(*drops, bad_lines=bad))
    for node in range(7):
        summary.scrape_failed(aim(f"http://down-{node}/"), failed())
    dropped = [DroppedTarget("dcgm", {}, f"rule {number}") for number in range(6)]
    summary.discovered([one.target for one in summary.seen.values()], dropped)
    text = summary.render(100)
    assert "NAME_4, ...\n" in text
    assert "NAME_5" not in text
    assert "line 3:" in text
    assert "line 4:" not in text
    assert "and 3 more pages" in text
    assert "and 2 more down" in text
    assert "and 1 more reasons" in text


def test_what_is_lost_on_the_way_is_said() -> None:
    """Samples that were selected and did not arrive have their reason, too."""
    summary = Summary()
    for _ in range(2):
        summary.outcome(Outcome(STREAM, 1, 1, 1, ((DropReason.TOO_OLD, 1000),)))
    assert "2,000 lost after selection, too_old: older than" in summary.render(200)


def test_secrets_are_masked() -> None:
    """What looks like a secret is shown neither in a failure nor on a bad line."""
    summary = Summary()
    down, spoiled = aim("http://me:hunter2@10.0.0.1/metrics"), aim("http://10.0.0.2/?token=hunter2")
    summary.discovered([down, spoiled], [DroppedTarget("dcgm", {}, "it is Bearer hunter2")])
    summary.scrape_failed(down, failed(FailReason.STATUS, "500 (Authorization: Token hunter2)"))
    bad = BadLine(1, "found Bearer hunter2", "m Bearer hunter2")
    lost = Drop(DropReason.BAD_LINE, 1, ())
    summary.scraped(spoiled, PAGE, reading(lost, bad_lines=(bad,)))
    written = summary.render()
    assert written.count("***") == 6
    assert "hunter2" not in written


def test_foreign_text_does_nothing_to_the_terminal() -> None:
    """Escape sequences in URLs, faults and lines are shown, not sent; passwords are not shown."""
    summary = Summary()
    url = "http://me:hunter2@host/\x1b[2J?token=hunter2"
    bad = BadLine(1, "found \x1b[31m", "A\x07\x1b]0;title\x07" + "b" * 200)
    drop = Drop(DropReason.BAD_LINE, 1, ())
    summary.scraped(aim(url), PAGE, reading(drop, bad_lines=(bad,)))
    summary.scrape_failed(aim("http://x/\x1b[2J"), failed(detail="\x1b[2J"))
    text = summary.render(80)
    assert text.replace("\n", "").isprintable()
    assert "hunter2" not in text
    assert "A\\x07\\x1b]0;title" in text


@pytest.mark.parametrize(
    ("size", "says"), [(999, "999 bytes"), (1000, "1.0 kB"), (1_234_567, "1.2 MB")]
)
def test_sizes(size: int, says: str) -> None:
    """Sizes are in the units that CloudWatch bills by."""
    summary = Summary()
    message = event("p", "X").message
    padded = message + b" " * (size - len(message))
    padded_event = EmfEvent.of(STREAM, 1, padded, 1, 1)
    summary.scraped(aim(), PAGE, reading(selected=1, events=(padded_event,)))
    assert f"of 1 CloudWatch metric, {says}\n" in summary.render(80) + "\n"


def test_every_reason_has_words() -> None:
    """No drop reason is left unexplained."""
    assert set(report.MEANINGS) == set(DropReason)


@given(
    width=st.integers(0, 200),
    names=st.lists(st.text(max_size=60), max_size=6),
    fault=st.text(max_size=300),
)
@settings(max_examples=100, deadline=None)
def test_no_line_is_too_long(width: int, names: list[str], fault: str) -> None:
    """Whatever is in the pages, lines keep to the width, which is 40 at least."""
    summary = Summary()
    drops = (Drop(DropReason.UNSELECTED, 9, tuple(names)), Drop(DropReason.BAD_LINE, 1, ()))
    bad = (BadLine(1, fault, fault),)
    summary.scraped(aim(f"http://{fault}/"), PAGE, reading(*drops, bad_lines=bad))
    summary.scrape_failed(aim("http://b/"), failed(detail=fault))
    lines = summary.render(width).split("\n")
    assert max(map(len, lines)) <= max(width, 40)
    assert [escape.line(line) for line in lines] == lines
    assert len(summary.live_line(width)) <= max(width, 3)
