"""Pages drawn at random: a real Prometheus, having scraped them, holds our samples."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from cwgpu.model.reading import Refused
from cwgpu.plan.plan import Job
from tests.oracle import apart, ours, pages, server, storage

Json = dict[str, Any]

_INTERVAL = "1s"
_REPORT = ("up", "scrape_samples_scraped", "scrape_samples_post_metric_relabeling")

_KINDS: dict[str, Any] = {
    "plain": {},
    "honor": {"honor_labels": True},
    "own_times": {"honor_timestamps": False},
    "samples": {"sample_limit": 4},
    "label_count": {"label_limit": 7},
    "label_size": {"label_name_length_limit": 10, "label_value_length_limit": 20},
    "keep": [{"action": "keep", "source_labels": ["__name__"], "regex": "e[0-9]+_(a|b|h).*"}],
    "drop": [{"action": "drop", "source_labels": ["a", "b"], "regex": "[1x];.*|;[^x]*"}],
    "rename": [
        {
            "source_labels": ["__name__"],
            "regex": "(e[0-9]+_[a-z]+)_total",
            "target_label": "__name__",
            "replacement": "${1}_renamed",
        },
        {"action": "labeldrop", "regex": "a|exported_pod"},
    ],
    "map": [
        {"action": "labelmap", "regex": "(a|b|pod)", "replacement": "my_$1"},
        {"action": "uppercase", "source_labels": ["b", "pod"], "target_label": "b"},
        {"action": "hashmod", "source_labels": ["a"], "modulus": 7, "target_label": "shard"},
        {"action": "labelkeep", "regex": "__name__|job|slot|my_.*|shard|b|le"},
    ],
}
"""Jobs that a page may be scraped by; a list holds metric_relabel_configs."""
_TARGETS: tuple[dict[str, str], ...] = ({}, {"pod": "T"}, {"pod": "T", "exported_a": "U", "b": "1"})
"""Labels of the targets of each job."""


@dataclass(frozen=True, slots=True)
class Place:
    """A target of the running Prometheus, and what it is to us."""

    job: Job
    config: Json
    target: dict[str, str]


class Bench:
    """Everything that runs. No dataclass: Hypothesis would print all of it with an example."""

    def __init__(
        self, prometheus: server.Prometheus, exporter: server.Exporter, places: list[Place]
    ) -> None:
        """Nothing was scraped yet."""
        self.prometheus = prometheus
        self.exporter = exporter
        self.places = places
        self.rounds = 0


def _config(name: str, kind: Any) -> Json:  # noqa: ANN401 - as in the table
    keys = {"metric_relabel_configs": kind} if isinstance(kind, list) else kind
    return {"job_name": name, "scrape_interval": _INTERVAL, "scrape_timeout": _INTERVAL, **keys}


def _places(address: str) -> Iterator[Place]:
    number = 0
    for name, kind in _KINDS.items():
        config = _config(name, kind)
        [job] = ours.jobs([config])
        for labels in _TARGETS:
            target = {"job": name, "instance": address, "slot": str(number), **labels}
            yield Place(job, config, target)
            number += 1


def _static(place: Place) -> Json:
    labels = {name: text for name, text in place.target.items() if name not in {"job", "instance"}}
    labels["__metrics_path__"] = f"/{labels['slot']}"
    return {"targets": [place.target["instance"]], "labels": labels}


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    """A Prometheus that scrapes a target for each kind of job and labels."""
    exporter = server.Exporter(len(_KINDS) * len(_TARGETS))
    places = list(_places(exporter.address))
    configs = [
        {
            **_config(name, kind),
            "static_configs": [_static(p) for p in places if p.job.name == name],
        }
        for name, kind in _KINDS.items()
    ]
    folder = tmp_path_factory.mktemp("prometheus")
    with exporter.running(), server.running(folder, {"scrape_configs": configs}) as prometheus:
        yield Bench(prometheus, exporter, places)


@dataclass(slots=True)
class Held:
    """What Prometheus has of one slot since its page changed."""

    report: dict[str, dict[int, float]]
    """By name of the series, and by time."""
    samples: dict[Any, str]

    @property
    def good_ms(self) -> list[int]:
        """When it scraped with success."""
        return [at_ms for at_ms, value in sorted(self.report["up"].items()) if value]


def held(bench: Bench, prefix: str) -> dict[str, Held]:
    """Ask for all series of this round, by slot."""
    query = f'{{__name__=~"{"|".join(_REPORT)}|{prefix}.*"}}[1h]'
    # A page may date its samples into the future.
    found = {
        place.target["slot"]: Held({name: {} for name in _REPORT}, {}) for place in bench.places
    }
    for series in bench.prometheus.query(query, time.time() + 1200):
        labels = series["metric"]
        slot = found[labels["slot"]]
        before_ms = bench.exporter.slots[int(labels["slot"])].before_ms
        for at_s, value in series["values"]:
            at_ms = round(at_s * 1000)
            if labels["__name__"].startswith(prefix):
                slot.samples[ours.pairs(labels), at_ms] = repr(float(value))
            elif at_ms > before_ms:
                slot.report[labels["__name__"]][at_ms] = float(value)
    return found


def compare(place: Place, page: tuple[bytes, str], there: Held, prefix: str) -> None:
    """See that Prometheus refused this page or has its samples, as we do."""
    found = ours.scrape(place.job, place.target, *page)
    assert there.report["up"]
    if isinstance(found, Refused):
        if apart.refused_earlier(found):
            return
        assert not there.good_ms, (found, page)
        assert there.samples == {}
        return
    assert there.good_ms, (place.config, page)
    kept = storage.stored(found.samples, there.good_ms)
    assert there.samples == {
        key: repr(value)
        for key, value in kept.items()
        if dict(key[0])["__name__"].startswith(prefix)
    }, (place.config, page)
    counts = {(found.scraped, len(found.samples))}
    assert counts == {
        (there.report[_REPORT[1]][at_ms], there.report[_REPORT[2]][at_ms])
        for at_ms in there.good_ms
    }


@pytest.mark.oracle("prometheus")
@pytest.mark.timeout(180)
# A page that fails is shown as it is: making it smaller would take a scrape for each try.
@settings(
    max_examples=10,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
@given(drawn=st.lists(pages.pages, min_size=30, max_size=30))
def test_prometheus_has_the_same_samples(bench: Bench, drawn: Sequence[pages.Page]) -> None:
    """Whatever the page, the job and the target's labels, the stored samples are those we read."""
    bench.rounds += 1
    prefix = f"e{bench.rounds}_"
    now_ms = time.time_ns() // 1_000_000
    known = [page for page in drawn if not apart.known_to_differ(page)]
    bodies = [(page.named(prefix, now_ms), page.content_type) for page in known]
    bench.exporter.put(bodies)
    # At the second request all of the first is stored.
    assert bench.exporter.wait(2, len(bodies)), bench.prometheus.said()
    there = held(bench, prefix)
    for place, body in zip(bench.places, bodies, strict=False):
        compare(place, body, there[place.target["slot"]], prefix)
