"""Finding the files, in the order and the forms that the CloudWatch agent knows."""

import json
import os
from pathlib import Path

import pytest

from cwgpu.config import limits, load, where
from cwgpu.config.complaint import Complaint, InvalidError, Level
from cwgpu.model.errors import ConfigurationError

AGENT = {
    "logs": {
        "metrics_collected": {
            "prometheus": {
                "cluster_name": "lab",
                "emf_processor": {
                    "metric_declaration": [
                        {
                            "source_labels": ["job"],
                            "metric_selectors": ["^A$"],
                            "dimensions": [["job"]],
                        }
                    ]
                },
            }
        }
    }
}
JOBS = "scrape_configs:\n- job_name: gpu\n  static_configs: [{targets: ['a:9400']}]\n"


def agent(path: Path, **prometheus: str) -> Path:
    """Write an agent's file whose prometheus section has these keys too."""
    config = json.loads(json.dumps(AGENT))
    config["logs"]["metrics_collected"]["prometheus"] |= prometheus
    path.write_text(json.dumps(config))
    return path


def complaints(*arguments: Path | None, **environ: str) -> tuple[Complaint, ...]:
    """Give what is said about a configuration that cannot be used."""
    config, prometheus = (*arguments, None, None)[:2]
    with pytest.raises(InvalidError) as caught:
        load.load(config, prometheus, environ)
    return caught.value.complaints


def test_a_file_and_its_jobs_make_a_plan(tmp_path: Path) -> None:
    """A path to the jobs begins at the directory of the file that names it."""
    (tmp_path / "jobs.yaml").write_text(JOBS)
    config = agent(tmp_path / "agent.json", prometheus_config_path="jobs.yaml")
    loaded = load.load(config, None, {})
    assert [job.name for job in loaded.plan.jobs] == ["gpu"]
    assert loaded.plan.files == (str(config), str(tmp_path / "jobs.yaml"))
    assert loaded.complaints == ()


@pytest.mark.parametrize("form", ["{}", "file:{}"])
def test_the_path_may_have_a_prefix(tmp_path: Path, form: str) -> None:
    """``file:`` before a path changes nothing."""
    jobs = tmp_path / "jobs.yaml"
    jobs.write_text(JOBS)
    config = agent(tmp_path / "agent.json", prometheus_config_path=form.format(jobs))
    assert len(load.load(config, None, {}).plan.jobs) == 1


def test_the_jobs_may_stand_in_the_environment(tmp_path: Path) -> None:
    """``env:NAME`` takes the content of a variable, and writes nothing."""
    config = agent(tmp_path / "agent.json", prometheus_config_path="env:JOBS")
    assert len(load.load(config, None, {"JOBS": JOBS}).plan.jobs) == 1
    assert [each.name for each in tmp_path.iterdir()] == ["agent.json"]


def test_faults_in_the_environment_have_places_too(tmp_path: Path) -> None:
    """A complaint about a variable's content names the variable and the line."""
    config = agent(tmp_path / "agent.json", prometheus_config_path="env:JOBS")
    (said,) = complaints(config, JOBS=JOBS.replace("job_name", "job"))[:1]
    assert (said.file, said.line) == ("env:JOBS", 2)


def test_a_variable_that_is_not_set_is_an_error(tmp_path: Path) -> None:
    """Better than the agent, which crashes."""
    config = agent(tmp_path / "agent.json", prometheus_config_path="env:JOBS")
    (said,) = complaints(config)
    assert said.code == "variable-not-set"
    assert "JOBS" in said.message


def test_the_default_path_is_the_agents(tmp_path: Path) -> None:
    """Without a path the jobs are looked for where the agent looks."""
    (said,) = complaints(agent(tmp_path / "agent.json"))
    assert said.file == "/etc/cwagentconfig/prometheus.yaml"
    assert "cwgpu.scrape_configs" in said.help


def test_a_given_file_takes_the_place_of_the_path(tmp_path: Path) -> None:
    """The caller's file of jobs counts more than the configuration's."""
    (tmp_path / "jobs.yaml").write_text(JOBS)
    config = agent(tmp_path / "agent.json", prometheus_config_path="/nowhere/jobs.yaml")
    assert len(load.load(config, tmp_path / "jobs.yaml", {}).plan.jobs) == 1


def test_a_given_file_takes_the_place_of_inline_jobs(tmp_path: Path) -> None:
    """It does so of jobs in the agent's file, and a note says it."""
    (tmp_path / "jobs.yaml").write_text(JOBS)
    config = tmp_path / "agent.json"
    config.write_text(json.dumps({**AGENT, "cwgpu": {"scrape_configs": []}}))
    loaded = load.load(config, tmp_path / "jobs.yaml", {})
    assert [job.name for job in loaded.plan.jobs] == ["gpu"]
    assert [(each.code, each.level) for each in loaded.complaints] == [("overridden", Level.NOTE)]


def test_inline_jobs_need_no_file(tmp_path: Path) -> None:
    """One file is enough."""
    jobs = [{"job_name": "gpu", "file_sd_configs": [{"files": ["targets.yml"]}]}]
    config = tmp_path / "agent.json"
    config.write_text(json.dumps({**AGENT, "cwgpu": {"scrape_configs": jobs}}))
    plan = load.load(config, None, {}).plan
    assert plan.jobs[0].files[0].patterns == (str(tmp_path / "targets.yml"),)
    assert plan.files == (str(config),)


def test_a_directory_is_read_as_one_file(tmp_path: Path) -> None:
    """Objects merge key by key; files that begin with a dot or end otherwise are left alone."""
    (tmp_path / "a.json").write_text(json.dumps(AGENT))
    (tmp_path / "b.json").write_text(
        '{"agent": {"region": "eu-west-1"}, "cwgpu": {"scrape_configs": []},'
        ' "logs": {"metrics_collected": {"prometheus": {"cluster_name": "lab"}}}}'
    )
    (tmp_path / ".c.json").write_text("no JSON")
    (tmp_path / "prometheus.yaml").write_text("no: [JSON")
    (tmp_path / "..data").mkdir()
    plan = load.load(tmp_path, None, {}).plan
    assert plan.cloudwatch.region == "eu-west-1"
    # The last is for those that may come.
    assert plan.files == tuple(str(tmp_path / name) for name in ("a.json", "b.json", "*.json"))


def test_conflicting_files_are_an_error(tmp_path: Path) -> None:
    """A key with two values is complained about in the second file, and the first is named."""
    (tmp_path / "a.json").write_text(json.dumps(AGENT))
    (tmp_path / "b.json").write_text(json.dumps(AGENT).replace('"lab"', '"other"'))
    said = complaints(tmp_path)[-1]
    assert said.code == "conflicting-files"
    assert said.file == str(tmp_path / "b.json")
    assert str(tmp_path / "a.json") in said.message
    assert said.path == "logs.metrics_collected.prometheus.cluster_name"


def test_faults_of_several_files_come_together(tmp_path: Path) -> None:
    """Each broken file of a directory is complained about."""
    (tmp_path / "a.json").write_text("{")
    (tmp_path / "b.json").write_text("[")
    assert len(complaints(tmp_path)) == 2


def test_faults_of_both_languages_come_together(tmp_path: Path) -> None:
    """A fault in the agent's file does not hide one in the jobs."""
    (tmp_path / "jobs.yaml").write_text(JOBS.replace("gpu", ""))
    config = agent(tmp_path / "agent.json", prometheus_config_path="jobs.yaml", typo="x")
    assert [each.code for each in complaints(config)] == ["unknown-key", "missing-key"]


def test_a_broken_job_file_is_complained_about_once(tmp_path: Path) -> None:
    """What cannot be read is not examined further."""
    (tmp_path / "jobs.yaml").write_text("scrape_configs: [")
    config = agent(tmp_path / "agent.json", prometheus_config_path="jobs.yaml")
    assert [each.code for each in complaints(config)] == ["yaml-syntax"]


def test_a_path_of_the_wrong_type_is_not_followed(tmp_path: Path) -> None:
    """The default path is not looked at when another was meant."""
    config = json.loads(json.dumps(AGENT))
    config["logs"]["metrics_collected"]["prometheus"]["prometheus_config_path"] = 5
    (tmp_path / "agent.json").write_text(json.dumps(config))
    assert [each.code for each in complaints(tmp_path / "agent.json")] == ["wrong-type"]


def test_the_variable_names_the_file(tmp_path: Path) -> None:
    """Without a path, $CWGPU_CONFIG is the path."""
    (tmp_path / "jobs.yaml").write_text(JOBS)
    config = agent(tmp_path / "agent.json", prometheus_config_path="jobs.yaml")
    assert len(load.load(None, None, {"CWGPU_CONFIG": str(config)}).plan.jobs) == 1
    (said,) = complaints(None, CWGPU_CONFIG=str(tmp_path / "no.json"))
    assert said.code == "file-not-readable"
    assert said.help == "correct its name or its permissions"


def test_without_anything_the_agents_directory_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last place is where the agent's image mounts its configuration."""
    assert Path("/etc/cwagentconfig") == where.DEFAULT
    monkeypatch.setattr(where, "DEFAULT", tmp_path / "cwagentconfig")
    (said,) = complaints()
    assert said.code == "no-configuration"
    assert "CWGPU_CONFIG" in said.help
    (tmp_path / "cwagentconfig").mkdir()
    (said,) = complaints()
    assert "no .json file" in said.message
    assert "CWGPU_CONFIG" in said.help


def test_the_agents_content_variable_is_the_last_resort(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in the agent's image, a variable may hold the JSON when no file does."""
    monkeypatch.setattr(where, "DEFAULT", tmp_path / "cwagentconfig")
    content = json.dumps({**AGENT, "cwgpu": {"scrape_configs": []}})
    assert load.load(None, None, {"CW_CONFIG_CONTENT": content}).plan.files == ()
    assert load.load(tmp_path, None, {"CW_CONFIG_CONTENT": content}).plan.files == ()


def test_an_oversized_file_is_refused(tmp_path: Path) -> None:
    """Reading ends at the bound, whatever the file's size."""
    path = tmp_path / "agent.json"
    path.touch()
    os.truncate(path, limits.SIZE_BYTES + 1)
    assert complaints(path)[0].code == "file-too-large"


def test_the_error_is_the_list_of_complaints(tmp_path: Path) -> None:
    """Whoever catches the error can print it as it is."""
    config = agent(tmp_path / "agent.json", typo="x")
    with pytest.raises(ConfigurationError, match=r"error\[unknown-key\]: unknown key 'typo'"):
        load.load(config, None, {})


def test_warnings_reach_the_plan(tmp_path: Path) -> None:
    """The plan holds a sentence for everything that will not happen."""
    (tmp_path / "jobs.yaml").write_text(JOBS + "  proxy_url: socks5://a\n")
    config = agent(tmp_path / "agent.json", prometheus_config_path="jobs.yaml")
    (sentence,) = load.load(config, None, {}).plan.warnings
    assert sentence.startswith(f"{tmp_path}/jobs.yaml:4: nothing can go through this proxy")


@pytest.mark.parametrize(("written", "expected"), [({}, False), ({"report_series": True}, True)])
def test_report_series_are_asked_for_once(
    tmp_path: Path,
    written: dict[str, bool],
    expected: bool,  # noqa: FBT001 - a table
) -> None:
    """A switch in the object of our own holds for every job, wherever that is written."""
    (tmp_path / "jobs.yaml").write_text(JOBS + JOBS.replace("gpu", "other").partition("\n")[2])
    config = agent(tmp_path / "agent.json", prometheus_config_path="jobs.yaml")
    config.write_text(json.dumps({**json.loads(config.read_text()), "cwgpu": written}))
    plan = load.load(config, None, {}).plan
    assert [job.report_series for job in plan.jobs] == [expected, expected]
    inline = [{"job_name": "gpu", "static_configs": [{"targets": ["a:9400"]}]}]
    config.write_text(json.dumps({**AGENT, "cwgpu": {**written, "scrape_configs": inline}}))
    assert [job.report_series for job in load.load(config, None, {}).plan.jobs] == [expected]


def test_equal_files_give_equal_plans(tmp_path: Path) -> None:
    """A reload that changes nothing gives the same plan."""
    (tmp_path / "jobs.yaml").write_text(JOBS)
    config = agent(tmp_path / "agent.json", prometheus_config_path="jobs.yaml")
    assert load.load(config, None, {}).plan == load.load(config, None, {}).plan


def test_where_we_may_not_look_is_a_complaint(tmp_path: Path) -> None:
    """A name that the system refuses even to look up, too: what it says is passed on."""
    complaints = load.examine(tmp_path / ("x" * 5000), None, {}).complaints
    assert [each.code for each in complaints] == ["file-not-readable"]
    assert "File name too long" in complaints[0].message
