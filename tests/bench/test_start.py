"""The start is measured on the real program, and judged by its best run."""

import pytest

from tests.bench.start import __main__ as start


@pytest.mark.parametrize(
    ("most", "met", "said"),
    [(None, True, ""), (3, True, "met: at most 3"), (1.5, False, "MISSED: at most 1.5")],
)
def test_the_best_run_counts(most: float | None, met: bool, said: str) -> None:  # noqa: FBT001 - a case
    """A bar is met if one run is within it; all runs are told."""
    figure = start.Figure("start", "s", [4, 2, 9], most)
    assert figure.met is met
    assert figure.row().split("median 4")[1].strip() == said
    assert figure.told() == {
        "name": "start",
        "unit": "s",
        "runs": [4, 2, 9],
        "most": most,
        "best": 2,
        "met": met,
    }


def test_an_agent_is_started_and_delivers() -> None:
    """What is measured is a process that sends events of all that it scrapes."""
    with start.agent(1) as (pid, began_s, accepted):
        asleep = start.wakeups(pid)
        assert accepted() > began_s
        assert start.wakeups(pid) > asleep
