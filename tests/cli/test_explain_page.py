"""`cwgpu explain page`: pages of Prometheus' own cases, of real exporters and of a live one."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from cwgpu.cli import exits
from cwgpu.cli.main import cli
from cwgpu.config import default
from cwgpu.model.errors import ConfigurationError, ExpositionError, UnavailableError, UsageError
from tests.cli import program
from tests.fakes.exporter import OPENMETRICS, Answer, FakeExporter
from tests.prom.test_exposition import ANSWERED, HANDED_OUT, body_of, go_number

DATA = Path(__file__).parents[1] / "data"
GOLDEN = Path(__file__).parents[1] / "golden/explain"
SAMPLES = sorted((DATA / "samples").iterdir())
ENVIRON = {"CLUSTER_NAME": "lab", "DCGM_EXPORTER_URL": "http://10.0.0.1:9400/metrics"}
SHIPPED = ("-c", str(default.path()), "--job", "dcgm-exporter")
NUMBER = "allowed is a number such as 42, 0.5, 1e3, NaN, +Inf or -Inf"

Json = dict[str, Any]


def page(*arguments: str, stdin: bytes = b"") -> tuple[int, str, str]:
    """Run within this process; gives exit code, stdout and stderr."""
    done = CliRunner().invoke(
        cli, ["explain", "page", *arguments], input=stdin, standalone_mode=False, env=ENVIRON
    )
    if done.exception is not None:
        raise done.exception
    return done.return_value, done.stdout, done.stderr


def samples(*arguments: str, stdin: bytes = b"") -> list[Json]:
    """Give the samples of a page that has no fault."""
    code, stdout, stderr = page("--samples", "-o", "jsonl", *arguments, stdin=stdin)
    assert (code, stderr) == (exits.OK, "")
    return [json.loads(line) for line in stdout.splitlines()]


@pytest.fixture(scope="module")
def exporter() -> Iterator[FakeExporter]:
    """An exporter on loopback, in a thread of its own."""
    with FakeExporter() as served:
        yield served


# --- What the parser reads ------------------------------------------------------------------------


@pytest.mark.parametrize("row", ANSWERED, ids=lambda row: row["id"])
def test_samples_are_those_of_prometheus(row: Json, exporter: FakeExporter) -> None:
    """Strictly read, each recorded page gives the samples of 3.0.1, and fails where it fails."""
    exporter.answer(Answer(body=body_of(row), content_type=row["content_type"] or None))
    code, stdout, stderr = page(
        *("--samples", "--strict", "-o", "jsonl", "--page", exporter.url),
    )
    found = [json.loads(line) for line in stdout.splitlines()]
    expected = [series for kind, *series in row["entries"] if kind == "series"]
    expected = expected[: len(expected) - (row["id"] in HANDED_OUT)]
    assert [_recorded(one) for one in found] == [
        {key: value for key, value in series.items() if key != "repeated"} for [series] in expected
    ]
    # A label that is there twice fails Prometheus' storage, after its parser.
    fails = bool(row.keys() & {"error", "content_type_error"}) or any(
        "repeated" in series for [series] in expected
    )
    assert code == (exits.RUNTIME if fails else exits.OK)
    assert len(stderr.splitlines()) == fails


def _recorded(sample: Json) -> Json:
    """Give a sample as the rows write it."""
    assert list(sample) == ["name", "labels", "value", "value_text", "timestamp", "kind"]
    series = {
        "name": sample["name"],
        "labels": sample["labels"],
        "value": go_number(float(sample["value"])),
    }
    if sample["timestamp"] is not None:
        series["timestamp_ms"] = sample["timestamp"]
    return series


def test_values_types_and_times() -> None:
    """JSON knows no NaN and no infinities: they are words; times are milliseconds."""
    body = b'# TYPE h histogram\nh_bucket{le="1"} NaN 5\nh_sum +Inf\nx -inf\nx .5\n'
    found = samples("--page", "-", stdin=body)
    assert [(one["value"], one["value_text"], one["timestamp"], one["kind"]) for one in found] == [
        ("NaN", "NaN", 5, "histogram"),
        ("+Inf", "+Inf", None, "histogram"),
        ("-Inf", "-inf", None, "unknown"),
        (0.5, ".5", None, "unknown"),
    ]
    assert found[0]["labels"] == {"le": "1.0"}


def test_samples_as_one_list_and_as_text() -> None:
    """The same in one JSON text, and for a person, who gets no control characters."""
    body = b'# TYPE m gauge\nm{a="x\ny",b="\x1b[31m"} 1 5\nn 2\n'
    code, stdout, _ = page("--samples", "--page", "-", "-o", "json", stdin=body)
    assert code == exits.OK
    assert [one["name"] for one in json.loads(stdout)] == ["m", "n"]
    assert page("--samples", "--page", "-", stdin=body)[1] == (
        'gauge          m{a="x\\ny",b="\\u001b[31m"} 1 5\nunknown        n 2\n'
    )


def test_a_bad_line_costs_itself_or_the_page(tmp_path: Path) -> None:
    """Every fault is told with its place; the exit code is that of the whole page."""
    path = tmp_path / "p.prom"
    path.write_bytes(b'a 1\nb{c="d"} x\ne 2\nf y\n')
    faults = [f'{path}:2:10: found "x", {NUMBER}\n', f'{path}:4:3: found "y", {NUMBER}\n']
    common = ("--samples", "--page", str(path))
    lenient = (exits.OK, "unknown        a 1\nunknown        e 2\n", "".join(faults))
    assert page(*common) == page(*common, "--lenient") == lenient
    assert page(*common, "--strict") == (exits.RUNTIME, "unknown        a 1\n", faults[0])


def test_the_format_of_a_file(tmp_path: Path) -> None:
    """--format says it, else the ending; without either it is text."""
    body = b"m 1\n# EOF\nn 2\n"
    for name, flags, count in (
        ("p.om", (), 1),
        ("p.om", ("--format", "text"), 2),
        ("p.prom", (), 2),
        ("p", ("--format", "openmetrics"), 1),
    ):
        path = tmp_path / name
        path.write_bytes(body)
        _, stdout, _ = page("--samples", "--page", str(path), *flags)
        assert len(stdout.splitlines()) == count


def test_the_format_of_an_answer(exporter: FakeExporter) -> None:
    """Content-Type counts first, then --format; a strict reader without either refuses the page."""
    arguments = ("--page", exporter.url)
    body = b"m 1\n# EOF\n"
    exporter.answer(Answer(body=body, content_type=OPENMETRICS))
    assert len(samples(*arguments, "--format", "text")) == 1
    assert len(samples(*arguments, "--strict")) == 1
    exporter.answer(Answer(body=b"m 1\n", content_type="text/html"))
    assert len(samples(*arguments)) == 1
    assert len(samples(*arguments, "--strict", "--format", "text")) == 1
    code, _, stderr = page("--samples", *arguments, "--format", "openmetrics")
    assert (code, stderr.count("ends without # EOF")) == (exits.OK, 1)
    code, stdout, stderr = page("--samples", *arguments, "--strict")
    assert (code, stdout) == (exits.RUNTIME, "")
    assert stderr.startswith(f'{exporter.url}: the answer has the Content-Type "text/html"; ')


def test_samples_as_a_job_reads_them(tmp_path: Path) -> None:
    """Its strict counts, unless the command line says otherwise; prometheus.yml is enough."""
    jobs = tmp_path / "jobs.yml"
    jobs.write_text("scrape_configs: [{job_name: a, strict: true}, {job_name: b}]\n")
    common = ("--samples", "-c", str(jobs), "--page", "-")
    for flags, code in (
        (("--job", "a"), exits.RUNTIME),
        (("--job", "a", "--lenient"), exits.OK),
        (("--job", "b"), exits.OK),
        (("--job", "b", "--strict"), exits.RUNTIME),
    ):
        assert page(*common, *flags, stdin=b"x y\n")[0] == code


def test_samples_need_no_configuration(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the environment names one, it is read for a job that is asked for, and only then."""
    monkeypatch.setenv("CWGPU_CONFIG", SHIPPED[1])
    assert len(samples("--page", "-", stdin=b"m 1\n")) == 1
    assert len(samples("--page", "-", "--job", "dcgm-exporter", stdin=b"m 1\n")) == 1
    with pytest.raises(UsageError, match="did you mean"):
        samples("--page", "-", "--job", "dcgm-exporte")


# --- Where series go ------------------------------------------------------------------------------


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name)
def test_real_pages(path: Path) -> None:
    """By the shipped configuration, every sample line has its answer, and the account adds up."""
    code, stdout, stderr = page(*SHIPPED, "--page", str(path), "-o", "json")
    assert (code, stderr) == (exits.OK, "")
    whole = json.loads(stdout)
    outcomes = Counter(each["outcome"] for each in whole["series"])
    reasons = Counter(each["reason"] for each in whole["series"] if each["reason"])
    lines = [line for line in path.read_text("utf-8").splitlines() if line.strip()]
    assert whole["samples"] == sum(not line.startswith("#") for line in lines)
    assert outcomes["sent"] == whole["selected"]
    assert sum(outcomes.values()) == whole["samples"]
    assert reasons == whole["dropped"]
    sent = [each for each in whole["series"] if each["outcome"] == "sent"]
    assert all(each["dimensions"] for each in sent)
    _, stdout, _ = page(*SHIPPED, "--page", str(path), "-o", "jsonl")
    for line, each in zip(stdout.splitlines(), whole["series"], strict=True):
        if "event" in each:
            each["event"] = whole["events"][each["event"]]
        assert json.loads(line) == each


@pytest.mark.parametrize(
    "path",
    [path for path in SAMPLES if path.name[:2] in {"02", "17"}],
    ids=lambda path: path.name,
)
def test_what_a_person_reads(
    path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two pages as text, as committed: eight GPUs in one paragraph; bad lines and blank values."""
    monkeypatch.chdir(DATA)
    code, stdout, _ = page(*SHIPPED, "--page", f"samples/{path.name}")
    golden = GOLDEN / f"{path.stem}.txt"
    if request.config.getoption("--update-golden"):
        golden.write_text(stdout, "utf-8")
    assert (code, stdout) == (exits.OK, golden.read_text("utf-8"))


def configuration(path: Path, *addresses: str, **job: object) -> str:
    """Write an agent's JSON with static targets; gives its path."""
    program.configuration(path, *addresses)
    if job:
        document = json.loads(path.read_text("utf-8"))
        document["cwgpu"]["scrape_configs"][0] |= job
        path.write_text(json.dumps(document), "utf-8")
    return str(path)


def test_a_live_exporter_is_asked_as_the_job_asks_it(
    exporter: FakeExporter, tmp_path: Path
) -> None:
    """Its own settings of HTTP; the labels are those of the static target with that URL."""
    static = [{"targets": [exporter.address], "labels": {"Service": "dcgm", "zone": "a"}}]
    config = configuration(
        tmp_path / "a.json", static_configs=static, enable_compression=False, scrape_timeout="1s"
    )
    for body, content_type in (
        (program.page(), "text/plain"),
        (program.page() + b"# EOF\n", OPENMETRICS),
    ):
        exporter.answer(Answer(body=body, content_type=content_type))
        code, stdout, stderr = page("-c", config, "--page", exporter.url, "-o", "json")
        assert (code, stderr) == (exits.OK, "")
        whole = json.loads(stdout)
        assert (whole["page"], whole["content_type"]) == (exporter.url, content_type)
        assert whole["target_labels"] == {
            "Service": "dcgm",
            "zone": "a",
            "instance": exporter.address,
            "job": "dcgm",
        }
        assert whole["dropped"] == {"unselected": 1, "counter_baseline": 1}
    headers = exporter.requests[-1].headers
    assert headers["accept-encoding"] == "identity"
    assert headers["x-prometheus-scrape-timeout-seconds"] == "1"


def test_a_dimension_set_that_cannot_be(tmp_path: Path) -> None:
    """What is sent by the others says which one is skipped, and why."""
    path = program.configuration(tmp_path / "a.json", "10.0.0.1:9400")
    document = json.loads(path.read_text("utf-8"))
    processor = document["logs"]["metrics_collected"]["prometheus"]["emf_processor"]
    processor["metric_declaration"][0]["dimensions"].append(["Service"])
    path.write_text(json.dumps(document), "utf-8")
    body = program.page().replace(b"train-0", "é".encode())
    code, stdout, _ = page("-c", str(path), "--page", "-", stdin=body)
    assert code == exits.OK
    by, skipped = stdout.partition("    by ")[2].splitlines()[:2]
    assert by == "[Service]"
    assert skipped == "    not by [Service, pod]: the value of pod holds a character outside ASCII"


def test_what_is_told_of_a_series(tmp_path: Path) -> None:
    """The members of one line, for what is sent, what waits for a second scrape and what is not."""
    path = program.configuration(tmp_path / "a.json", "10.0.0.1:9400")
    document = json.loads(path.read_text("utf-8"))
    processor = document["logs"]["metrics_collected"]["prometheus"]["emf_processor"]
    processor["metric_unit"] = {"util": "Percent"}
    path.write_text(json.dumps(document), "utf-8")
    body = program.page() + b"m x\n"
    code, stdout, _ = page("-c", str(path), "--page", "-", "-o", "jsonl", stdin=body)
    assert code == exits.OK
    util, energy, temperature, bad = (json.loads(line) for line in stdout.splitlines())
    event = {
        "namespace": "ContainerInsights/Prometheus",
        "log_group": "/aws/containerinsights/lab/prometheus",
        "log_stream": "dcgm",
        "timestamp": None,
        "labels": {
            "ClusterName": "lab",
            "Service": "dcgm",
            "instance": "10.0.0.1:9400",
            "job": "dcgm",
            "pod": "train-0",
        },
    }
    assert util == {
        "line": 2,
        "name": "util",
        "labels": {"pod": "train-0"},
        "value": 87,
        "value_text": "87",
        "timestamp": None,
        "kind": "gauge",
        "outcome": "sent",
        "reason": None,
        "detail": None,
        "metric": "util",
        "unit": "Percent",
        "resolution": None,
        "treatment": "gauge",
        "dimensions": [[["Service", "pod"]]],
        "skipped": None,
        "event": event,
    }
    assert (energy["outcome"], energy["reason"]) == ("dropped", "counter_baseline")
    assert (energy["treatment"], energy["event"]) == ("delta", event)
    assert energy["detail"] == "from the second scrape on its increase is sent"
    assert (temperature["reason"], temperature["metric"]) == ("unselected", None)
    assert temperature["detail"] == "no metric_selector finds its name"
    assert bad == {
        "line": 7,
        "outcome": "dropped",
        "reason": "bad_line",
        "detail": f'column 3: found "x", {NUMBER}',
        "text": "m x",
    }


def test_what_a_person_reads_of_odd_pages(tmp_path: Path) -> None:
    """The page's own times, plain fields of the log; of many bad lines the first ten."""
    config = configuration(tmp_path / "a.json", "10.0.0.1:9400")
    document = json.loads(Path(config).read_text("utf-8"))
    document["cwgpu"] |= {"unselected": "log", "storage_resolution": {"^util$": 1}}
    Path(config).write_text(json.dumps(document), "utf-8")
    body = b'# TYPE util gauge\nutil{pod="p"} 1 1765000000001\n# TYPE other gauge\nother 2\n'
    code, stdout, _ = page("-c", config, "--page", "-", stdin=body + b"x y\n" * 12)
    assert code == exits.OK
    lines = stdout.splitlines()
    assert any(line.endswith(", with the page's own time 1765000000001:") for line in lines)
    assert "        util  gauge, every 1 s" in lines
    at = lines.index("    without dimensions, as plain fields of the log:")
    assert lines[at + 1] == "        other  gauge"
    assert sum(line.startswith("      line ") for line in lines) == 10
    assert "      and 2 more; -o json has all" in lines
    assert lines[-1] == "14 samples: 2 selected, 12 dropped: bad_line 12"
    assert page("-c", config, "--page", "-")[1].splitlines()[-2:] == [
        "SENT: nothing",
        "0 samples: 0 selected, 0 dropped",
    ]


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ((), {"Service": "dcgm", "job": "dcgm", "instance": "p.prom"}),
        (
            ("--label", "pod=a", "--label", "zone="),
            {"Service": "dcgm", "job": "dcgm", "instance": "p.prom", "pod": "a"},
        ),
        (("--label", "Service=x=y"), {"Service": "x=y", "job": "dcgm", "instance": "p.prom"}),
        (("--label", "instance=i"), {"Service": "dcgm", "job": "dcgm", "instance": "i"}),
    ],
)
def test_the_labels_of_a_target(
    flags: tuple[str, ...], expected: dict[str, str], tmp_path: Path
) -> None:
    """A file has the labels that all static targets have, and what the command line says."""
    config = configuration(tmp_path / "a.json", "10.0.0.1:9400", "10.0.0.2:9400")
    path = tmp_path / "p.prom"
    path.write_bytes(program.page())
    _, stdout, _ = page("-c", config, "--page", str(path), "-o", "json", *flags)
    assert json.loads(stdout)["target_labels"] == expected


def test_a_target_that_only_discovery_knows(exporter: FakeExporter, tmp_path: Path) -> None:
    """Without static targets there are job and instance, and at once a hint about --label."""
    config = configuration(
        tmp_path / "a.json", static_configs=None, file_sd_configs=[{"files": ["t.json"]}]
    )
    exporter.answer(program.page())
    secretive = exporter.url.replace("://", "://me:secret@")
    code, stdout, _ = page("-c", config, "--page", secretive)
    assert code == exits.OK
    assert f'instance = "{exporter.address}"' in stdout
    assert 'label_matcher "dcgm" finds nothing in Service = ""' in stdout
    hint = "  without labels that discovery gives: --label NAME=VALUE gives them"
    assert stdout.splitlines()[1] == hint
    assert "secret" not in stdout
    assert stdout.endswith("3 samples: 0 selected, 3 dropped: unselected 3\n")


def test_labels_that_discovery_would_give() -> None:
    """Those that the job's rules name are told, until they are given; a static target has all."""
    shipped = (*SHIPPED[:3], "kubernetes-pod-dcgm-exporter", "--page", "-")
    body = program.page()
    _, stdout, _ = page(*shipped, stdin=body)
    hint = "  without labels that discovery gives, such as Service, Namespace, NodeName: --label "
    assert stdout.splitlines()[1].startswith(hint)
    given = ("--label", "Service=dcgm-exporter", "--label", "Namespace=gpu")
    _, stdout, _ = page(*shipped, *given, stdin=body)
    assert "  without labels that discovery gives, such as NodeName: --label" in stdout
    _, stdout, _ = page(*shipped, *given, "--label", "NodeName=n", stdin=body)
    assert "that discovery gives" not in stdout
    _, stdout, _ = page(*SHIPPED, "--page", "-", stdin=body)
    assert "that discovery gives" not in stdout


def test_a_page_that_is_refused(tmp_path: Path) -> None:
    """Then nothing of it is sent, and the error says by which rule of the job."""
    config = configuration(tmp_path / "a.json", "a:9400", sample_limit=2)
    with pytest.raises(ExpositionError, match=r"^stdin: the page is refused.*\(sample_limit\)$"):
        page("-c", config, "--page", "-", stdin=program.page())
    config = configuration(tmp_path / "a.json", "a:9400")
    with pytest.raises(ExpositionError, match=r"refused, nothing of it is sent: line 1: column 3"):
        page("-c", config, "--strict", "--page", "-", stdin=b"x y\n")


# --- What cannot be answered ----------------------------------------------------------------------


def test_an_exporter_that_gives_no_page(exporter: FakeExporter) -> None:
    """The sentence is that of a scrape, and the exit code that of an absent service."""
    exporter.answer(Answer(status=500))
    with pytest.raises(UnavailableError, match=r"no page: .*HTTP status 500.*\(http_status\)$"):
        page("--samples", "--page", exporter.url)
    ended = program.run("explain", "page", "--samples", "--page", "http://127.0.0.1:1/metrics")
    assert (ended.code, ended.stdout) == (exits.UNAVAILABLE, "")
    assert ended.stderr.startswith("cwgpu: no page: 127.0.0.1:1: connection refused; ")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--samples", "--page", "nowhere.prom"), "--page nowhere.prom cannot be read: No such"),
        (("--samples", "--page", "."), "--page . cannot be read: Is a directory"),
        (
            (*SHIPPED, "--page", "-", "--label", "pod"),
            "--label 'pod' is no label: write NAME=VALUE",
        ),
        ((*SHIPPED, "--page", "-", "--label", "=x"), "--label '=x' is no label"),
        ((*SHIPPED[:2], "--page", "-"), "has several jobs; name one with --job: dcgm-exporter, k"),
        ((*SHIPPED[:2], "--samples", "--page", "-"), "name one with --job: dcgm-exporter, k"),
        ((*SHIPPED[:3], "dcgm-exporte", "--page", "-"), "did you mean 'dcgm-exporter'?"),
        (("-c", "jobs.yml", "--page", "-"), "jobs.yml says which pages are read, not what is sent"),
    ],
)
def test_a_wrong_command_line(arguments: tuple[str, ...], said: str) -> None:
    """It is told what to write."""
    with pytest.raises(UsageError) as error:
        page(*arguments)
    assert said in str(error.value)


def test_a_wrong_configuration(tmp_path: Path) -> None:
    """Its complaints are those of check."""
    path = tmp_path / "a.json"
    path.write_text("{}")
    with pytest.raises(ConfigurationError, match="prometheus"):
        page("-c", str(path), "--page", "-")


def test_nothing_is_loaded_that_is_not_needed() -> None:
    """A file's samples need no configuration and no HTTP."""
    imported = program.imported("explain", "page", "--samples", "--page", str(SAMPLES[0]))
    assert not imported & {"aiohttp", "pydantic", "boto3", "asyncio"}
