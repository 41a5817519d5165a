"""How samples are packed into log events."""

from typing import Any

import pytest

from cwgpu.config.complaint import Complaint
from cwgpu.plan.plan import Events, GroupBy
from tests.config.inline import examined


def events(written: Any) -> Events:  # noqa: ANN401 - JSON
    """Give the plan's part, of which nothing may be said."""
    found = examined({"role": "pod"}, events=written)
    assert found.complaints == ()
    assert found.plan is not None
    return found.plan.emf.events


def said(written: Any) -> Complaint:  # noqa: ANN401 - JSON
    """Give the only thing that is said about it."""
    (one,) = examined({"role": "pod"}, events=written).complaints
    return one


def test_without_it_events_are_those_of_the_agent() -> None:
    """One for each scrape and label set, with all labels and decimals."""
    assert events({}) == Events(GroupBy.LABELS, None, "all", None)
    assert events({"group_by": "labels", "emit": "scrape", "labels": "all"}) == events({})


def test_each_key_has_its_place() -> None:
    """A list of labels is one, also an empty one."""
    written = {"group_by": "dimensions", "emit": "60s", "labels": "dimensions", "precision": 3}
    assert events(written) == Events(GroupBy.DIMENSIONS, 60.0, "dimensions", 3)
    assert events({"emit": "1h", "labels": ["gpu", "Hostname"], "precision": 0}) == Events(
        window_s=3600.0, labels=("gpu", "Hostname"), decimals=0
    )
    assert events({"labels": []}).labels == ()


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ({"emit": "30s"}, "emit 30s is no whole number of minutes from 1m to 1h"),
        ({"emit": "90s"}, "emit 1m30s is no whole number of minutes from 1m to 1h"),
        ({"emit": "61m"}, "emit 1h1m is no whole number of minutes from 1m to 1h"),
        ({"emit": "0s"}, "emit 0s is no whole number of minutes from 1m to 1h"),
        ({"emit": "minute"}, "found the string 'minute'"),
        ({"emit": 60}, "wanted a string, found the number '60'"),
        ({"labels": "Hostname"}, "a list of label names, found the string 'Hostname'"),
        ({"labels": {}}, "wanted a string, found an object"),
        ({"labels": [1]}, "wanted a string, found the number '1'"),
        ({"precision": 10}, "wanted 9 or less, found the number '10'"),
        ({"precision": -1}, "wanted 0 or more, found the number '-1'"),
        ({"group_by": "pod"}, "found the string 'pod'"),
    ],
)
def test_what_is_none_of_its_values_is_refused(written: object, words: str) -> None:
    """With what may be written."""
    assert words in said(written).message
