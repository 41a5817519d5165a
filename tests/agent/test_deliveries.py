"""What happens to batches becomes journal lines and counters."""

import pytest

from cwgpu.model.event import Outcome
from tests.agent import stage
from tests.agent.stage import A, Witness

NO_SPOOL = (
    "there is no spool that keeps them for the next start: write its directory as cwgpu.spool.dir; "
    "cwgpu.spool.mode must not be off"
)


@pytest.fixture
def witness(caplog: pytest.LogCaptureFixture) -> Witness:
    """Give an observer that is watched."""
    return Witness(caplog)


def test_how_long_a_batch_was_on_its_way(witness: Witness) -> None:
    """The age of what was taken is observed once for the batch."""
    witness.observer.outcome(Outcome(A, 1, 1, 2), 10, 2.5)
    assert witness.value("cwgpu_delivery_latency_seconds_sum") == 2.5
    witness.observer.outcome(Outcome(A, 0, 0, 0), 10)
    assert witness.value("cwgpu_delivery_latency_seconds_count") == 1


def test_what_waits(witness: Witness) -> None:
    """It is a number, and no line."""
    witness.observer.held(
        memory_batches=1, memory_bytes=10, spool_batches=2, spool_bytes=20, oldest_age_s=3.0
    )
    assert witness.value("cwgpu_queue_batches") == 3
    assert witness.value("cwgpu_queue_oldest_age_seconds") == 3


@pytest.mark.parametrize(
    ("skews", "told"),
    [
        ([None, 0.0, 60.0, -60.0], []),
        ([61.0, 90.0, 121.0], [61.0]),
        ([61.0, 121.5, 122.0], [61.0, 121.5]),
        ([-1200.0, -1200.0, None, -1130.0], [-1200.0, -1130.0]),
        ([600.0, -600.0], [600.0, -600.0]),
        ([61.0, 59.0, 31.0, 62.0], [61.0]),
        ([61.0, 30.0, 61.0], [61.0, "agrees", 61.0]),
        ([61.0, None, 0.0, 0.0], [61.0, "agrees"]),
    ],
    ids=str,
)
def test_a_wrong_clock_is_told_when_that_changes(
    witness: Witness, skews: list[float | None], told: list[float | str]
) -> None:
    """Once when it is more than a minute off, again at each other minute, and when it is right."""
    heard: list[object] = []
    for skew_s in skews:
        before = len(witness.said("clock_skewed")), len(witness.said("clock_agrees"))
        witness.observer.answered(skew_s, None)
        heard += [said["skew_s"] for said in witness.said("clock_skewed")[before[0] :]]
        heard += ["agrees" for _ in witness.said("clock_agrees")[before[1] :]]
    assert heard == told


@pytest.mark.parametrize(
    ("skew_s", "reason"),
    [
        (1200.4, "this clock is 1,200 s ahead of CloudWatch's"),
        (-61.0, "this clock is 61 s behind CloudWatch's"),
    ],
)
def test_a_wrong_clock_is_told_with_its_way(witness: Witness, skew_s: float, reason: str) -> None:
    """By how much, and whether it is ahead or behind."""
    witness.observer.answered(skew_s, stage.START_S)
    assert witness.said("clock_skewed") == [{"skew_s": skew_s, "reason": reason}]
    assert witness.levels("clock_skewed") == {"ERROR"}
    assert witness.value("cwgpu_clock_skew_seconds") == skew_s
    assert witness.value("cwgpu_credentials_expiry_timestamp_seconds") == stage.START_S


def test_a_spool_that_is_opened(witness: Witness) -> None:
    """What an earlier run left there is said."""
    witness.observer.spool_opened("/var/spool/cwgpu", 2, 30, 8192)
    assert witness.said("spool_opened") == [
        {"directory": "/var/spool/cwgpu", "batches": 2, "events": 30, "size_bytes": 8192}
    ]
    assert witness.levels("spool_opened") == {"INFO"}


def test_a_spool_that_cannot_be_written(witness: Witness) -> None:
    """Each failure is counted; that it works is told only where it did not."""
    witness.observer.spool_opened("/var/spool/cwgpu", 0, 0, 0)
    witness.observer.spool_recovered()
    assert not witness.said("spool_recovered")
    witness.observer.spool_failed("No space left on device")
    witness.observer.spool_failed("No space left on device")
    witness.observer.spool_recovered()
    witness.observer.spool_recovered()
    assert witness.said("spool_failed")[0] == {
        "directory": "/var/spool/cwgpu",
        "reason": "No space left on device",
    }
    assert witness.levels("spool_failed") == {"ERROR"}
    assert witness.said("spool_recovered") == [{"directory": "/var/spool/cwgpu"}]
    assert witness.value("cwgpu_spool_failures_total") == 2


@pytest.mark.parametrize("samples", [None, 7])
def test_a_file_that_is_set_aside(witness: Witness, samples: int | None) -> None:
    """It is named with the reason, and with its samples where they are known."""
    witness.observer.quarantined("quarantine/1.batch", "torn", samples)
    known = {} if samples is None else {"samples": samples}
    assert witness.said("quarantined") == [
        {"file": "quarantine/1.batch", **known, "reason": "torn"}
    ]
    assert witness.levels("quarantined") == {"ERROR"}
    assert witness.value("cwgpu_spool_quarantined_files_total") == 1


@pytest.mark.parametrize(
    ("lost", "directory", "level", "more"),
    [
        (0, "/spool", "INFO", {"directory": "/spool"}),
        (0, "", "INFO", {}),
        (5, "", "ERROR", {"reason": NO_SPOOL}),
        (
            5,
            "/spool",
            "ERROR",
            {"directory": "/spool", "reason": "the spool could not take them"},
        ),
    ],
)
def test_the_end(
    witness: Witness, lost: int, directory: str, level: str, more: dict[str, str]
) -> None:
    """What is kept for the next start and what is lost are said, and why."""
    witness.observer.ended(2, 30, lost, directory)
    assert witness.said("ended") == [
        {"spooled_batches": 2, "spooled_samples": 30, "lost_samples": lost, **more}
    ]
    assert witness.levels("ended") == {level}
