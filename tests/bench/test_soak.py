"""The soak, run for seconds to see that it still works, and its judgement."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.bench.soak import figures, page
from tests.bench.soak.figures import MIB, Account, Moment, Record
from tests.bench.soak.page import Node
from tests.bench.soak.play import PACES, RELOADS, play, times
from tests.bench.soak.shape import Shape
from tests.bench.soak.stage import Stage

SMALL = Shape(
    targets=28,
    slow=2,
    dead=2,
    interval_s=0.2,
    timeout_s=0.15,
    minute_s=0.5,
    refusals=1,
    flush_s=1,
    look_s=0.4,
)
MINUTES = 3.5
"""All happens once at least but a configuration with a fault, which comes last."""
RIGHT = Account(
    read=100,
    delivered=90,
    dropped={"counter_baseline": 10},
    delivered_events=9,
    taken_events=9,
    delivered_datapoints=180,
    taken_datapoints=180,
    emf_errors=0,
    bugs=0,
    lost_at_the_end=0,
    exit_code=0,
)


def test_a_small_soak_loses_nothing(tmp_path: Path) -> None:
    """Whatever comes, goes, is slow or refuses: all that was read is delivered or counted."""
    record = play(SMALL, MINUTES * SMALL.minute_s, tmp_path, seed=1)
    assert record.faults() == []
    assert not record.judged
    assert record.done.keys() == {
        "targets replaced",
        "exporters restarted",
        "SIGHUP",
        "configuration changed",
        "CloudWatch away",
    }
    assert record.scrapes["ok"] <= record.answers["well"]
    assert record.scrapes["timeout_in_body"] > 0
    assert record.retried["throttled"] == 1
    assert record.reloads["success"] > 1
    assert figures.document(record)["passes"]
    assert "Too short" in figures.table(record)


def test_all_happens_in_its_order() -> None:
    """In ten minutes each thing comes at its pace, and a look every ten seconds.

    Nothing is read anew in the last third.
    """
    seen = list(times(Shape(), 600.0))
    assert [at_s for at_s, _ in seen] == sorted(at_s for at_s, _ in seen)
    acts = [act for _, act in seen]
    assert acts.count(None) == 60
    assert {act for act in acts if act is not None} == {act for _, _, act in PACES}
    assert acts.count(Stage.turn_targets) == 30
    assert (acts.count(Stage.stop_one), acts.count(Stage.start_again)) == (40, 39)
    assert max(at_s for at_s, act in seen if act in RELOADS) == 360


def test_a_tenth_of_all_series_has_another_name_after_a_minute() -> None:
    """Pods live for ten minutes and each goes at a moment of its own; a page has 100 samples."""
    nodes = [Node(f"node-{number}", 600.0, 0.0) for number in range(60)]
    before, after = ({_head(line) for each in nodes for line in _lines(each, at)} for at in (0, 60))
    assert len(before) == len(nodes) * page.SAMPLES
    assert len(after - before) == pytest.approx(len(before) / 10, rel=0.3)


def test_every_value_moves_and_counters_begin_anew() -> None:
    """Counters grow with the time since the restart."""
    former, fresh = Node("node-1", 600.0, 0.0), Node("node-1", 600.0, 595.0)
    one, other, restarted = (
        {_head(line): float(line.rpartition(" ")[2]) for line in _lines(node, at)}
        for node, at in ((former, 598), (former, 599), (fresh, 599))
    )
    assert [head for head in one if one[head] == other[head]] == []
    assert any(restarted[head] < one[head] for head in one)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"delivered": 89}, "samples read"),
        ({"taken_events": 8}, "events"),
        ({"taken_datapoints": 181}, "datapoints"),
        ({"emf_errors": 1}, "EMF"),
        ({"bugs": 1}, "bugs"),
        ({"lost_at_the_end": -1}, "samples lost"),
        ({"exit_code": 1}, "exit code"),
        ({"read": 10, "delivered": 0}, "nothing"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_an_account_that_is_wrong_is_said_to_be(wrong: dict[str, int], said: str) -> None:
    """One figure is another one, and one bar is missed."""
    assert RIGHT.faults() == []
    (fault,) = replace(RIGHT, **wrong).faults()  # type: ignore[arg-type]
    assert fault.startswith(said)


@pytest.mark.parametrize(
    ("grows", "said"),
    [
        ({}, []),
        ({"rss_bytes": 0.9 * MIB / 60}, []),
        (
            {"rss_bytes": 1.1 * MIB / 60},
            [
                "memory grows by 1.10 MiB in 10 minutes",
                "without reloads memory grows by 1.10 MiB in 10 minutes",
            ],
        ),
        ({"fds": 0.1}, ["open files went from 7.5 to 16"]),
        ({"threads": 0.1}, ["threads went from 7.5 to 16"]),
    ],
    ids=["flat", "a little", "memory", "fds", "threads"],
)
def test_what_grows_after_the_warm_up_is_found(grows: dict[str, float], said: list[str]) -> None:
    """By a line through what was seen, or by the first and the last third."""
    assert _record(180, grows).faults() == said
    assert _record(30, grows).faults() == []


def test_growth_in_the_warm_up_is_none() -> None:
    """Neither memory nor open files are judged by what they were at the start."""
    record = _record(180, {})
    early = [replace(each, rss_bytes=each.rss_bytes // 2, fds=1) for each in record.moments[:50]]
    assert replace(record, moments=(*early, *record.moments[50:])).faults() == []


def test_pages_that_forget_nothing_are_found() -> None:
    """A reload begins them anew; so growth that it ends is growth."""
    record = _record(180, {})
    late = [
        replace(each, rss_bytes=each.rss_bytes + int(MIB / 60 * 1.5 * number))
        for number, each in enumerate(record.moments[120:])
    ]
    (fault,) = replace(record, moments=(*record.moments[:120], *late)).faults()
    assert fault == "without reloads memory grows by 1.50 MiB in 10 minutes"


def _record(looks: int, grows: dict[str, float]) -> Record:
    """Give a soak with a look every ten seconds, in which these figures grow at each."""
    moments = [
        Moment(
            at_s=10.0 * number,
            rss_bytes=(100 << 20) + int(grows.get("rss_bytes", 0) * number),
            pss_bytes=90 << 20,
            fds=int(grows.get("fds", 0) * number),
            threads=int(grows.get("threads", 0) * number),
            cpu_s=0.1 * number,
            targets={"up": 60},
            queue_batches=0,
            queue_bytes=0,
        )
        for number in range(1, looks + 1)
    ]
    return Record(
        shape=Shape(),
        duration_s=10.0 * looks,
        moments=moments,
        account=RIGHT,
        cpu_s=1.0,
        done={},
        answers={},
        scrapes={},
        reloads={},
        retried={},
        cloudwatch={},
    )


def _lines(node: Node, now_s: float) -> list[str]:
    return [line for line in node.page(now_s).decode().splitlines() if line[0] != "#"]


def _head(line: str) -> str:
    return line.rpartition(" ")[0]
