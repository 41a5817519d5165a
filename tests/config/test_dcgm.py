"""What is done about DCGM's metrics."""

import json
from pathlib import Path
from typing import Any

import pytest

from cwgpu.config import review
from cwgpu.config.complaint import Complaint, Level
from cwgpu.plan.plan import Dcgm, Idle, Prefer
from tests.config.inline import examined
from tests.reports.files import agent


def dcgm(written: Any) -> Dcgm:  # noqa: ANN401 - JSON
    """Give the plan's part, of which nothing may be said."""
    found = examined({"role": "pod"}, dcgm=written)
    assert found.complaints == ()
    assert found.plan is not None
    return found.plan.dcgm


def said(written: Any) -> Complaint:  # noqa: ANN401 - JSON
    """Give the only thing that is said about it."""
    (one,) = examined({"role": "pod"}, dcgm=written).complaints
    return one


def test_a_switch_is_for_what_is_on_by_default() -> None:
    """True and false do not ask for units, bounds and gauges, which change what is sent."""
    assert dcgm({}) == dcgm(written=True) == Dcgm()
    assert dcgm(written=False) == Dcgm(labels=False, blanks=False, aliases=False, rates=False)


def test_the_rest_is_asked_for() -> None:
    """Each key has its place in the plan; an empty idle takes the defaults."""
    assert dcgm({"units": True, "bounds": True}) == Dcgm(units=True, bounds=True)
    assert dcgm({"idle": {}}) == Dcgm(idle=Idle(5.0, 900.0))
    written = {"below": 10, "for": "1h"}
    assert dcgm({"idle": written}) == Dcgm(idle=Idle(10.0, 3600.0))


@pytest.mark.parametrize(
    ("idle", "words"),
    [
        ({"for": "59s"}, "for 59s is not between 1m and 24h"),
        ({"for": "2d"}, "for 2d is not between 1m and 24h"),
        ({"below": 0}, "wanted 1 or more, found the number '0'"),
        ({"below": 101}, "wanted 100 or less, found the number '101'"),
        ({"below": "5%"}, "wanted a whole number, found the string '5%'"),
        (True, "wanted an object with the keys below, for, found the bool 'true'"),
    ],
)
def test_a_window_has_its_bounds(idle: object, words: str) -> None:
    """A window that is no use, or no share of a hundred, is refused with what is allowed."""
    assert said({"idle": idle}).message == words


def test_when_an_exporter_is_frozen() -> None:
    """Two scrapes can be equal, one always is; nobody looks unless told."""
    assert dcgm({"frozen_after": 20}) == Dcgm(frozen_after=20)
    assert said({"frozen_after": 1}).message == "wanted 2 or more, found the number '1'"


def test_who_is_preferred() -> None:
    """Jobs by their names, or targets by another label, whose values nobody knows here."""
    assert dcgm({"prefer": ["gpu"]}) == Dcgm(prefer=Prefer(("gpu",)))
    written = {"prefer": ["nvidia-dcgm-exporter"], "prefer_by": "Service"}
    assert dcgm(written) == Dcgm(prefer=Prefer(("nvidia-dcgm-exporter",), by="Service"))


@pytest.mark.parametrize(
    ("prefer", "advice"),
    [(["gpu", "gpus"], "write 'gpu'"), (["dcgm"], "the jobs are gpu")],
)
def test_a_job_that_is_not_there_is_preferred_to_none(prefer: list[str], advice: str) -> None:
    """It is a warning at its place, with the name that was meant or those that there are."""
    one = said({"prefer": prefer})
    assert (one.level, one.code) == (Level.WARNING, "preferred-unknown")
    assert one.message == f"no job is called {prefer[-1]!r}"
    assert one.path == f"cwgpu.dcgm.prefer[{len(prefer) - 1}]"
    assert one.help == advice


def test_jobs_that_are_not_here_are_not_missed(tmp_path: Path) -> None:
    """Where the jobs are elsewhere, nobody knows their names."""
    file = tmp_path / "agent.json"
    file.write_text(json.dumps(agent(own={"dcgm": {"prefer": ["gpu"]}})))
    assert [each.code for each in review.review([file], {})] == ["jobs-not-here"]
