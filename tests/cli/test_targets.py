"""``cwgpu targets`` as a process: what there is, what is not scraped, and why."""

import json
import signal
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import pytest

from cwgpu.cli import exits
from tests.cli import program
from tests.fakes import cluster
from tests.fakes.exporter import Answer, FakeExporter
from tests.fakes.kubernetes import FakeKubernetes

ARTICLE = program.ROOT / "tests/data/article"
JOB = ("-c", "cwagentconfig.json", "--prometheus-config", "prometheus-dcgm-job.yaml")
SHIPPED = ("-c", str(program.ROOT / "config/cwagent.json"))
GOLDEN = program.ROOT / "tests/golden/targets"
READ = {"pods": ("list", "watch")}

Json = dict[str, Any]


@pytest.fixture
def api() -> Iterator[FakeKubernetes]:
    """Run a cluster with NVIDIA's operator, and with pods that have nothing to do with it."""
    with FakeKubernetes(tls=True) as fake:
        for document in (*cluster.DEPLOYERS["operator"].documents(), *cluster.BYSTANDERS):
            fake.put(document)
        yield fake


@pytest.fixture
def kubeconfig(api: FakeKubernetes, tmp_path: Path) -> tuple[str, str]:
    """Write a kubeconfig of a user who may read pods, as the flag."""
    path = api.kubeconfig(tmp_path / "kubeconfig", api.grant("reader", READ))
    return "--kubeconfig", str(path)


def asked(*arguments: str, **env: str) -> program.Ended:
    """Ask beside the article's files."""
    return program.run("targets", *arguments, cwd=ARTICLE, env={"CLUSTER_NAME": "lab", **env})


def jobs(done: program.Ended) -> list[Json]:
    """Give the jobs of an answer in JSON."""
    found: list[Json] = json.loads(done.stdout)["jobs"]
    return found


def pods_only(job: Json) -> set[str]:
    """Name the objects of the targets that are kept."""
    return {each["source"].rpartition("/")[2] for each in job["targets"]}


@pytest.mark.parametrize(
    ("name", "arguments", "code"),
    [
        ("article.txt", JOB, exits.NOTHING_FOUND),
        ("article-all.txt", (*JOB, "--all"), exits.NOTHING_FOUND),
        ("shipped.txt", SHIPPED, exits.OK),
        ("shipped-wide.txt", (*SHIPPED, "-o", "wide"), exits.OK),
        ("shipped.json", (*SHIPPED, "-o", "json"), exits.OK),
    ],
)
def test_what_is_printed(
    name: str,
    arguments: tuple[str, ...],
    code: int,
    kubeconfig: tuple[str, str],
    request: pytest.FixtureRequest,
) -> None:
    """The answer is the one that is committed, and nobody is scraped.

    Nothing else is said, but for the exporter that the shipped configuration is not told of.
    """
    done = asked(*arguments, *kubeconfig)
    printed = done.stdout.replace(f"{program.ROOT}/", "")
    if name.endswith(".json"):
        printed = json.dumps(json.loads(printed), indent=1, ensure_ascii=False) + "\n"
    golden = GOLDEN / name
    if request.config.getoption("--update-golden"):
        golden.write_text(printed, "utf-8")
    said = "cwgpu: job dcgm-exporter: DCGM_EXPORTER_URL is not set, " if "shipped" in name else ""
    assert (done.code, done.stderr[: len(said) or None]) == (code, said)
    assert done.stderr.count("\n") == bool(said)
    assert printed == golden.read_text("utf-8")


def test_the_page_shows_what_is_printed() -> None:
    """The example of docs/kubernetes.md is the answer that is committed."""
    page = (program.ROOT / "docs/kubernetes.md").read_text("utf-8")
    shown = page.partition("$ cwgpu targets ")[2].partition("\n")[2].partition("```")[0]
    assert shown == (GOLDEN / "article.txt").read_text("utf-8")


def test_the_articles_job_is_explained(kubeconfig: tuple[str, str]) -> None:
    """None is kept, by the first rule; what was meant is seen first, with what matches it."""
    done = asked(*JOB, *kubeconfig, "-o", "json")
    assert done.code == exits.NOTHING_FOUND
    (job,) = jobs(done)
    assert (job["active"], job["found"]) == (0, 8)
    (group,) = job["groups"]
    assert group["count"] == 8
    assert group["dropped_by"] == {
        "index": 0,
        "place": "prometheus-dcgm-job.yaml:9",
        "action": "keep",
        "source_labels": ["__meta_kubernetes_pod_container_name"],
        "target_label": "",
        "regex": "^DCGM.*$",
    }
    first, *others = group["values"]
    assert (first["value"], first["count"]) == ("nvidia-dcgm-exporter", 2)
    assert group["hint"] == first["hint"]
    assert "this matches: (?i).*DCGM.*" in group["hint"]
    assert {each["hint"] for each in others} == {""}


def test_the_shipped_configuration_finds_every_deployers_exporters(
    api: FakeKubernetes, kubeconfig: tuple[str, str]
) -> None:
    """Two of each, and none of the agent that exports nothing, of which it is told why."""
    for deployer in cluster.DEPLOYERS.values():
        for document in deployer.documents():
            api.put(document)
    done = asked(*SHIPPED, *kubeconfig, "-o", "json")
    assert done.code == exits.OK
    _, job = jobs(done)
    exporters = [one for name, one in cluster.DEPLOYERS.items() if name != "monitoring-agent"]
    assert pods_only(job) == {pod["metadata"]["name"] for one in exporters for pod in one.pods()}
    assert job["active"] == 2 * len(exporters)
    (by_app,) = [each for each in job["groups"] if each["dropped_by"]["index"] == 2]
    assert [(each["value"], each["count"]) for each in by_app["values"]] == [("dcgm-server", 2)]


def test_a_pod_asks_its_own_cluster(api: FakeKubernetes, tmp_path: Path) -> None:
    """Without the flag the job's own server is asked, here by its address."""
    server = {"api_server": api.url, "tls_config": {"ca_file": "ca.pem"}}
    token = api.grant("reader", READ)
    (tmp_path / "ca.pem").write_bytes(api.ca)
    authorization = {"authorization": {"credentials": token}}
    job = {
        "job_name": "gpu",
        "kubernetes_sd_configs": [{"role": "pod", **server, **authorization}],
    }
    path = tmp_path / "prometheus.yml"
    path.write_text(json.dumps({"scrape_configs": [job]}), "utf-8")
    # A kubeconfig is for jobs that mean the agent's own cluster.
    other = tmp_path / "kubeconfig"
    other.write_text("{}", "utf-8")
    done = asked("-c", str(path), "--kubeconfig", str(other))
    assert done.code == exits.OK
    assert done.stdout.startswith("gpu: 8 of 8 kept\n")
    assert token not in done.stdout + done.stderr


def test_what_the_account_may_not(api: FakeKubernetes, tmp_path: Path) -> None:
    """The exit code says that something is refused, and a sentence what to grant."""
    kubeconfig = api.kubeconfig(tmp_path / "kubeconfig", api.grant("reader"))
    done = asked(*SHIPPED, "--kubeconfig", str(kubeconfig))
    assert done.code == exits.PERMISSION
    (_, said) = done.stderr.splitlines()
    assert said.startswith("cwgpu: job kubernetes-pod-dcgm-exporter: pods in all namespaces cannot")
    assert 'add {apiGroups: [""], resources: [pods], verbs: [list, watch]} to a Cl' in said
    assert "kubernetes-pod-dcgm-exporter: 0 of 0 kept; not all is known\n" in done.stdout


def test_a_server_that_is_not_there(
    api: FakeKubernetes, kubeconfig: tuple[str, str], tmp_path: Path
) -> None:
    """What is known without it is told, and that the answer is not whole."""
    api.run(api.stop())
    path = program.configuration(tmp_path / "agent.json", "127.0.0.1:9")
    document = json.loads(path.read_text("utf-8"))
    document["cwgpu"]["scrape_configs"][0]["kubernetes_sd_configs"] = [{"role": "pod"}]
    path.write_text(json.dumps(document), "utf-8")
    done = asked("-c", str(path), *kubeconfig)
    assert done.code == exits.UNAVAILABLE
    assert "connection refused; is the API server running?" in done.stderr
    assert done.stdout.startswith(
        "dcgm: 1 of 1 kept; not all is known\n  ACTIVE  http://127.0.0.1:9"
    )


def test_a_server_that_does_not_answer(api: FakeKubernetes, kubeconfig: tuple[str, str]) -> None:
    """It is waited for as long as was said, and no longer."""
    api.chaos.delay_s = 3600.0
    done = asked(*JOB, *kubeconfig, "--timeout", "100ms")
    assert done.code == exits.UNAVAILABLE
    assert "kubernetes_sd_configs[0] has not answered yet; --timeout waits for lon" in done.stderr
    assert done.stdout == "kubernetes-pod-dcgm-exporter: 0 of 0 kept; not all is known\n"


def test_targets_of_all_kinds(tmp_path: Path) -> None:
    """A file, a service and the configuration name targets; one of them twice, one of no use."""
    named = json.dumps([{"targets": ["127.0.0.1:3", "127.0.0.1:1"]}])
    (tmp_path / "targets.json").write_text(named, "utf-8")
    body = json.dumps([{"targets": ["127.0.0.1:4", "127.0.0.1:1/x"]}]).encode()
    with FakeExporter(Answer(body=body, content_type="application/json"), path="/sd") as service:
        job = {
            "job_name": "gpu",
            "static_configs": [{"targets": ["127.0.0.1:1"]}],
            "file_sd_configs": [{"files": ["targets.json"]}],
            "http_sd_configs": [{"url": service.url}],
        }
        config = {"scrape_configs": [job]}
        (tmp_path / "prometheus.yml").write_text(json.dumps(config), "utf-8")
        done = program.run("targets", "-c", str(tmp_path / "prometheus.yml"), "-o", "json")
    assert (done.code, done.stderr) == (exits.OK, "")
    (told,) = jobs(done)
    urls = {each["url"] for each in told["targets"]}
    assert urls == {f"http://127.0.0.1:{port}/metrics" for port in (1, 3, 4)}
    assert (told["found"], told["active"], told["dropped"], told["rejected"]) == (5, 3, 1, 1)
    rejected, twice = told["groups"]
    assert rejected["outcome"] == "rejected"
    assert "holds a /" in rejected["values"][0]["value"]
    assert twice["reason"].startswith("another target has the same URL and labels")


def test_a_shard_tells_whose_the_others_are(tmp_path: Path) -> None:
    """What another agent scrapes is dropped here."""
    addresses = [f"127.0.0.{number}:9400" for number in range(1, 9)]
    shard = {"count": 2, "index": 1}
    path = program.configuration(tmp_path / "agent.json", *addresses, shard=shard)
    done = program.run("targets", "-c", str(path), "-o", "json")
    assert done.code == exits.OK
    (job,) = jobs(done)
    (group,) = job["groups"]
    assert group["reason"] == "another shard's: it is of shard 0 of 2, and this is 1"
    assert 0 < group["count"] == 8 - job["active"] < 8


@pytest.mark.parametrize(
    ("holder", "rights", "code", "said"),
    [
        ("3 shards", ("get",), exits.OK, ""),
        ("3 shards", (), exits.PERMISSION, "resources: [leases]"),
        ("x", ("get",), exits.UNAVAILABLE, "lease shards has none"),
        (None, ("get",), exits.UNAVAILABLE, "lease shards has none"),
    ],
    ids=["in force", "no right", "nonsense", "no lease"],
)
def test_shards_are_those_that_are_in_force(
    holder: str | None,
    rights: tuple[str, ...],
    code: int,
    said: str,
    tmp_path: Path,
) -> None:
    """The lease says how many there are; where it does not, that is told."""
    shard = {"count": 2, "index": 1, "lease": {"name": "shards", "namespace": "lab"}}
    addresses = [f"127.0.0.{number}:9400" for number in range(1, 9)]
    path = program.configuration(tmp_path / "agent.json", *addresses, shard=shard)
    with FakeKubernetes() as api:
        if holder is not None:
            spec = {"holderIdentity": holder, "leaseDurationSeconds": 60}
            place = {"name": "shards", "namespace": "lab"}
            lease = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease"}
            api.put({**lease, "metadata": place, "spec": spec})
        token = api.grant("me", {"leases": rights}, "lab")
        config = api.kubeconfig(tmp_path / "config", token)
        flags = ("-c", str(path), "--kubeconfig", str(config), "-o", "json")
        done = program.run("targets", *flags)
    assert done.code == code
    assert said in done.stderr
    assert ("the configuration's is taken" in done.stderr) == bool(said)
    counted = 2 if said else 3
    (job,) = jobs(done)
    reasons = {group["reason"] for group in job["groups"]}
    assert reasons == {
        f"another shard's: it is of shard {owner} of {counted}, and this is 1"
        for owner in range(counted)
        if owner != 1
    }


def test_shards_whose_lease_cannot_be_asked_for(tmp_path: Path) -> None:
    """On a machine without a cluster the configuration's count is shown, and that it is that."""
    shard = {"count": 2, "index": 1, "lease": {"name": "shards"}}
    path = program.configuration(tmp_path / "agent.json", "127.0.0.1:9400", shard=shard)
    done = program.run("targets", "-c", str(path))
    assert done.code == exits.UNAVAILABLE
    assert "cwgpu.shard.lease needs a Kubernetes API" in done.stderr


def test_outside_of_a_cluster() -> None:
    """That this is none is said, and is no failure of anybody."""
    done = asked(*SHIPPED)
    assert done.code == exits.NOTHING_FOUND
    assert "this is no pod of a cluster" in done.stderr
    unset = "job dcgm-exporter: DCGM_EXPORTER_URL is not set, so static_configs make no target"
    assert unset in done.stderr
    assert "to look in one now, add --kubeconfig ~/.kube/config\n" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("-c", "nowhere.json"), exits.CONFIGURATION, "nowhere.json"),
        ((*JOB, "--kubeconfig", "nowhere"), exits.USAGE, "nowhere"),
        ((*JOB, "--timeout", "soon"), exits.USAGE, "is no duration"),
        ((*JOB, "--agent", "http://127.0.0.1:1"), exits.USAGE, "leave out --config and --prom"),
        (("--agent", "http://127.0.0.1:1"), exits.UNAVAILABLE, "does an agent run there"),
    ],
)
def test_what_cannot_be_asked(arguments: tuple[str, ...], code: int, said: str) -> None:
    """Each with its exit code, before anything is printed."""
    done = asked(*arguments)
    assert (done.code, done.stdout) == (code, "")
    assert said in done.stderr


def test_no_jobs(tmp_path: Path) -> None:
    """Nothing is found, and it is said why."""
    (tmp_path / "prometheus.yml").write_text("scrape_configs: []\n", "utf-8")
    done = program.run("targets", "-c", str(tmp_path / "prometheus.yml"))
    assert done.code == exits.NOTHING_FOUND
    assert done.stderr == "cwgpu: the configuration has no jobs\n"


def _line(stream: IO[bytes] | None) -> str:
    assert stream is not None
    return stream.readline().decode().rstrip("\n")


def test_changes_are_told(api: FakeKubernetes, kubeconfig: tuple[str, str]) -> None:
    """A pod that comes, one that is none of ours, and one that goes; until the reader ends it."""
    arguments = ("targets", *SHIPPED, *kubeconfig, "-w")
    with program.started(*arguments, env={"CLUSTER_NAME": "lab"}) as process:
        while "rule 4" not in _line(process.stdout):
            pass  # what there is
        _line(process.stdout)
        _line(process.stdout)
        (pod,) = cluster.DEPLOYERS["chart"].pods(1)
        api.put(pod)
        job = "kubernetes-pod-dcgm-exporter"
        url, where = "http://127.0.3.1:9400/metrics", "pod/monitoring/gpus-dcgm-exporter-00000"
        assert _line(process.stdout) == f"+ {job}: ACTIVE {url}  {where}"
        api.delete("pods", "monitoring", "gpus-dcgm-exporter-00000")
        assert _line(process.stdout) == f"- {job}: ACTIVE {url}  {where}"
        api.put(cluster.pod("web", ip="127.0.9.9"))
        assert _line(process.stdout).startswith(f"~ {job}: DROPPED 5 (was 4): rule 2 (keep): ")
        process.send_signal(signal.SIGINT)
        assert program.ended(process).code == 130


def test_a_running_agent_is_asked(
    api: FakeKubernetes, kubeconfig: tuple[str, str], tmp_path: Path
) -> None:
    """It tells the same, and how the last scrape of each target went."""
    nobody = "127.0.0.1:1"
    with FakeExporter(program.page()) as exporter:
        path = program.configuration(tmp_path / "agent.json", exporter.address, nobody)
        document = json.loads(path.read_text("utf-8"))
        entry = {"role": "pod", "kubeconfig_file": kubeconfig[1]}
        shipped = json.loads(Path(SHIPPED[1]).read_text("utf-8"))["cwgpu"]["scrape_configs"][1]
        shipped["kubernetes_sd_configs"] = [entry]
        document["cwgpu"]["scrape_configs"].append(shipped)
        path.write_text(json.dumps(document), "utf-8")
        arguments = ("run", "-c", str(path), "--dry-run", "--listen", "127.0.0.1:0")
        with program.started(*arguments) as process:
            url = _listening(process.stderr)
            exporter.wait(lambda: len(exporter.requests) > 1, program.AMPLE_S)
            while not _ready(url):
                pass
            done = asked("--agent", url, "--all", "-o", "json")
            table = asked("--agent", url)
    static, pods = jobs(done)
    health = {each["labels"]["instance"]: each["health"] for each in static["targets"]}
    assert health[exporter.address]["up"] is True
    assert health[nobody]["reason"] == "connection_refused"
    assert pods["active"] == 2
    assert pods["groups"][0]["targets"][0]["discovered"]["__meta_kubernetes_namespace"]
    assert f"http://{exporter.address}/metrics  static/0  up\n" in table.stdout
    assert (done.code, table.code) == (exits.OK, exits.OK)


def _ready(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/readyz") as answer:  # noqa: S310 - a server of our own
            return bool(answer.status == 200)
    except urllib.error.HTTPError:
        return False


def _listening(stream: IO[bytes] | None) -> str:
    while True:
        event = json.loads(_line(stream))
        if event["event"] == "listening":
            return f"http://{event['address']}"
