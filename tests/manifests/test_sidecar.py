"""cwgpu beside an exporter: added to each deployer's DaemonSet, which does not notice."""

from pathlib import Path

import pytest
import yaml

from tests.manifests import plans, rendered
from tests.manifests.rendered import Json


def _before(name: str) -> Json:
    text = (rendered.ROOT / rendered.SIDECARS[name] / "daemonset.yaml").read_text("utf-8")
    found: Json = yaml.safe_load(text)
    return found


def _named(items: list[Json]) -> dict[str, Json]:
    return {each["name"]: each for each in items}


@pytest.mark.parametrize("name", rendered.SIDECARS)
def test_only_a_container_and_its_volumes_are_added(name: str) -> None:
    """Everything that the deployer wrote is there as before."""
    before, after = _before(name), rendered.workload(name)
    was, now = before["spec"]["template"]["spec"], after["spec"]["template"]["spec"]
    lists = ("containers", "volumes")
    for each in lists:
        assert _named(was[each]).items() <= _named(now[each]).items()
    added = {each: sorted(_named(now[each]).keys() - _named(was[each]).keys()) for each in lists}
    assert added == {
        "containers": ["cwgpu"],
        "volumes": ["cwgpu-config", "cwgpu-no-token", "cwgpu-spool", "cwgpu-tmp"],
    }
    assert {k: v for k, v in was.items() if k not in lists} == {
        k: v for k, v in now.items() if k not in lists
    }
    assert before["spec"] | {"template": 0} == after["spec"] | {"template": 0}


@pytest.mark.parametrize("name", rendered.SIDECARS)
def test_the_exporter_is_found_as_before(name: str) -> None:
    """Our container has no port for others to discover, and its troubles never unready the pod."""
    container = rendered.container(name)
    assert "ports" not in container
    assert "readinessProbe" not in container


@pytest.mark.parametrize("name", rendered.SIDECARS)
def test_configuration_is_where_the_pod_is(name: str) -> None:
    """The ConfigMaps that the container names are in the exporter's namespace."""
    namespace = rendered.workload(name)["metadata"]["namespace"]
    maps = rendered.objects(name, "ConfigMap")
    assert {each["metadata"]["name"] for each in maps} == {"cwgpu-config", "cwgpu-env"}
    assert {each["metadata"]["namespace"] for each in maps} == {namespace}


@pytest.mark.parametrize("name", rendered.SIDECARS)
def test_metrics_are_the_same_from_beside_and_from_afar(name: str, tmp_path: Path) -> None:
    """A sidecar gives its one target the labels that an agent for the cluster would give it.

    So it makes the same metrics, and alarms need not know which of the two is at work.
    """
    (own,) = plans.plan(name, tmp_path / "sidecar").jobs
    (_, job) = plans.plan("base", tmp_path / "base").jobs
    (beside,), (afar,) = plans.static(own), plans.discovered(job, name)
    assert beside.url == "http://localhost:9400/metrics"
    assert afar.url == "http://10.0.0.7:9400/metrics"
    instance = {"instance": ""}
    assert {**beside.labels, **instance} == {**afar.labels, **instance}
    assert beside.labels["Service"] in ("nvidia-dcgm-exporter", "dcgm-exporter")
