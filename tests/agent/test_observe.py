"""What happens becomes journal lines, counters and the summary, and nothing is left out."""

import pytest

from cwgpu.model.drop import DropReason
from cwgpu.model.event import Outcome
from cwgpu.model.reading import BadLine, Drop, Reading
from cwgpu.model.scrape import FailReason, Scrape, ScrapeFailed
from cwgpu.model.target import DroppedTarget, Target
from cwgpu.telemetry.metrics import Metrics
from tests.agent import stage
from tests.agent.stage import A, Witness

TARGET = Target("dcgm", "http://10.0.0.1:9400/metrics", {}, 60.0, 10.0)
DROPPED = DroppedTarget("dcgm", {}, "rule 1 (drop)")


@pytest.fixture
def witness(caplog: pytest.LogCaptureFixture) -> Witness:
    """Give an observer that is watched."""
    return Witness(caplog)


def test_only_changes_of_the_targets_are_told(witness: Witness) -> None:
    """Every look is counted; the journal hears of the first, and of others than before."""
    for _ in range(3):
        witness.observer.discovered([TARGET], [DROPPED])
    assert witness.said("targets_changed") == [{"found": 1, "dropped": 1}]
    assert witness.levels("targets_changed") == {"INFO"}
    assert witness.value("cwgpu_targets", job="dcgm", state="unscraped") == 1
    assert witness.value("cwgpu_targets", job="dcgm", state="dropped") == 1


def test_no_target_at_all_is_a_warning(witness: Witness) -> None:
    """It names what dropped the first one, if anything did; and is said once, not at every look."""
    for dropped in ([], [], [DROPPED], [DROPPED]):
        witness.observer.discovered([], dropped)
    assert witness.said("targets_changed") == [
        {"found": 0, "dropped": 0},
        {"found": 0, "dropped": 1, "reason": "rule 1 (drop)"},
    ]
    assert witness.levels("targets_changed") == {"WARNING"}


def test_a_page_with_bad_lines(witness: Witness) -> None:
    """Each of the first few is named with its line."""
    reading = Reading(
        (), 3, 2, (Drop(DropReason.BAD_LINE, 1, ()),), (BadLine(7, "no value", "util{"),)
    )
    witness.observer.discovered([TARGET], [])
    witness.observer.scraped(TARGET, Scrape(stage.START_MS, b"page", "", 0.1), reading)
    assert witness.said("bad_line") == [{"target": TARGET.url, "line": 7, "reason": "no value"}]
    assert witness.lost("bad_line") == 1
    assert witness.value("cwgpu_samples_read_total", job="dcgm") == 3
    assert witness.summary.samples == 3


def test_samples_that_cloudwatch_would_refuse(witness: Witness) -> None:
    """Target, metrics and rule are named, for each reason when it becomes so; NaN is no fault."""
    rule = "the value of pod holds a character outside ASCII"
    unfit = Drop(DropReason.DIMENSION_INVALID, 2, ("util", "power"), rule)
    large = Drop(DropReason.OUT_OF_RANGE, 1, ("power",))
    usual = Drop(DropReason.NOT_FINITE, 1, ("temp",))
    witness.observer.discovered([TARGET], [])
    for drops in ((unfit, usual), (unfit,), (unfit, large), (), (large,)):
        lost = sum(drop.count for drop in drops)
        scrape = Scrape(stage.START_MS, b"page", "", 0.1)
        witness.observer.scraped(TARGET, scrape, Reading((), lost, 0, drops, ()))
    first, second, third = witness.said("samples_unfit")
    assert first == {
        "target": TARGET.url,
        "job": "dcgm",
        "reason": "dimension_invalid",
        "count": 2,
        "metrics": ("util", "power"),
        "detail": rule,
    }
    assert second == third
    assert (second["reason"], second["metrics"]) == ("out_of_range", ("power",))
    assert second["detail"] == "beyond what CloudWatch stores (2^360)"
    witness.observer.discovered([], [])
    witness.observer.discovered([TARGET], [])
    witness.observer.scraped(TARGET, scrape, Reading((), 1, 0, (large,), ()))
    assert len(witness.said("samples_unfit")) == 4


def test_dimension_sets_that_cloudwatch_would_refuse(witness: Witness) -> None:
    """They are told of like samples, and once where there are both."""
    partly = Drop(DropReason.DIMENSION_INVALID, 1, ("util",), "[pod]: the value of pod is blank")
    whole = Drop(DropReason.DIMENSION_INVALID, 1, ("power",), "the value of gpu is blank")
    witness.observer.discovered([TARGET], [])
    for dropped in ((), (whole,)):
        scrape = Scrape(stage.START_MS, b"page", "", 0.1)
        reading = Reading((), 2, 2 - len(dropped), dropped, (), partly=(partly,))
        witness.observer.scraped(TARGET, scrape, reading)
    (said,) = witness.said("samples_unfit")
    assert said["detail"] == "[pod]: the value of pod is blank"


def test_a_failed_scrape(witness: Witness) -> None:
    """The reason is a word that can be alerted on, the detail is for a person."""
    failed = ScrapeFailed(stage.START_MS, FailReason.TIMEOUT, "no answer within 10 s", 10.0)
    witness.observer.discovered([TARGET], [])
    witness.observer.scrape_failed(TARGET, failed)
    assert witness.said("scrape_failed") == [
        {
            "target": TARGET.url,
            "job": "dcgm",
            "reason": "timeout",
            "detail": "no answer within 10 s",
        }
    ]
    assert witness.value("cwgpu_scrapes_total", job="dcgm", result="timeout") == 1
    assert witness.summary.down == 1


def test_what_became_of_a_batch(witness: Witness) -> None:
    """Delivered is counted; lost is counted and told."""
    lost = ((DropReason.TOO_OLD, 2),)
    witness.observer.outcome(Outcome(A, 1, 1, 2, lost, "2 of 3 events too old"), 3)
    assert witness.said("samples_lost") == [
        {"stream": "a", "reason": "too_old", "count": 2, "detail": "2 of 3 events too old"}
    ]
    assert witness.value("cwgpu_delivered_bytes_total") == 3
    assert witness.lost("too_old") == 2
    assert witness.summary.lost_later == {DropReason.TOO_OLD: 2}


def test_an_agent_that_stays_keeps_no_summary(caplog: pytest.LogCaptureFixture) -> None:
    """Everything else is told as well; that delivery works, once."""
    witness = Witness(caplog)
    observer = type(witness.observer)(Metrics(lambda: stage.START_S))
    observer.discovered([TARGET], [])
    observer.scraped(TARGET, Scrape(stage.START_MS, b"", "", 0.1), Reading((), 0, 0, (), ()))
    observer.scrape_failed(TARGET, ScrapeFailed(stage.START_MS, FailReason.DNS, "", 0.1))
    observer.outcome(Outcome(A, 0, 0, 0, ((DropReason.TOO_OLD, 1),)), 1)
    assert not witness.said("delivery_began")
    observer.outcome(Outcome(A, 1, 1, 2), 1)
    observer.outcome(Outcome(A, 1, 1, 2), 1)
    assert witness.said("delivery_began") == [{"group": A.group, "stream": A.stream}]
    assert observer.summary is None
    assert len(witness.said("scrape_failed")) == 1


def test_where_it_listens_is_told(witness: Witness) -> None:
    """As an address that can be put into a URL."""
    witness.observer.listening([("127.0.0.1", 9464), ("::", 9464)])
    assert witness.said("listening") == [{"address": "127.0.0.1:9464"}, {"address": "[::]:9464"}]
