"""Scrape configurations become jobs with nothing left to interpret."""

from pathlib import Path

import pytest

from cwgpu.config import document, load
from cwgpu.config.complaint import Complaint, errors_in
from cwgpu.config.document import Form
from cwgpu.config.where import Found
from cwgpu.plan.client import Authorization, Client, Secret, Tls
from cwgpu.plan.plan import FORMATS, FileDiscovery, HttpDiscovery, Job
from cwgpu.prom.exposition import Format
from tests.config import corpus


def jobs(text: str) -> tuple[Job, ...]:
    """Make the jobs of a prometheus.yml in /etc/gpu that is right."""
    read = document.read(text.encode(), "prometheus.yml", Form.YAML)
    made, said = load.prometheus_file(Found(read.root, read.complaints, Path("/etc/gpu")))
    assert not errors_in(said)
    return made


def said(text: str) -> list[Complaint]:
    """Give what is said about a prometheus.yml."""
    read = document.read(text.encode(), "prometheus.yml", Form.YAML)
    return list(
        load.prometheus_file(Found(read.root, read.complaints, Path("/etc/gpu")))[1],
    )


def job(keys: str, before: str = "") -> Job:
    """Make the job of some keys."""
    (made,) = jobs(f"{before}scrape_configs:\n- job_name: gpu\n  {keys}\n")
    return made


def test_every_key_arrives() -> None:
    """Each key that works is in the plan as it was written."""
    path = corpus.FOLDER / "jobs.good.yaml"
    static, files = jobs(path.read_text())
    assert (static.name, static.scheme, static.metrics_path) == ("static", "https", "/federate")
    assert static.params == {"match[]": ('{job="gpu"}', "up")}
    assert (static.interval_s, static.timeout_s) == (30.0, 5.0)
    assert (static.honor_labels, static.honor_timestamps) == (True, False)
    assert (static.enable_compression, static.strict) == (False, True)
    assert static.fallback_format is Format.OPENMETRICS
    assert (static.sample_limit, static.body_size_limit_bytes) == (10_000, 4 * 1024**2)
    (group,) = static.static
    assert [each["__address__"] for each in group.targets] == ["a:9400", "[::1]:9400", "9400"]
    assert group.labels == {"Service": "dcgm-exporter", "tier": "1"}
    assert (files.name, files.interval_s, files.timeout_s, files.sample_limit) == (
        "files",
        60.0,
        5.0,
        16,
    )
    assert files.files == (
        FileDiscovery(("/etc/gpu/targets/*.json", "/etc/targets.yml"), refresh_s=60.0),
    )
    assert (len(files.relabel), len(files.metric_relabel)) == (1, 1)


@pytest.mark.parametrize(
    ("keys", "before", "interval_s", "timeout_s"),
    [
        ("", "", 60.0, 10.0),
        ("scrape_interval: 5s", "", 5.0, 5.0),
        ("scrape_interval: 0", "", 60.0, 10.0),
        ("scrape_timeout: 3s", "global: {scrape_interval: 20s}\n", 20.0, 3.0),
        ("", "global: {scrape_interval: 5s}\n", 5.0, 5.0),
        ("scrape_interval: 30s", "global: {scrape_interval: 5s}\n", 30.0, 5.0),
        ("scrape_interval: 2m", "global: {scrape_timeout: 30s}\n", 120.0, 30.0),
        ("scrape_interval: 1s500ms", "", 1.5, 1.5),
        ("scrape_interval:", "global:\n", 60.0, 10.0),
    ],
)
def test_times(keys: str, before: str, interval_s: float, timeout_s: float) -> None:
    """An interval comes from the job, global or 1m; a timeout is never longer than it."""
    made = job(keys, before)
    assert (made.interval_s, made.timeout_s) == (interval_s, timeout_s)


def test_null_is_not_the_default() -> None:
    """A key without a value is the zero value, as Go reads it."""
    made = job("honor_timestamps:\n  metrics_path: ~\n  scheme: null\n  enable_compression:")
    assert (made.honor_timestamps, made.metrics_path, made.scheme) == (False, "", "")
    assert made.enable_compression is False


def test_null_in_a_rule_is_not_the_default_either() -> None:
    """A regex without a value matches only the empty text."""
    made = job("relabel_configs: [{target_label: a, regex: , separator: , replacement: }]")
    (rule,) = made.relabel
    assert (rule.regex.pattern, rule.separator, rule.replacement) == ("", "", "")


def test_scalars_are_taken_as_they_are_written() -> None:
    """A string field takes what stands there, whatever YAML makes of it."""
    made = job("relabel_configs: [{target_label: on, regex: 0x10, replacement: 1.50}]")
    (rule,) = made.relabel
    assert (rule.target_label, rule.regex.pattern, rule.replacement) == ("on", "0x10", "1.50")


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ("sample_limit: 10.9", 10),
        ("sample_limit: 1e3", 1000),
        ("sample_limit: 0b11", 3),
        ("sample_limit:", 0),
    ],
)
def test_numbers_are_go_yamls(keys: str, expected: int) -> None:
    """Fractions are cut off, every base is read."""
    assert job(keys).sample_limit == expected


@pytest.mark.parametrize("keys", ["body_size_limit: -1MB", "body_size_limit: 0", ""])
def test_no_body_limit(keys: str) -> None:
    """Nothing, nought and less mean that there is no limit."""
    assert job(keys).body_size_limit_bytes == 0


def test_dollars_stay_in_prometheus_files() -> None:
    """Nothing of prometheus.yml is taken from the environment."""
    made = job("static_configs: [{targets: ['${HOME}:9400']}]")
    assert made.static[0].targets[0]["__address__"] == "${HOME}:9400"


def test_discoveries_of_others_are_named() -> None:
    """A job says what it asks for that nothing acts on."""
    made = job("kubernetes_sd_configs: [{role: pod}]\n  dns_sd_configs: [{names: [a]}]")
    assert made.unsupported == ("dns_sd_configs",)


def test_discoveries_by_http() -> None:
    """Each has its own client; without an interval, or with none, it is asked every minute."""
    keys = """http_sd_configs:
  - url: https://inventory/targets
    refresh_interval: 30s
    authorization: {credentials_file: token}
    tls_config: {ca_file: ca.pem}
  - {url: 'http://a:1', follow_redirects: false}
  - {url: 'http://a:2', refresh_interval: 0}"""
    made = job(keys)
    assert made.http == (
        HttpDiscovery(
            "https://inventory/targets",
            30.0,
            Client(
                credentials=Authorization("Bearer", Secret(file="/etc/gpu/token")),
                tls=Tls(ca=Secret(file="/etc/gpu/ca.pem")),
            ),
        ),
        HttpDiscovery("http://a:1", 60.0, Client(follow_redirects=False)),
        HttpDiscovery("http://a:2", 60.0),
    )
    assert made.unsupported == ()


def test_files_are_looked_at_every_five_minutes() -> None:
    """An interval of nothing is the default."""
    made = job("file_sd_configs: [{files: [a.yml], refresh_interval: 0}, {files: [b.yml]}]")
    assert [each.refresh_s for each in made.files] == [300.0, 300.0]


_LIMITS = (
    "sample_limit",
    "target_limit",
    "label_limit",
    "label_name_length_limit",
    "label_value_length_limit",
    "keep_dropped_targets",
)


@pytest.mark.parametrize("limit", _LIMITS)
def test_limits(limit: str) -> None:
    """A limit is the job's or, where that is 0 or nothing, the global one."""
    before = f"global: {{{limit}: 7}}\n"
    assert getattr(job(f"{limit}: 5", before), limit) == 5
    assert getattr(job(f"{limit}: 0", before), limit) == 7
    assert getattr(job("", before), limit) == 7
    assert getattr(job(""), limit) == 0


def test_a_negative_body_limit_is_none_whatever_global_says() -> None:
    """As in Prometheus, a job takes the global limit away with a negative one."""
    assert (
        job("body_size_limit: -1B", "global: {body_size_limit: 1MB}\n").body_size_limit_bytes == 0
    )


@pytest.mark.parametrize(
    ("keys", "before", "expected"),
    [
        ("", "", FORMATS),
        ("scrape_protocols:", "", FORMATS),
        ("scrape_protocols: [PrometheusText0.0.4]", "", ("PrometheusText0.0.4",)),
        ("", "global: {scrape_protocols: [OpenMetricsText0.0.1]}\n", ("OpenMetricsText0.0.1",)),
        (
            "scrape_protocols: [PrometheusText1.0.0, PrometheusProto, OpenMetricsText1.0.0]",
            "global: {scrape_protocols: [OpenMetricsText0.0.1]}\n",
            ("PrometheusText1.0.0", "OpenMetricsText1.0.0"),
        ),
        ("scrape_protocols: [PrometheusProto]", "", FORMATS),
    ],
)
def test_formats(keys: str, before: str, expected: tuple[str, ...]) -> None:
    """The job's are asked for, else the global ones, else all; protobuf never."""
    assert job(keys, before).formats == expected


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ("", Format.TEXT),
        ("strict: true", None),
        ("strict: true\n  fallback_scrape_protocol: PrometheusText0.0.4", Format.TEXT),
        ("strict: true\n  fallback_scrape_protocol: PrometheusText1.0.0", Format.TEXT),
        ("strict: true\n  fallback_scrape_protocol: OpenMetricsText0.0.1", Format.OPENMETRICS),
        ("fallback_scrape_protocol: OpenMetricsText1.0.0", Format.OPENMETRICS),
        ("fallback_scrape_protocol: ''", Format.TEXT),
        ("fallback_scrape_protocol: ", Format.TEXT),
        ("fallback_scrape_protocol: PrometheusProto", Format.TEXT),
        ("strict: true\n  fallback_scrape_protocol: PrometheusProto", None),
    ],
)
def test_pages_that_do_not_say_what_they_are(keys: str, expected: Format | None) -> None:
    """They are read as is written; without that as text, or not at all where we are strict."""
    assert job(keys).fallback_format is expected


@pytest.mark.parametrize(
    ("keys", "before", "expected"),
    [
        ("", "", False),
        ("metric_name_validation_scheme: legacy", "", True),
        ("", "global: {metric_name_validation_scheme: legacy}\n", True),
        (
            "metric_name_validation_scheme: utf8",
            "global: {metric_name_validation_scheme: legacy}\n",
            False,
        ),
        (
            "metric_name_validation_scheme: utf9",
            "global: {metric_name_validation_scheme: legacy}\n",
            False,
        ),
    ],
)
def test_schemes_of_names(keys: str, before: str, expected: bool) -> None:  # noqa: FBT001 - a table
    """The job's scheme counts, else the global one; one that nobody knows is utf8."""
    assert job(keys, before).legacy_names is expected


def test_an_unknown_scheme_is_told() -> None:
    """Prometheus refuses it in global if there are jobs, and overlooks it in a job."""
    key = "metric_name_validation_scheme: utf9"
    target = "static_configs: [{targets: ['a:1']}]"
    (of_job,) = said(f"scrape_configs: [{{job_name: gpu, {key}, {target}}}]")
    assert (of_job.code, of_job.level.value) == ("unknown-scheme", "warning")
    (common,) = said(f"global: {{{key}}}\nscrape_configs: [{{job_name: gpu, {target}}}]")
    assert (common.code, common.level.value) == ("wrong-value", "error")
    assert [each.code for each in said(f"global: {{{key}}}")] == ["no-jobs"]


def test_external_labels_have_names() -> None:
    """Nothing acts on them, but a label without a name is refused, as in Prometheus."""
    found = said("global: {external_labels: {~: a}}\nscrape_config_files: [a.yml]\n")
    assert [(each.code, each.level.value) for each in found if each.level.value != "note"] == [
        ("bad-label-name", "error")
    ]


def test_protobuf_is_not_read() -> None:
    """Where it stands among others that is a note, where it stands alone a warning."""
    target = "static_configs: [{targets: ['a:1']}]"
    text = f"scrape_configs: [{{job_name: gpu, scrape_protocols: %s, {target}}}]"
    (among,) = said(text % "[PrometheusProto, PrometheusText0.0.4]")
    assert (among.code, among.level.value) == ("protobuf-not-read", "note")
    (alone,) = said(text % "[PrometheusProto]")
    assert (alone.code, alone.level.value) == ("protobuf-not-read", "warning")


def test_keys_without_effect_are_listed_once() -> None:
    """However many jobs have them; where failed scrapes are told instead is said."""
    jobs_text = "".join(
        f"- job_name: j{index}\n  static_configs: [{{targets: ['a:{index}']}}]\n"
        "  track_timestamps_staleness: true\n  native_histogram_bucket_limit: 1\n"
        "  native_histogram_min_bucket_factor: 1.1\n  enable_http2: false\n"
        "  scrape_failure_log_file: /log\n"
        for index in range(3)
    )
    elsewhere = "alerting: {}\nrule_files: [a]\nremote_write: []\nremote_read: []\nstorage: {}\n"
    (note,) = said(f"{elsewhere}tracing: {{}}\notlp: {{}}\nscrape_configs:\n{jobs_text}")
    assert (note.code, note.level.value) == ("not-handled-here", "note")
    assert note.message == (
        "nothing here acts on: scrape_configs[].enable_http2, "
        "scrape_configs[].scrape_failure_log_file, scrape_configs[].track_timestamps_staleness, "
        "scrape_configs[].native_histogram_bucket_limit, "
        "scrape_configs[].native_histogram_min_bucket_factor, alerting, rule_files, storage, "
        "tracing, remote_write, remote_read, otlp"
    )
    assert note.help == "the journal tells of failed scrapes"


@pytest.mark.parametrize("factor", ["x", "'1.1'", "[1]"])
def test_a_factor_is_a_number(factor: str) -> None:
    """What is no number is refused, though nothing acts on it."""
    text = f"scrape_configs: [{{job_name: gpu, native_histogram_min_bucket_factor: {factor}}}]"
    assert "wrong-type" in {each.code for each in said(text)}


@pytest.mark.parametrize("factor", ["1", "1.1", "1_0.5", "-.inf", ".NaN", ""])
def test_every_number_is_a_factor(factor: str) -> None:
    """Numbers are those of YAML."""
    assert job(f"native_histogram_min_bucket_factor: {factor}").name == "gpu"
