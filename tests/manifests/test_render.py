"""kubectl renders every overlay, and Kubernetes knows what comes out."""

import kubernetes_validate  # type: ignore[import-untyped]
import pytest

from tests.manifests import rendered

# Those that EKS and its extended support have, and that are known to the package.
VERSIONS = [f"1.{minor}" for minor in range(29, 38)]
RESTRICTED = ["manifests/components/pod-identity", "manifests/components/node-role"]


@pytest.mark.parametrize("version", VERSIONS)
def test_kubernetes_knows_every_field(version: str) -> None:
    """Every rendered object is valid, without unknown fields, in each version of Kubernetes."""
    folders = [*rendered.ALL.values(), *RESTRICTED, "manifests/overlays/sidecar"]
    found = [each for folder in folders for each in rendered.build(folder)]
    assert len(found) > 50
    for each in found:
        # The package says which version it has really looked at.
        assert kubernetes_validate.validate(each, version, strict=True) == version


@pytest.mark.parametrize("name", rendered.ALL)
def test_objects_are_told_apart(name: str) -> None:
    """No two objects of an overlay have one kind, namespace and name."""
    keys = [
        (each["kind"], each["metadata"].get("namespace"), each["metadata"]["name"])
        for each in rendered.objects(name)
    ]
    assert sorted(set(keys), key=str) == sorted(keys, key=str)


@pytest.mark.parametrize("name", rendered.CLUSTER)
def test_what_is_ours_can_be_found_by_its_label(name: str) -> None:
    """All but the namespace, which is not only ours, carry the label by which we are removed."""
    without = [
        each["kind"]
        for each in rendered.objects(name)
        if each["metadata"].get("labels", {}).get("app.kubernetes.io/name") != "cwgpu"
    ]
    assert without == ["Namespace"]


@pytest.mark.parametrize("name", rendered.ALL)
def test_names_that_are_mentioned_are_there(name: str) -> None:
    """ConfigMaps, service account and role that an object names are objects of the same overlay."""
    have = {(each["kind"], each["metadata"]["name"]) for each in rendered.objects(name)}
    wanted = {("ConfigMap", each["configMapRef"]["name"]) for each in _env_from(name)}
    for binding in (
        *rendered.objects(name, "ClusterRoleBinding"),
        *rendered.objects(name, "RoleBinding"),
    ):
        wanted |= {(binding["roleRef"]["kind"], binding["roleRef"]["name"])}
        wanted |= {(each["kind"], each["name"]) for each in binding["subjects"]}
    if name not in rendered.SIDECARS:
        wanted |= {("ServiceAccount", rendered.pod(name)["serviceAccountName"])}
    assert wanted <= have
    assert rendered.mounted(name)


def _env_from(name: str) -> list[rendered.Json]:
    found: list[rendered.Json] = rendered.container(name).get("envFrom", [])
    return found


@pytest.mark.parametrize("name", rendered.CLUSTER)
def test_selectors_find_the_pods(name: str) -> None:
    """Workload, budget, network policy and service select the labels that the pods have."""
    labels = rendered.workload(name)["spec"]["template"]["metadata"]["labels"].items()
    selectors = [rendered.workload(name)["spec"]["selector"]["matchLabels"]]
    selectors += [
        each["spec"]["selector"]["matchLabels"]
        for each in rendered.objects(name, "PodDisruptionBudget")
    ]
    selectors += [
        each["spec"]["podSelector"]["matchLabels"]
        for each in rendered.objects(name, "NetworkPolicy")
    ]
    selectors += [each["spec"]["selector"] for each in rendered.objects(name, "Service")]
    for each in selectors:
        assert each.items() <= labels


def test_the_configuration_is_the_shipped_one() -> None:
    """The base's ConfigMap holds config/cwagent.json and nothing else."""
    shipped = (rendered.ROOT / "config/cwagent.json").read_text("utf-8")
    assert rendered.data("base", "cwgpu-config") == {"cwagent.json": shipped}


def test_an_environment_that_changes_makes_new_pods() -> None:
    """Its ConfigMap's name carries a hash; that of the configuration, which is reloaded, none."""
    (reference,) = _env_from("base")
    assert reference["configMapRef"]["name"].startswith("cwgpu-env-")
    volumes = {each["name"]: each for each in rendered.pod("base")["volumes"]}
    assert volumes["config"]["configMap"]["name"] == "cwgpu-config"
