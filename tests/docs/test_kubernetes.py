"""docs/kubernetes.md against the manifests, which kubectl renders as the page says."""

import json
import os
import re
import shutil
from pathlib import Path

import kubernetes_validate  # type: ignore[import-untyped]
import pytest
import yaml

from cwgpu.prom.kubernetes import role
from cwgpu.prom.kubernetes.role import Role
from tests.cli import program
from tests.docs import pages
from tests.manifests import rendered
from tests.manifests.rendered import Json

PAGE = "docs/kubernetes.md"
BLOCK = re.compile(r"(?ms)^```yaml\n# ([^\n]+)\n(.*?)^```$")
BLOCKS = BLOCK.findall(pages.text(PAGE))
TITLES = [title for title, _ in BLOCKS if "kustomization.yaml" in title]


def _made(title: str, place: Path) -> dict[tuple[str, str], Json]:
    """Give what kubectl makes of a block of the page, with all that lies beside it."""
    folder = place / title.partition("/")[0]
    folder.mkdir()
    found = dict(BLOCKS)
    up = os.path.relpath(rendered.ROOT, folder.resolve())
    text = found[title].replace("../manifests", f"{up}/manifests")
    (folder / "kustomization.yaml").write_text(text, "utf-8")
    (folder / "exporter.yaml").write_text(found["my-sidecar/exporter.yaml"], "utf-8")
    shutil.copy(rendered.ROOT / "tests/data/deployers/aws/prometheus-eks.yaml", folder)
    (folder / "cwagent.json").write_text('{"mine": 1}', "utf-8")
    objects = rendered.build(folder)
    hashed = re.compile("(?<=-env)-[a-z0-9]{10}$")
    return {(each["kind"], hashed.sub("", each["metadata"]["name"])): each for each in objects}


def _title(words: str) -> str:
    (found,) = (str(each) for each in TITLES if each.endswith(words))
    return found


@pytest.mark.parametrize("title", TITLES)
def test_every_kustomization_can_be_built(title: str, tmp_path: Path) -> None:
    """What the page tells to write down is complete: kubectl makes objects of it."""
    assert len(_made(title, tmp_path)) > 2


def test_install_says_what_is_yours(tmp_path: Path) -> None:
    """Image and environment of the page's first kustomization arrive in the pods."""
    found = _made("my-cluster/kustomization.yaml", tmp_path)
    pod = found["Deployment", "cwgpu"]["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert container["image"] == "111122223333.dkr.ecr.eu-west-1.amazonaws.com/cwgpu:1"
    environment = found["ConfigMap", "cwgpu-env"]
    assert environment["data"] == {"CLUSTER_NAME": "training", "AWS_REGION": "eu-west-1"}
    (source,) = container["envFrom"]
    assert source["configMapRef"]["name"] == environment["metadata"]["name"]
    assert ("NetworkPolicy", "cwgpu-pod-identity") in found


def test_a_role_can_be_named(tmp_path: Path) -> None:
    """With IRSA the service account carries the role."""
    found = _made(_title("with a role for the service account"), tmp_path)
    annotations = found["ServiceAccount", "cwgpu"]["metadata"]["annotations"]
    assert annotations["eks.amazonaws.com/role-arn"].startswith("arn:aws:iam::")


def test_a_configuration_of_your_own_takes_the_place(tmp_path: Path) -> None:
    """The file replaces the shipped one, and what the overlay adds stays beside it."""
    found = _made(_title("with a configuration of your own"), tmp_path)
    texts = found["ConfigMap", "cwgpu-config"]["data"]
    assert texts["cwagent.json"] == '{"mine": 1}'
    assert texts.keys() == {"cwagent.json", "ha.json"}


def test_rights_and_ports_can_be_added(tmp_path: Path) -> None:
    """A further rule and a further port come to those that are there."""
    found = _made(_title("with jobs for another port and another role"), tmp_path)
    kinds = [rule["resources"] for rule in found["ClusterRole", "cwgpu"]["rules"]]
    assert kinds == [["pods"], ["nodes"]]
    assert len(found["NetworkPolicy", "cwgpu"]["spec"]["egress"]) == 4


def test_shards_are_changed_in_both_places(tmp_path: Path) -> None:
    """Pods and parts are five."""
    found = _made(_title("with five shards"), tmp_path)
    assert found["StatefulSet", "cwgpu"]["spec"]["replicas"] == 5
    texts = found["ConfigMap", "cwgpu-config"]["data"]
    assert json.loads(texts["shard.json"]) == {"cwgpu": {"shard": {"count": 5}}}
    lease = json.loads(texts["lease.json"])["cwgpu"]["shard"]["lease"]["name"]
    assert lease in pages.section(PAGE, "### Shards")


def test_a_spool_can_outlive_the_pod(tmp_path: Path) -> None:
    """The place of the spool is a claim of the pod's own, which its user can write."""
    found = _made(_title("with a spool that outlives the pod"), tmp_path)["StatefulSet", "cwgpu"]
    spec = found["spec"]["template"]["spec"]
    (claim,) = found["spec"]["volumeClaimTemplates"]
    (container,) = spec["containers"]
    places = {each["name"]: each["mountPath"] for each in container["volumeMounts"]}
    environment = {each["name"]: each.get("value") for each in container["env"]}
    assert places[claim["metadata"]["name"]] == environment["CWGPU_SPOOL_DIR"]
    assert claim["metadata"]["name"] not in [each["name"] for each in spec["volumes"]]
    assert spec["securityContext"]["fsGroup"] == spec["securityContext"]["runAsGroup"] == 65532
    kubernetes_validate.validate(found, "1.29", strict=True)


def test_a_sidecar_is_added_to_a_daemonset_that_is_there(tmp_path: Path) -> None:
    """What is applied to the cluster's DaemonSet holds the container, its volumes, nothing else."""
    found = _made("my-sidecar/kustomization.yaml", tmp_path)
    daemonset = found["DaemonSet", "nvidia-dcgm-exporter"]
    assert daemonset["spec"].keys() == {"template"}
    spec = daemonset["spec"]["template"]["spec"]
    assert spec.keys() == {"containers", "volumes"}
    assert [each["name"] for each in spec["containers"]] == ["cwgpu"]
    assert found["ConfigMap", "cwgpu-config"]["metadata"]["namespace"] == "gpu-operator"
    assert found["ConfigMap", "cwgpu-env"]["data"]["CLUSTER_NAME"] == "training"


def test_a_drop_in_takes_the_images_place(tmp_path: Path) -> None:
    """AWS' Deployment runs the image that the page names."""
    found = _made("my-drop-in/kustomization.yaml", tmp_path)
    spec = found["Deployment", "cwagent-prometheus"]["spec"]["template"]["spec"]
    (container,) = spec["containers"]
    assert container["image"].endswith("/cwgpu:1")


def _with_gpus(folder: Path) -> tuple[str, ...]:
    """Give the flags of AWS' configuration with the job and the declaration of the page."""
    part = pages.section(PAGE, "## Drop-in")
    (job,) = yaml.safe_load(re.findall(r"(?ms)^```yaml\n(- .*?)^```$", part)[0])
    declaration = json.loads(re.findall(r"(?ms)^```json\n(.*?)^```$", part)[0])
    stock = rendered.ROOT / "tests/data/deployers/aws/prometheus-eks.yaml"
    maps = [each for each in yaml.safe_load_all(stock.read_text("utf-8")) if "data" in each]
    texts = {name: text for each in maps for name, text in each["data"].items()}
    agent, scraped = (
        json.loads(texts["cwagentconfig.json"]),
        yaml.safe_load(texts["prometheus.yaml"]),
    )
    scraped["scrape_configs"].append(job)
    prometheus = agent["logs"]["metrics_collected"]["prometheus"]
    prometheus["emf_processor"]["metric_declaration"].append(declaration)
    (folder / "agent.json").write_text(json.dumps(agent), "utf-8")
    (folder / "prometheus.yaml").write_text(yaml.safe_dump(scraped), "utf-8")
    prometheus_yaml = str(folder / "prometheus.yaml")
    return ("-c", str(folder / "agent.json"), "--prometheus-config", prometheus_yaml)


@pytest.mark.parametrize("container", ["nvidia-dcgm-exporter", "dcgm-exporter"])
def test_aws_file_finds_exporters_by_the_job_of_the_page(container: str, tmp_path: Path) -> None:
    """Containers of NVIDIA's operator and chart are kept, with the declaration's labels."""
    found = {
        "__address__": "10.0.0.1:9400",
        "__meta_kubernetes_namespace": "gpu-operator",
        "__meta_kubernetes_pod_container_name": container,
        "__meta_kubernetes_pod_container_port_number": "9400",
    }
    labels = tmp_path / "labels.json"
    labels.write_text(json.dumps(found), "utf-8")
    asked = ("--job", "dcgm-exporter", "--labels", str(labels), "-o", "json")
    ended = program.run("explain", "target", *_with_gpus(tmp_path), *asked)
    assert ended.code == 0
    (told,) = json.loads(ended.stdout)
    expected = {"Service": "dcgm-exporter", "Namespace": "gpu-operator", "job": "dcgm-exporter"}
    assert {name: told["labels"].get(name) for name in expected} == expected


def test_aws_file_sends_gpus_by_the_declaration_of_the_page(tmp_path: Path) -> None:
    """A real page's metrics get both dimension sets, where the GPU has a pod."""
    page = rendered.ROOT / "tests/data/samples/02-h100x8-pods-4.8.1.prom"
    labels = ("--label", "Service=dcgm-exporter", "--label", "Namespace=gpu-operator")
    asked = ("--job", "dcgm-exporter", *labels, "--page", str(page))
    ended = program.run("explain", "page", *_with_gpus(tmp_path), *asked)
    assert ended.code == 0
    assert "DCGM_FI_DEV_GPU_UTIL" in ended.stdout
    assert "[ClusterName, Namespace, Service, job, pod]" in ended.stdout


def test_every_overlay_is_in_the_table() -> None:
    """The choice is among all that there are."""
    folders = sorted(each.name for each in (rendered.ROOT / "manifests/overlays").iterdir())
    table = re.findall(r"(?m)^\| \[`([^`]+)`\]", pages.section(PAGE, "## Which one"))
    assert sorted(each.removeprefix("overlays/") for each in table) == ["base", *folders]


def test_every_role_has_its_rights() -> None:
    """The table of rights is what each role watches."""
    rows = {row[0]: row[1] for row in pages.rows(PAGE, "### Rights")}
    plurals = {"endpoints": "endpoints", "ingress": "ingresses"}
    expected = {
        each.value: {plurals.get(kind, f"{kind}s") for kind in role.kinds(each, attach_node=False)}
        for each in Role
    }
    assert {name: set(re.findall(r"\w+", text)) for name, text in rows.items()} == expected


def test_sizes_are_those_of_the_manifests() -> None:
    """The table has what each overlay's container asks for and is limited to."""
    said = {}
    for names, *cells in pages.rows(PAGE, "## Sizes"):
        for name in names.replace("`", "").split(", "):
            said[name] = [each.split(", ") for each in cells]
    for name, overlay in ((each, "operator" if each == "sidecar" else each) for each in said):
        resources = rendered.container(overlay)["resources"]
        kinds = ("cpu", "memory", "ephemeral-storage")
        sizes = [
            [resources[each][kind] for kind in kinds if kind in resources[each]]
            for each in ("requests", "limits")
        ]
        assert said[name] == sizes, name
    assert len(said) == 6


def test_the_first_page_has_the_label_of_all() -> None:
    """What is removed by its label is of a kind that is listed for removal."""
    listed = re.findall(r"delete ([a-z,]+) ", pages.section(PAGE, "## Remove"))
    kinds = {kind for each in listed for kind in each.split(",")}
    have = {each["kind"].lower() for name in rendered.CLUSTER for each in rendered.objects(name)}
    assert have - {"namespace"} <= kinds


def test_stub_is_yaml() -> None:
    """The empty DaemonSet of the sidecar's part names an object and says nothing of it."""
    found = yaml.safe_load(dict(BLOCKS)["my-sidecar/exporter.yaml"])
    assert found.keys() == {"apiVersion", "kind", "metadata"}
