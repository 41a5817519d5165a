"""The life-cycle of a target, held against the answers of Prometheus 3.0.1 (data/relabel.jsonl)."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from cwgpu.model.target import DroppedTarget, Target, TargetGroup
from cwgpu.prom import duration, relabel, targeting
from cwgpu.prom.rule import Rule

_DATA = Path(__file__).parents[1] / "data" / "relabel.jsonl"
_ROWS: list[dict[str, Any]] = [json.loads(line) for line in _DATA.read_text("utf-8").splitlines()]


@dataclass(frozen=True)
class _Job:
    """A scrape configuration, with the defaults that the recorded answers were made with."""

    name: str = "j"
    interval_s: float = 3600.0
    timeout_s: float = 10.0
    metrics_path: str = "/metrics"
    scheme: str = "http"
    params: Mapping[str, Sequence[str]] = field(default_factory=dict)
    relabel: Sequence[Rule] = ()


def _job(row: dict[str, Any]) -> _Job:
    given = row["job"]
    interval_ms = duration.parse(given.get("scrape_interval", "1h"))
    timeout_ms = min(duration.parse(given.get("scrape_timeout", "10s")), interval_ms)
    return _Job(
        name=row["id"],
        interval_s=interval_ms / 1000,
        timeout_s=timeout_ms / 1000,
        metrics_path=given.get("metrics_path", "/metrics"),
        scheme=given.get("scheme", "http"),
        params=given.get("params", {}),
        relabel=[_rule(config) for config in row["relabel_configs"]],
    )


def _rule(config: dict[str, Any]) -> relabel.Rule:
    texts = {
        key: "" if value is None else value if isinstance(value, str) else json.dumps(value)
        for key, value in config.items()
        if key not in {"source_labels", "modulus"}
    }
    return relabel.rule(
        source_labels=config.get("source_labels"), modulus=config.get("modulus", 0), **texts
    )


def _only(
    job: _Job, labels: Mapping[str, str], group: Mapping[str, str] | None = None
) -> Target | DroppedTarget:
    [target] = targeting.targets(job, TargetGroup("source", (labels,), group or {}))
    return target


@pytest.mark.parametrize("row", _ROWS, ids=lambda row: row["id"])
def test_targets_are_those_of_prometheus(row: dict[str, Any]) -> None:
    """Outcome, public labels, URL, interval and timeout equal what Prometheus made of it."""
    job = _job(row)
    target = _only(job, {"__address__": row["address"], **row["sd_labels"]})
    if row["outcome"] == "active":
        assert target == Target(
            job=row["id"],
            url=row["scrape_url"],
            labels=row["expected"],
            interval_s=duration.parse(row["scrape_interval"]) / 1000,
            timeout_s=duration.parse(row["scrape_timeout"]) / 1000,
        )
    else:
        assert isinstance(target, DroppedTarget)
        assert target.rejected is (row["outcome"] == "rejected")
        assert target.discovered == row["labels_in"]
        assert target.job == row["id"]


@pytest.mark.parametrize(
    ("labels", "reason"),
    [
        ({}, "no __address__"),
        ({"__address__": ""}, "no __address__"),
        ({"__address__": "h:1/x"}, '__address__ "h:1/x" holds a /'),
        ({"__address__": ":9400"}, '__address__ ":9400" names no host'),
        ({"__address__": ":"}, '__address__ ":" names no host'),
        ({"__address__": "[]"}, '__address__ "[]" names no host'),
        ({"__address__": "[]:9400"}, '__address__ "[]:9400" names no host'),
        ({"__address__": "h", "__scrape_interval__": "5"}, "__scrape_interval__: duration '5'"),
        ({"__address__": "h", "__scrape_timeout__": "x"}, "__scrape_timeout__: duration 'x'"),
        ({"__address__": "h", "__scrape_timeout__": "0s"}, "__scrape_timeout__ is 0"),
        (
            {"__address__": "h", "__scrape_timeout__": "2h"},
            "__scrape_timeout__ 2h is more than __scrape_interval__ 1h",
        ),
        ({"__address__": "h", "a": "x\ud800"}, "label 'a' is not valid UTF-8: 'x\\ud800'"),
        ({"__address__": "h", "\udfff": "x"}, "label '\\udfff' is not valid UTF-8"),
    ],
)
def test_rejections_are_explained(labels: dict[str, str], reason: str) -> None:
    """A target that cannot be scraped is rejected with a sentence that says why."""
    target = _only(_Job(), labels)
    assert isinstance(target, DroppedTarget)
    assert target.rejected
    assert reason in target.reason


def test_a_host_emptied_by_a_rule_is_rejected() -> None:
    """A rule that makes an address without a host costs the target, not a scrape of this host."""
    rule = relabel.rule(source_labels=["ip"], replacement="$1:9400", target_label="__address__")
    target = _only(_Job(relabel=[rule]), {"__address__": "10.1.2.3"})
    assert isinstance(target, DroppedTarget)
    assert '":9400" names no host' in target.reason


def test_a_drop_names_the_rule_and_the_value() -> None:
    """A dropped target says which rule dropped it, with the value and the regex."""
    rule = relabel.rule(action="keep", source_labels=["container"], regex="^DCGM.*$")
    target = _only(_Job(relabel=[rule]), {"__address__": "h", "container": "exporter"})
    assert target == DroppedTarget(
        job="j",
        discovered={
            "job": "j",
            "__scrape_interval__": "1h",
            "__scrape_timeout__": "10s",
            "__metrics_path__": "/metrics",
            "__scheme__": "http",
            "__address__": "h",
            "container": "exporter",
        },
        reason='rule 1 (keep): "exporter" (of container) does not match the regex ^DCGM.*$',
    )


@pytest.mark.parametrize(
    ("address", "path", "params", "url"),
    [
        ("h:1", "m", {}, "http://h:1/m"),
        ("h:1", "", {}, "http://h:1"),
        ("h:1", "*", {}, "http://h:1/*"),
        ("h:1", "/a*b?c", {}, "http://h:1/a%2Ab%3Fc"),
        (
            "h:1",
            "/é%2f;x=1,@:&$+ \"<>^`{|}~!()'#",
            {},
            "http://h:1/%C3%A9%252f;x=1,@:&$+%20%22%3C%3E%5E%60%7B%7C%7D~%21%28%29%27%23",
        ),
        ("ü.example:1", "/", {}, "http://%C3%BC.example:1/"),
        ('"<>h\\^`{|}', "/", {}, 'http://"<>h%5C%5E%60%7B%7C%7D/'),
        ("a%b?x#y", "/", {}, "http://a%25b%3Fx%23y/"),
        ("::1", "/", {}, "http://::1/"),
        (
            "h",
            "/",
            {"b": ["1 2", "3"], "a&": ["é*~"], "none": []},
            "http://h/?a%26=%C3%A9%2A~&b=1+2&b=3",
        ),
    ],
)
def test_urls_are_written_as_go_writes_them(
    address: str, path: str, params: dict[str, list[str]], url: str
) -> None:
    """What is escaped in host, path and query is what Go's net/url escapes."""
    target = _only(_Job(metrics_path=path, params=params), {"__address__": address})
    assert isinstance(target, Target)
    assert target.url == url


def test_labels_of_target_come_before_those_of_group() -> None:
    """A target's own label hides the group's, even when empty; the group fills in the rest."""
    target = _only(
        _Job(),
        {"__address__": "h", "own": "target", "hidden": ""},
        {"own": "group", "hidden": "group", "more": "group", "none": ""},
    )
    assert isinstance(target, Target)
    assert target.labels == {"job": "j", "instance": "h", "own": "target", "more": "group"}


def test_every_target_of_a_group_is_answered_in_order() -> None:
    """One bad target does not cost the others, and equal ones are left to the caller."""
    group = TargetGroup("s", ({"__address__": "a"}, {}, {"__address__": "a"}), {})
    answers = list(targeting.targets(_Job(), group))
    assert [isinstance(answer, Target) for answer in answers] == [True, False, True]
    assert answers[0] == answers[2]


def test_group_is_not_changed() -> None:
    """Targeting reads what discovery found and leaves it alone."""
    labels = {"__address__": "h", "empty": ""}
    group = {"env": "x"}
    _only(_Job(relabel=[relabel.rule(action="labeldrop", regex="env")]), labels, group)
    assert (labels, group) == ({"__address__": "h", "empty": ""}, {"env": "x"})


@pytest.mark.parametrize(
    "address", ["10.0.0.1:9400", "gpu", "[2001:db8::5]:9400", "2001:db8::5", "a b%2Fc?d#e:1", "ü:1"]
)
@pytest.mark.parametrize("path", ["/metrics", "", "*", "/a//b"])
def test_an_address_is_told_of_its_url(address: str, path: str) -> None:
    """It is the very text that the rules left, whatever the URL had to make of it."""
    job = _Job(metrics_path=path, params={"x": ["//y/z"]})
    (found,) = targeting.targets(job, TargetGroup("", ({"__address__": address},), {}))
    assert isinstance(found, Target)
    assert targeting.address(found.url) == address
