"""`cwgpu check` as a process: findings on stdout, a last word on stderr, an exit code."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from cwgpu.cli import exits
from tests.cli import program

DATA = Path(__file__).parents[1] / "data"
AGENT = "tests/data/article/cwagentconfig.json"
JOBS = "tests/data/article/prometheus-dcgm-job.yaml"
STOCK = "tests/data/manifests/prometheus-eks.yaml"
PROCESSOR = "logs.metrics_collected.prometheus.emf_processor"
FAULTS = [
    ("label-never-set", AGENT, 10),
    ("path-not-served", JOBS, 5),
    ("relabel-never-matches", JOBS, 11),
    ("lost-backslash", JOBS, 14),
    ("unknown-meta-label", JOBS, 23),
]
"""What is wrong with the article's two files, as far as can be known without a cluster."""


def found(ended: program.Ended) -> list[tuple[str, str, int]]:
    """Give code, file and line of each finding in JSON."""
    complaints = json.loads(ended.stdout)["complaints"]
    return [(each["code"], each["file"], each["line"]) for each in complaints]


def test_the_articles_five_faults() -> None:
    """Each is named with its line; warnings alone end well, unless they are denied."""
    ended = program.run("check", AGENT, JOBS, "-o", "json", env={"CLUSTER_NAME": "lab"})
    assert ended.code == exits.OK
    assert [each for each in found(ended) if each[0] != "idle-gpus-unseen"] == FAULTS
    denied = program.run("check", "--deny-warnings", AGENT, JOBS, env={"CLUSTER_NAME": "lab"})
    assert denied.code == exits.WARNINGS
    for code, file, line in FAULTS:
        head, _, rest = denied.stdout.partition(f"warning[{code}]: ")
        assert rest.splitlines()[1].startswith(f"  --> {file}:{line}:"), head
    assert "write '.*dcgm.*'" in denied.stdout
    assert r"write '([^:]+)(?::\d+)?'" in denied.stdout


def test_the_same_by_flag_and_environment() -> None:
    """The jobs can be given by --prometheus-config; every flag has its variable."""
    by_flag = program.run("check", AGENT, "--prometheus-config", JOBS, "-o", "json")
    env = {"CWGPU_PROMETHEUS_CONFIG": JOBS, "CWGPU_OUTPUT": "json", "CWGPU_DENY_WARNINGS": "1"}
    by_variable = program.run("check", AGENT, env=env)
    assert (
        found(by_flag)
        == found(by_variable)
        == found(program.run("check", AGENT, JOBS, "--output", "json"))
    )
    assert (by_flag.code, by_variable.code) == (exits.OK, exits.WARNINGS)


def test_the_json_form() -> None:
    """One object with the counts and every complaint whole."""
    ended = program.run("check", AGENT, JOBS, "-o", "json", env={"CLUSTER_NAME": "lab"})
    (line,) = ended.stdout.splitlines()
    whole = json.loads(line)
    assert (whole["errors"], whole["warnings"], whole["notes"]) == (0, 5, 1)
    assert len(whole["complaints"]) == 6
    assert whole["complaints"][0] == {
        "level": "warning",
        "code": "label-never-set",
        "file": AGENT,
        "line": 10,
        "column": 17,
        "path": f"{PROCESSOR}.metric_declaration[0].source_labels[0]",
        "message": "no rule of any job sets the label Service, nor does the exporter, unless a "
        f"Kubernetes object has a label Service (labelmap, {JOBS}:17)",
        "label": "",
        "help": "add to relabel_configs of job 'kubernetes-pod-dcgm-exporter': "
        '{"target_label": "Service", "replacement": "dcgm-exporter"}\nalso on line 15',
    }
    assert ended.stderr == "2 files checked: 5 warnings, 1 note\n"


def test_nothing_to_complain_about(tmp_path: Path) -> None:
    """Then stdout is empty, and warnings that are denied are none."""
    jobs = tmp_path / "jobs.yaml"
    jobs.write_text("scrape_configs: [{job_name: a, static_configs: [{targets: ['a:9400']}]}]\n")
    ended = program.run("check", "--deny-warnings", str(jobs))
    assert (ended.code, ended.stdout) == (exits.OK, "")
    assert ended.stderr == "1 file checked: nothing to complain about\n"


def test_errors(tmp_path: Path) -> None:
    """An error counts more than warnings that are denied."""
    jobs = tmp_path / "jobs.yaml"
    jobs.write_text("scrape_configs: [{job_name: a, colour: red}]\n")
    ended = program.run("check", "--deny-warnings", str(jobs))
    assert ended.code == exits.CONFIGURATION
    assert "error[unknown-key]: unknown key 'colour'" in ended.stdout
    assert ended.stderr == "1 file checked: 1 error, 1 warning\n"


@pytest.mark.parametrize(
    ("arguments", "file"),
    [
        (["/proc/self/mem"], "/proc/self/mem"),
        (["nowhere.yaml"], "nowhere.yaml"),
        ([AGENT, "nowhere"], "nowhere"),
        ([AGENT, "--prometheus-config", "nowhere.yaml"], "nowhere.yaml"),
    ],
)
def test_a_file_that_cannot_be_read(arguments: list[str], file: str) -> None:
    """A finding like others names it, with the system's reason, whether it is there or not."""
    ended = program.run("check", *arguments)
    assert ended.code == exits.CONFIGURATION
    head, _, rest = ended.stdout.partition("error[file-not-readable]: the file cannot be read: ")
    assert rest.splitlines()[1] == f"  --> {file}", head


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "Missing argument 'FILE...'"),
        ([AGENT, "--kind", "helm"], "'helm' is not one of"),
    ],
)
def test_a_wrong_command_line(arguments: list[str], said: str) -> None:
    """What is wrong with it is named, and nothing is checked."""
    ended = program.run("check", *arguments)
    assert (ended.code, ended.stdout) == (exits.USAGE, "")
    assert said in ended.stderr


def test_manifests_and_kinds() -> None:
    """A manifest tells what it is; --kind says otherwise."""
    ended = program.run("check", STOCK, "-o", "json")
    assert found(ended) == []
    forced = program.run("check", "--kind", "prometheus", STOCK, "-o", "json")
    assert forced.code == exits.CONFIGURATION
    assert [code for code, _, _ in found(forced)] == ["wrong-file"]


def test_the_shipped_default() -> None:
    """Our own configuration has no errors, and nothing that the rules object to."""
    arguments = ("check", "--deny-warnings", "config/cwagent.json", "-o", "json")
    ended = program.run(*arguments, env={"CLUSTER_NAME": "lab"})
    assert ended.code == exits.OK
    assert {code for code, _, _ in found(ended)} == {"variable-not-set"}


def test_a_pipe_that_is_closed() -> None:
    """`cwgpu check FILE | head -1` ends without a word."""
    command = f"{sys.executable} -m cwgpu check {AGENT} {JOBS} | head -1"
    done = subprocess.run(
        ["bash", "-c", command], cwd=program.ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("warning[")
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "library",
    ["boto3", "botocore", "aiohttp", "asyncio", "prometheus_client", "rich"],
)
def test_what_it_does_not_load(library: str, loaded: set[str]) -> None:
    """Reading files needs no client of anything, which is what makes it quick."""
    assert "cwgpu.config.review" in loaded
    assert library not in loaded


@pytest.fixture(scope="module")
def loaded() -> set[str]:
    """Check the article's files, and give the modules that this took."""
    return program.imported("check", AGENT, JOBS)
