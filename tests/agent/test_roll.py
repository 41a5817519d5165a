"""All targets in one document: what the rules, shards and scrapes make of each."""

import json
from dataclasses import replace
from typing import Any

from cwgpu.agent.roll import Roll, Visit
from cwgpu.agent.survey import Sight
from cwgpu.model.scrape import FailReason, ScrapeFailed
from cwgpu.model.target import Target, TargetGroup
from cwgpu.plan.kubernetes import Shard
from cwgpu.plan.plan import Job
from cwgpu.prom import relabel, targeting

Json = dict[str, Any]

JOB = Job(
    "gpu",
    15.0,
    10.0,
    relabel=(relabel.rule(source_labels=["app"], regex="dcgm.*", action="keep"),),
)


def group(source: str, *apps: str) -> TargetGroup:
    """Make a target for each app."""
    targets = ({"__address__": f"10.0.0.{i}:9400", "app": app} for i, app in enumerate(apps))
    return TargetGroup(source, tuple(targets), {})


def only(roll: Roll, *groups: TargetGroup, job: Job = JOB, **more: Any) -> Json:  # noqa: ANN401 - fields of Sight
    """Give the only job of a document, which has to be JSON."""
    (made,) = json.loads(json.dumps(roll.document([Sight(job, groups, **more)])))["jobs"]
    assert isinstance(made, dict)
    return made


def test_counts_add_up() -> None:
    """Each target is active, dropped or rejected, whether it is told of or not."""
    bad = TargetGroup("c", ({"__address__": "", "app": "dcgm"},), {})
    told = only(Roll(), group("b", "dcgm", "web"), group("a", "shop", "dcgm-x"), bad)
    assert [told[name] for name in ("found", "active", "dropped", "rejected")] == [5, 2, 2, 1]
    assert [each["source"] for each in told["targets"]] == ["a", "b"]
    assert [each["count"] for each in told["groups"]] == [2, 1]
    assert all("targets" not in each for each in told["groups"])


def test_an_active_target() -> None:
    """With what its samples get, and how often it is scraped."""
    told = only(Roll(), group("a", "dcgm"))
    assert told["targets"] == [
        {
            "source": "a",
            "url": "http://10.0.0.0:9400/metrics",
            "labels": {"instance": "10.0.0.0:9400", "job": "gpu", "app": "dcgm"},
            "interval": "15s",
            "timeout": "10s",
            "health": None,
        }
    ]


def test_each_that_is_not_scraped_is_told_of_when_asked() -> None:
    """With all that the rules saw."""
    told = only(Roll(every=True), group("a", "web", "dcgm"))
    (lot,) = told["groups"]
    (one,) = lot["targets"]
    assert (one["source"], one["value"]) == ("a", "web")
    assert one["discovered"]["app"] == "web"
    assert one["discovered"]["__scrape_interval__"] == "15s"


def test_rules_have_places_where_they_are_known() -> None:
    """A running agent does not know them."""
    known, unknown = Roll(places={"gpu": ("p.yml:7",)}), Roll(places={"other": ("p.yml:9",)})
    places = [only(roll, group("a", "web"))["groups"][0]["dropped_by"] for roll in (known, unknown)]
    assert [each["place"] for each in places] == ["p.yml:7", None]
    assert places[0] | {"place": None} == {
        "index": 0,
        "place": None,
        "action": "keep",
        "source_labels": ["app"],
        "target_label": "",
        "regex": "dcgm.*",
    }


def test_of_equal_targets_one_is_scraped() -> None:
    """As the agent does; the other is told of."""
    told = only(Roll(), group("a", "dcgm"), group("b", "dcgm"))
    assert [each["source"] for each in told["targets"]] == ["a"]
    (lot,) = told["groups"]
    assert lot["reason"].startswith("another target has the same URL and labels")
    assert (lot["outcome"], lot["dropped_by"], lot["values"]) == ("dropped", None, [])


def test_shards_have_all_targets_between_them() -> None:
    """Each once; the others know whose it is."""
    found = group("a", *["dcgm"] * 20)
    parts = [only(Roll(Shard(3, index)), found) for index in range(3)]
    urls = [each["url"] for part in parts for each in part["targets"]]
    assert len(urls) == len(set(urls)) == 20
    reasons = {lot["reason"] for lot in parts[0]["groups"]}
    assert reasons == {
        f"another shard's: it is of shard {owner} of 3, and this is 0" for owner in (1, 2)
    }


def test_too_many_targets_are_noted() -> None:
    """They are active, and none of them is scraped."""
    told = only(Roll(), group("a", "dcgm", "dcgm"), job=replace(JOB, target_limit=1))
    assert told["active"] == 2
    (note,) = told["notes"]
    assert "target_limit is 1, so none of them is scraped" in note


def test_health_is_that_of_the_last_scrape() -> None:
    """Of targets that were scraped."""
    found = group("a", "dcgm-a", "dcgm-b", "dcgm-c")
    fine, bad, _ = (each for each in targeting.targets(JOB, found) if isinstance(each, Target))
    failed = ScrapeFailed(7, FailReason.TIMEOUT, "no answer in 10 s", 10.0)
    visits = {fine.identity: Visit(5, 0.25), bad.identity: Visit(7, 10.0, failed)}
    told = only(Roll(visits=visits), found)
    assert [each["health"] for each in told["targets"]] == [
        {"up": True, "at_ms": 5, "duration_s": 0.25, "reason": None, "detail": None},
        {
            "up": False,
            "at_ms": 7,
            "duration_s": 10.0,
            "reason": "timeout",
            "detail": "no answer in 10 s",
        },
        None,
    ]


def test_what_is_not_known_is_told() -> None:
    """Faults, notes and sources that have not answered, as they are."""
    told = only(
        Roll(), faults=("no answer",), notes=("no cluster",), denied=True, silent=("file[0]",)
    )
    said = {name: told[name] for name in ("faults", "notes", "denied", "silent", "found")}
    assert said == {
        "faults": ["no answer"],
        "notes": ["no cluster"],
        "denied": True,
        "silent": ["file[0]"],
        "found": 0,
    }
