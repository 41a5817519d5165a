"""Rules and jobs, out of whatever file they stand in."""

import errno
import json
import os
from pathlib import Path
from typing import Any

import pytest

from cwgpu.config import ruleset
from cwgpu.config.complaint import InvalidError
from cwgpu.config.ruleset import SAMPLES, TARGETS, Ruleset
from cwgpu.model.errors import UsageError

LIST = """\
# The first line is no rule.
- target_label: a
  replacement: x

- action: drop
  source_labels: [b]
"""
JOBS = f"""\
scrape_configs:
- job_name: gpu
  relabel_configs:
{"".join(f"  {line}" for line in LIST.splitlines(keepends=True)[1:])}
- job_name: "a:b"
  metric_relabel_configs:
  - {{action: labeldrop, regex: c}}
"""


def agent(tmp_path: Path, jobs: list[dict[str, Any]] | None = None) -> Path:
    """Write an agent's JSON; without jobs it names the file of them beside it."""
    prometheus: dict[str, Any] = {"emf_processor": {"metric_declaration": []}}
    if jobs is None:
        prometheus["prometheus_config_path"] = "jobs.yml"
    logs = {"metrics_collected": {"prometheus": prometheus}}
    whole = {"logs": logs, **({"cwgpu": {"scrape_configs": jobs}} if jobs is not None else {})}
    path = tmp_path / "cwagent.json"
    path.write_text(json.dumps(whole, indent=1), "utf-8")
    return path


def written(tmp_path: Path, text: str, name: str = "rules.yml") -> Path:
    """Write a file."""
    path = tmp_path / name
    path.write_text(text, "utf-8")
    return path


def rules_of(path: Path, job: str | None = None, *, key: str = TARGETS) -> Ruleset:
    """Read rules in an environment that says nothing."""
    return ruleset.rules_of(path, job, {}, key=key)


def _denied(*_: object, **__: object) -> None:
    raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


def lines(found: Ruleset) -> list[tuple[str, str]]:
    """Give each rule's action with the line on which it stands."""
    return [
        (rule.action.value, (place or "").rpartition(":")[2])
        for rule, place in zip(found.rules, found.places, strict=True)
    ]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (LIST, "rules.yml"),
        (LIST, "rules"),
        ('[\n{"target_label": "a"},\n\n\n{"action": "drop"}]', "rules.json"),
        ('\ufeff[\n{"target_label": "a"},\n\n\n{"action": "drop"}]', "rules.yaml"),
    ],
)
@pytest.mark.parametrize("key", [TARGETS, SAMPLES])
def test_a_list_of_rules(tmp_path: Path, text: str, name: str, key: str) -> None:
    """In either language, for either purpose; each rule keeps its place."""
    path = written(tmp_path, text, name)
    found = rules_of(path, key=key)
    assert lines(found) == [("replace", "2"), ("drop", "5")]
    assert found.places[0] == f"{path}:2"


def test_a_job(tmp_path: Path) -> None:
    """An object holds both lists, and the rest of a job; one that is not there is empty."""
    path = written(
        tmp_path,
        "job_name: gpu\nscrape_interval: 5s\nrelabel_configs:\n- action: drop\n"
        "metric_relabel_configs: [{action: labeldrop, regex: x}]\n",
    )
    assert lines(rules_of(path)) == [("drop", "4")]
    assert lines(rules_of(path, key=SAMPLES)) == [("labeldrop", "5")]
    path = written(tmp_path, "job_name: gpu\nmetric_relabel_configs:\n")
    assert lines(rules_of(path, key=SAMPLES)) == []


@pytest.mark.parametrize("kind", ["prometheus", "agent", "folder", "inline"])
def test_a_whole_configuration(tmp_path: Path, kind: str) -> None:
    """A job is chosen by name; what is wrong only here, such as no log group, does not matter."""
    path = written(tmp_path, JOBS, "jobs.yml")
    if kind == "inline":
        first = {"job_name": "gpu", "relabel_configs": [{"target_label": "a"}, {"action": "drop"}]}
        second = {
            "job_name": "a:b",
            "metric_relabel_configs": [{"action": "labeldrop", "regex": "c"}],
        }
        path = agent(tmp_path, [first, second])
    elif kind != "prometheus":
        path = agent(tmp_path)
    found = rules_of(path.parent if kind == "folder" else path, "gpu")
    assert [rule.action.value for rule in found.rules] == ["replace", "drop"]
    if kind != "inline":
        assert [line for _, line in lines(found)] == ["4", "7"]
    assert [action for action, _ in lines(rules_of(path, "a:b", key=SAMPLES))] == ["labeldrop"]
    assert rules_of(path, "a:b") == Ruleset((), ())
    job = ruleset.job_of(path, None, "gpu", {}).job
    assert (job.name, job.relabel) == ("gpu", found.rules)


@pytest.mark.parametrize("name", ["config", "config.yml", "config.json"])
def test_the_language_of_a_whole_configuration(tmp_path: Path, name: str) -> None:
    """Is told by the file's name, or else by its content; JSON is YAML too."""
    path = agent(tmp_path, [{"job_name": "gpu"}]).rename(tmp_path / name)
    assert ruleset.job_of(path, None, None, {}).job.name == "gpu"
    if name != "config.json":
        path = written(tmp_path, JOBS, name)
        assert ruleset.job_of(path, None, "gpu", {}).job.name == "gpu"


def test_a_file_that_cannot_be_looked_into(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Is complained about by whoever reads it."""
    path = written(tmp_path, LIST, "rules")
    monkeypatch.setattr(Path, "open", _denied)
    with pytest.raises(InvalidError, match="cannot be read: Permission denied"):
        rules_of(path)


def test_the_only_job_needs_no_name(tmp_path: Path) -> None:
    """And may have one."""
    path = written(tmp_path, JOBS.partition('- job_name: "a')[0])
    assert rules_of(path) == rules_of(path, "gpu")
    assert ruleset.job_of(path, None, None, {}).job.name == "gpu"


def test_jobs_of_a_further_file_have_no_place(tmp_path: Path) -> None:
    """Their rules are found all the same."""
    written(tmp_path, JOBS, "more.yml")
    found = rules_of(written(tmp_path, "scrape_config_files: [more.yml]\n"), "gpu")
    assert lines(found) == [("replace", ""), ("drop", "")]


def test_jobs_in_the_place_of_those_that_are_named(tmp_path: Path) -> None:
    """As --prometheus-config has it; the place is where they are written."""
    path = agent(tmp_path, [{"job_name": "other"}])
    jobs = written(tmp_path, JOBS, "jobs.yml")
    chosen = ruleset.job_of(path, jobs, "gpu", {})
    assert chosen.ruleset(TARGETS).places == (f"{jobs}:4", f"{jobs}:7")
    chosen = ruleset.job_of(None, jobs, "gpu", {"CWGPU_CONFIG": str(path)})
    assert chosen.job.name == "gpu"


@pytest.mark.parametrize(
    ("text", "job", "said"),
    [
        (JOBS, None, "has several jobs; name one as --rules FILE:JOB: gpu, a:b"),
        (JOBS, "gpus", "has no job 'gpus'; did you mean 'gpu'?"),
        (JOBS, "x", "has no job 'x'; it has: gpu, a:b"),
        ("global: {}", None, "has no jobs"),
        ("", None, "has no jobs"),
        (LIST, "gpu", "holds rules, not jobs to choose from: leave :gpu out"),
        ("metric_relabel_configs: []", None, "holds metric_relabel_configs alone: give --metric"),
    ],
)
def test_a_wrong_choice(tmp_path: Path, text: str, job: str | None, said: str) -> None:
    """Says what there is to choose from."""
    path = written(tmp_path, text)
    with pytest.raises(UsageError) as caught:
        rules_of(path, job)
    assert str(caught.value) == f"{path} {said}"


def test_two_files_of_jobs(tmp_path: Path) -> None:
    """Are one too many."""
    path = written(tmp_path, JOBS)
    with pytest.raises(UsageError, match="both hold jobs: give one of them"):
        ruleset.job_of(path, path, "gpu", {})


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("- regex: '('\n- actoin: drop\n- {action: drip}\n", ["bad-relabel-rule", "unknown-key"]),
        ("- regex: (\n- action: drip\n", ["bad-relabel-rule", "bad-relabel-rule"]),
        ("relabel_configs:\n- null\n", ["wrong-type"]),
        ("- [", ["yaml-syntax"]),
        ("relabel_config: []\n", ["unknown-key"]),
        ("just words", ["wrong-type"]),
        (
            "scrape_configs:\n- job_name: a\n  relabel_configs: [{action: drip}]\n",
            ["bad-relabel-rule"],
        ),
    ],
)
def test_wrong_rules(tmp_path: Path, text: str, codes: list[str]) -> None:
    """Are complained about as in a configuration: all of them, with their places."""
    path = written(tmp_path, text)
    with pytest.raises(InvalidError) as caught:
        rules_of(path)
    found = [each.code for each in caught.value.complaints if each.level.value == "error"]
    assert set(codes) <= set(found)
    assert {each.file for each in caught.value.complaints} == {str(path)}
    assert f"{path}:" in str(caught.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    """Is complained about, of either kind."""
    for name in ("no.yml", "no.json"):
        with pytest.raises(InvalidError, match="cannot be read: No such file"):
            rules_of(tmp_path / name)
    with pytest.raises(InvalidError, match="cannot be read: No such file"):
        ruleset.job_of(tmp_path / "no.json", None, None, {})
    with pytest.raises(InvalidError, match="cannot be read: No such file"):
        ruleset.job_of(agent(tmp_path), None, None, {})
