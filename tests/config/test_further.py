"""Files of jobs that prometheus.yml names."""

import json
from pathlib import Path

import pytest

from cwgpu.config import load, review
from cwgpu.config.complaint import Complaint
from cwgpu.plan.plan import Job, Plan


def job(name: str, *keys: str) -> str:
    """Write a file of one job."""
    lines = [f"- job_name: {name}", "  static_configs: [{targets: ['a:9400']}]"]
    return "\n".join(["scrape_configs:", *lines, *(f"  {key}" for key in keys), ""])


def examined(folder: Path, main: str) -> tuple[Plan | None, list[Complaint]]:
    """Read a prometheus.yml of the folder, named by an agent's file there."""
    declaration = {
        "source_labels": ["job"],
        "metric_selectors": ["^DCGM_"],
        "dimensions": [["job"]],
    }
    prometheus = {
        "cluster_name": "lab",
        "prometheus_config_path": "prometheus.yml",
        "emf_processor": {"metric_declaration": [declaration]},
    }
    config = folder / "agent.json"
    config.write_text(json.dumps({"logs": {"metrics_collected": {"prometheus": prometheus}}}))
    (folder / "prometheus.yml").write_text(main)
    found = load.examine(config, None, {})
    return found.plan, list(found.complaints)


def jobs(folder: Path, main: str) -> tuple[Job, ...]:
    """Give the jobs of a prometheus.yml that is right."""
    plan, said = examined(folder, main)
    assert said == []
    assert plan is not None
    return plan.jobs


def test_jobs_of_all_files_come_together(tmp_path: Path) -> None:
    """Those of the main file first, then file after file in the order of names."""
    (tmp_path / "more").mkdir()
    (tmp_path / "more/b.yml").write_text(job("b"))
    (tmp_path / "more/a.yml").write_text(job("a", "scrape_interval: 5s"))
    (tmp_path / "one.yaml").write_text(job("one"))
    main = "global: {scrape_interval: 30s}\nscrape_config_files: [more/*.yml, one.yaml]\n"
    made = jobs(tmp_path, main + job("main"))
    assert [(each.name, each.interval_s) for each in made] == [
        ("main", 30.0),
        ("a", 5.0),
        ("b", 30.0),
        ("one", 30.0),
    ]


def test_names_of_files_begin_where_they_are_written(tmp_path: Path) -> None:
    """A relative name in a further file begins at that file's directory."""
    (tmp_path / "more").mkdir()
    (tmp_path / "more/a.yml").write_text(job("a", "bearer_token_file: token"))
    (made,) = jobs(tmp_path, "scrape_config_files: [more/a.yml]\n")
    credentials = made.client.credentials
    assert str(tmp_path / "more/token") in repr(credentials)


def test_what_is_watched(tmp_path: Path) -> None:
    """The plan names each file that was read, and patterns for those that may come."""
    (tmp_path / "a.yml").write_text(job("a"))
    (tmp_path / ".b.yml").write_text(job("b"))
    plan, _ = examined(tmp_path, "scrape_config_files: ['*.yml', later.yaml]\n" + job("main"))
    assert plan is None  # prometheus.yml is among the files that it names
    (tmp_path / "more").mkdir()
    (tmp_path / "more/a.yml").write_text(job("a"))
    plan, said = examined(tmp_path, "scrape_config_files: ['more/*.yml', later.yaml]\n")
    assert [(each.code, each.level.value) for each in said] == [("no-file-there", "note")]
    assert plan is not None
    names = ("agent.json", "prometheus.yml", "more/*.yml", "later.yaml", "more/a.yml")
    assert plan.files == tuple(str(tmp_path / name) for name in names)


@pytest.mark.parametrize("pattern", ["more*/a.yml", "*/*.yml"])
def test_stars_stand_in_the_last_part(tmp_path: Path, pattern: str) -> None:
    """A star elsewhere is an error, as in Prometheus."""
    plan, said = examined(tmp_path, f"scrape_config_files: ['{pattern}']\n" + job("main"))
    assert plan is None
    assert [(each.code, each.path) for each in said] == [
        ("bad-file-name", "scrape_config_files[0]")
    ]


@pytest.mark.parametrize("name", ["a\\0*", "a\\0/*.yml", "a\\0.yml"])
def test_a_file_that_cannot_be(tmp_path: Path, name: str) -> None:
    """A name with a NUL is an error, and not looked for."""
    plan, said = examined(tmp_path, f'scrape_config_files: ["{name}"]\n')
    assert plan is None
    assert [(each.code, each.path) for each in said] == [
        ("bad-file-name", "scrape_config_files[0]")
    ]


def test_faults_name_their_file(tmp_path: Path) -> None:
    """A fault in a further file is told with its place there, however it is broken."""
    (tmp_path / "a.yml").write_text(job("a", "honor_lables: true"))
    (tmp_path / "b.yml").write_text("scrape_configs: [\n")
    (tmp_path / "c.yml").write_text("global: {}\n")
    _, said = examined(tmp_path, "scrape_config_files: [a.yml, b.yml, c.yml]\n")
    assert [(Path(each.file).name, each.line, each.code) for each in said] == [
        ("a.yml", 4, "unknown-key"),
        ("b.yml", 2, "yaml-syntax"),
        ("c.yml", 1, "unknown-key"),
    ]


def test_names_differ_over_all_files(tmp_path: Path) -> None:
    """A name that another file has already is an error that names that file."""
    (tmp_path / "a.yml").write_text(job("main"))
    _, (said,) = examined(tmp_path, "scrape_config_files: [a.yml]\n" + job("main"))
    assert (Path(said.file).name, said.code) == ("a.yml", "duplicate-job")
    assert (
        said.message == f"a second job is called 'main'; the first is in {tmp_path}/prometheus.yml"
    )


def test_rules_look_at_all_files(tmp_path: Path) -> None:
    """What will not do what was meant is found in each file; labels of each are known."""
    (tmp_path / "a.yml").write_text(job("dcgm", "metrics_path: /health"))
    main = tmp_path / "prometheus.yml"
    main.write_text("scrape_config_files: [a.yml]\n" + job("dcgm-main", "bearer_token: x"))
    said = review.review([main], {})
    assert [(Path(each.file).name, each.code) for each in said] == [
        ("prometheus.yml", "inline-secret"),
        ("a.yml", "path-not-served"),
    ]
