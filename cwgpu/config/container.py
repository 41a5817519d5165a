"""The environment of the container that mounts a configuration, as a manifest has it.

https://kubernetes.io/docs/tasks/inject-data-application/define-environment-variable-container/
"""

from collections.abc import Iterator, Sequence

from cwgpu.config.node import Node

_POD_SPECS = (
    ("spec", "template", "spec"),
    ("spec", "jobTemplate", "spec", "template", "spec"),
)
"""Where those who make pods keep what these are made of: most of them, and a CronJob."""
_SOME = "unknown"
"""In the place of a value that only the cluster has: that it is set is all that is known."""


def environment(objects: Sequence[Node], config_map: Node) -> dict[str, str]:
    """Give it for the first container that mounts the ConfigMap; nothing where there is none."""
    for each in objects:
        spec = _pod_spec(each)
        if spec is None or _namespace(each) != _namespace(config_map):
            continue
        name = _text(config_map, "metadata", "name")
        volumes = {
            _text(volume, "name") for volume in _list(spec, "volumes") if name in _maps(volume)
        }
        for container in (*_list(spec, "containers"), *_list(spec, "initContainers")):
            if any(_text(mount, "name") in volumes for mount in _list(container, "volumeMounts")):
                return _variables(container, each, objects)
    return {}


def _pod_spec(workload: Node) -> Node | None:
    if _text(workload, "kind") == "Pod":
        return workload.get("spec")
    return next(filter(None, map(workload.find, _POD_SPECS)), None)


def _maps(volume: Node) -> Iterator[str]:
    """Yield the names of the ConfigMaps that a volume holds."""
    yield _text(volume, "configMap", "name")
    projected = volume.get("projected")
    for source in _list(projected, "sources") if projected else ():
        yield _text(source, "configMap", "name")


def _variables(container: Node, workload: Node, objects: Sequence[Node]) -> dict[str, str]:
    maps = {
        _text(each, "metadata", "name"): _data(each)
        for each in objects
        if _text(each, "kind") == "ConfigMap" and _namespace(each) == _namespace(workload)
    }
    found = {"HOSTNAME": _pod_name(workload)}
    for source in _list(container, "envFrom"):
        held = maps.get(_text(source, "configMapRef", "name"), {})
        found |= {_text(source, "prefix") + key: value for key, value in held.items()}
    for variable in _list(container, "env"):
        value = _value(variable, workload, maps)
        if value is not None:
            found[_text(variable, "name")] = value
    return found


def _value(variable: Node, workload: Node, maps: dict[str, dict[str, str]]) -> str | None:
    """Give the value of a variable; None if it will not be set."""
    source = variable.get("valueFrom")
    if source is None:
        return _text(variable, "value")
    name = _text(source, "configMapKeyRef", "name")
    if name in maps:
        return maps[name].get(_text(source, "configMapKeyRef", "key"))
    known = {"metadata.name": _pod_name(workload), "metadata.namespace": _namespace(workload)}
    return known.get(_text(source, "fieldRef", "fieldPath")) or _SOME


def _pod_name(workload: Node) -> str:
    """Give the name of a pod, the first of several; some of it is made up by Kubernetes."""
    name, kind = _text(workload, "metadata", "name"), _text(workload, "kind")
    return name + {"Pod": "", "StatefulSet": "-0"}.get(kind, "-xxxxx")


def _data(config_map: Node) -> dict[str, str]:
    data = config_map.get("data")
    return {each.name: each.value.text for each in data.members} if data else {}


def _namespace(node: Node) -> str:
    return _text(node, "metadata", "namespace")


def _list(node: Node, key: str) -> tuple[Node, ...]:
    found = node.get(key)
    return found.items if found else ()


def _text(node: Node, *path: str) -> str:
    found = node.find(path)
    return found.text if found else ""
