"""Static targets that no rule leaves."""

import json

import pytest

from tests.config.lint import bench

CODE = "static-targets-dropped"


def said(*rules: dict[str, object], **keys: object) -> list[str]:
    """Give the message and the help about a job with two static targets and these rules."""
    group = {"targets": ["10.0.0.1:9400", "10.0.0.2:9400"], "labels": {"env": "prod-gpu"}}
    job = {"job_name": "gpu", "static_configs": [group], "relabel_configs": rules, **keys}
    found = bench.said(jobs=bench.jobs(json.dumps({"scrape_configs": [job]})))
    return [f"{each.message}\n{each.help}" for each in found if each.code == CODE]


@pytest.mark.parametrize(
    ("rule", "reason", "hint"),
    [
        (
            {"source_labels": ["enviro"], "regex": "prod.*", "action": "keep"},
            'rule 1 (keep): "" (of enviro) does not match the regex prod.*',
            "there is no label enviro, so it is empty",
        ),
        (
            {"source_labels": ["env"], "regex": "prod", "action": "keep"},
            'rule 1 (keep): "prod-gpu" (of env) does not match the regex prod',
            "only a part is so, and a regex must match all of it; this matches: .*prod.*",
        ),
        (
            {"source_labels": ["__address__"], "regex": "10\\..*", "action": "drop"},
            'rule 1 (drop): "10.0.0.1:9400" (of __address__) matches the regex 10\\..*',
            "",
        ),
        (
            {"source_labels": ["__scrape_timeout__"], "regex": "10s", "action": "drop"},
            'rule 1 (drop): "10s" (of __scrape_timeout__) matches the regex 10s',
            "",
        ),
    ],
)
def test_what_dropped_them(rule: dict[str, object], reason: str, hint: str) -> None:
    """The job is named, what a rule compared, and what is nearly so."""
    wanted = [
        "job 'gpu' scrapes nothing: its 2 static targets are all dropped",
        f"of '10.0.0.1:9400', {reason}",
        *filter(None, [hint]),
    ]
    assert said(rule) == ["\n".join(wanted)]


def test_last_rule_is_named() -> None:
    """Where several rules drop a part each, the one that left nothing is shown."""
    rules: list[dict[str, object]] = [
        {"source_labels": ["__address__"], "regex": f"10.0.0.{number}:9400", "action": "drop"}
        for number in (2, 1)
    ]
    (found,) = said(*rules)
    assert "of '10.0.0.1:9400', rule 2 (drop)" in found


@pytest.mark.parametrize(
    ("rules", "keys"),
    [
        ([{"source_labels": ["__address__"], "regex": ".*1:9400", "action": "keep"}], {}),
        ([{"regex": "(", "action": "keep"}, {"action": "drop"}], {}),
        ([{"action": "drop"}], {"file_sd_configs": [{"files": ["targets.yml"]}]}),
        ([{"action": "drop"}], {"kubernetes_sd_configs": [{"role": "pod"}]}),
        ([{"action": "drop"}], {"static_configs": []}),
        ([{"action": "drop"}], {"static_configs": [{"targets": []}]}),
        ([{"target_label": "__address__", "replacement": ""}], {}),
    ],
    ids=["one-kept", "bad-rule", "files", "kubernetes", "none", "empty", "rejected"],
)
def test_silent(rules: list[dict[str, object]], keys: dict[str, object]) -> None:
    """Nothing is said where a target may be left, or where something else is the matter."""
    assert said(*rules, **keys) == []


@pytest.mark.parametrize(("target", "codes"), [("${GPU_HOST}:9400", []), ("gpu:9400", [CODE])])
def test_variables_are_unknown(target: str, codes: list[str]) -> None:
    """What the environment gives where the agent runs is not known here."""
    job = {
        "job_name": "gpu",
        "static_configs": [{"targets": [target]}],
        "relabel_configs": [{"source_labels": ["__address__"], "regex": "a:.*", "action": "keep"}],
    }
    found = bench.codes(bench.declaring(bench.declaration(), scrape_configs=[job]))
    assert [each for each in found if each == CODE] == codes
