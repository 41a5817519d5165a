"""Rules that take away what is needed afterwards."""

import json

import pytest

from cwgpu.config.where import Found
from tests.config.lint import bench

CODE = "needed-label-dropped"


def job(*rules: bench.Json, samples: tuple[bench.Json, ...] = ()) -> Found:
    """Read a job with these rules for targets and samples."""
    static = [{"targets": ["a:9400"], "labels": {"Service": "dcgm"}}]
    made = {"job_name": "gpu", "static_configs": static, "relabel_configs": rules,
            "metric_relabel_configs": samples}  # fmt: skip
    return bench.jobs(json.dumps({"scrape_configs": [made]}))


def drop(regex: str) -> bench.Json:
    """Write a labeldrop."""
    return {"action": "labeldrop", "regex": regex}


def keep(regex: str) -> bench.Json:
    """Write a labelkeep."""
    return {"action": "labelkeep", "regex": regex}


@pytest.mark.parametrize(
    ("rule", "message", "advice"),
    [
        (drop("__.*"), "this removes __address__: no target has an address any more", "narrow"),
        (drop("__scheme__"), "this removes __scheme__: no URL has a scheme any more", "narrow"),
        (drop("__metrics_path__"), "the page is asked for at / then", "narrow the regex"),
        (drop("__scrape_.*"), "this removes __scrape_interval__: every target is rejected", ""),
        (
            keep("Service|__address__"),
            "this removes __scheme__",
            "keep them too: (?:Service|__address__)|__scheme__|__metrics_path__|",
        ),
    ],
)
def test_what_makes_a_target(rule: bench.Json, message: str, advice: str) -> None:
    """Without address, scheme, path, interval or timeout there is nothing to scrape."""
    (found,) = bench.said(jobs=job(rule))
    assert (found.code, bench.excerpt(found)) == (CODE, json.dumps(rule["regex"]))
    assert message in found.message
    assert advice in found.help


@pytest.mark.parametrize(
    "rules",
    [
        (drop("__meta_.*"),),
        (drop("Service"),),
        (keep("Service|__.*"),),
        (drop("__address__"), {"target_label": "__address__", "replacement": "a:9400"}),
        ({"action": "drop", "source_labels": ["__address__"], "regex": "b"},),
    ],
)
def test_what_is_not_needed(rules: tuple[bench.Json, ...]) -> None:
    """Other labels may go, and one that a later rule writes again."""
    assert bench.codes(jobs=job(*rules)) == []


def test_the_name_of_a_sample() -> None:
    """Without its name a sample is none."""
    found = bench.said(jobs=job(samples=(keep("gpu|pod"), drop("pod"), drop("__name__"))))
    assert [(each.code, each.message) for each in found] == [
        (CODE, "this removes __name__, and with it every sample")
    ] * 2
    assert found[0].help == "keep them too: (?:gpu|pod)|__name__"


def declared() -> Found:
    """Read a declaration that needs Service, gpu and Hostname."""
    written = bench.declaration(["ClusterName", "gpu"], ["Hostname"], source=["Service"])
    return bench.declaring(written)


@pytest.mark.parametrize(
    ("rule", "lost"),
    [
        (drop("gpu|Host.*"), "Hostname, gpu"),
        (keep("__name__|gpu|Hostname"), "Service"),
        (drop("pod"), None),
        (keep("__name__|gpu|Hostname|Service"), None),
        ({"action": "replace", "target_label": "gpu", "replacement": ""}, None),
    ],
)
def test_labels_that_declarations_use(rule: bench.Json, lost: str | None) -> None:
    """A label that is a dimension, or is compared, must be left."""
    found = bench.said(declared(), job(samples=(rule,)))
    messages = [f"this removes {lost}, which a declaration uses"] if lost else []
    assert [each.message for each in found] == messages


def test_a_label_that_is_written_again() -> None:
    """A later rule may give it anew."""
    again = {"source_labels": ["device"], "target_label": "gpu"}
    assert bench.codes(declared(), job(samples=(drop("gpu"), again))) == []
    assert bench.codes(declared(), job(samples=(again, drop("gpu")))) == [CODE]


def test_several_jobs() -> None:
    """What one job drops, another may give."""
    jobs = [
        {"job_name": name, "static_configs": [{"targets": ["a:9400"], "labels": {"Service": "x"}}],
         "metric_relabel_configs": [drop("gpu")]}
        for name in "ab"
    ]  # fmt: skip
    assert bench.codes(declared(), bench.jobs(json.dumps({"scrape_configs": jobs}))) == []
