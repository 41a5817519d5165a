"""Configuration inside a Kubernetes manifest: the ConfigMaps that the agent mounts.

AWS' own ``prometheus-eks.yaml`` keeps the agent's JSON in one ConfigMap and the scrape jobs in
another. Complaints about either name the lines of the manifest.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePath

from cwgpu.config import container, document, where
from cwgpu.config.complaint import Complaint, about, at
from cwgpu.config.document import Form
from cwgpu.config.node import Kind, Member, Node, describe
from cwgpu.config.source import Source
from cwgpu.config.where import Found

_AGENT = re.compile(r'"(?:prometheus|cwgpu)"\s*:')
"""What stands in the JSON of an agent that has to do with us, and in that of a dashboard not."""
_JOBS = re.compile(r"(?m)^\s*(?:scrape_configs|scrape_config_files)\s*:")
_YAML = (".yaml", ".yml")
_ADVICE = (
    "give the manifest whose ConfigMaps hold the agent's JSON or a prometheus.yml; of a cluster, "
    "those of the agent's namespace"
)


@dataclass(frozen=True, slots=True)
class Jobs:
    """A prometheus.yml within a ConfigMap."""

    name: str
    """The key, which is the file's name where the ConfigMap is mounted."""
    found: Found


@dataclass(frozen=True, slots=True)
class Manifest:
    """What the ConfigMaps hold for us."""

    agents: tuple[Found, ...] = ()
    """One of each ConfigMap that has any: its files are merged, as those of a directory."""
    environments: tuple[Mapping[str, str], ...] = ()
    """Of each of these the variables of the container that mounts it, as far as they are here."""
    jobs: tuple[Jobs, ...] = ()
    complaints: tuple[Complaint, ...] = ()
    """About the manifest itself."""


def read(data: bytes, path: Path) -> Manifest:
    """Read a manifest: documents of YAML, or a List. Never raises."""
    documents, complaints = document.documents(data, str(path))
    objects = [each for node in documents for each in _objects(node)]
    maps = [(each, held.members) for each in objects if (held := _held(each))]
    wrong = [_no_text(member) for _, members in maps for member in members if _is_nested(member)]
    agents = [(found, each) for each, members in maps if (found := _agent(members, path))]
    made = Manifest(
        tuple(found for found, _ in agents),
        tuple(container.environment(objects, each) for _, each in agents),
        tuple(each for _, members in maps for each in _jobs(members, path)),
        (*complaints, *wrong),
    )
    if not (made.agents or made.jobs or made.complaints):
        message = "no ConfigMap here holds configuration of the CloudWatch agent or of Prometheus"
        return Manifest(complaints=(about(str(path), "no-configuration", message, advice=_ADVICE),))
    return made


def _objects(node: Node) -> Iterator[Node]:
    """Yield an object, or those of a List."""
    kind, items = node.get("kind"), node.get("items")
    if kind and kind.text.endswith("List"):
        for each in items.items if items else ():
            yield from _objects(each)
    else:
        yield node


def _held(node: Node) -> Node | None:
    """Give what a ConfigMap holds: file names and texts."""
    kind = node.get("kind")
    return node.get("data") if kind and kind.text == "ConfigMap" else None


def _is_nested(member: Member) -> bool:
    of_files = (".json", *_YAML)
    nested = member.value.kind in (Kind.MAPPING, Kind.SEQUENCE)
    return nested and PurePath(member.name).suffix in of_files


def _no_text(member: Member) -> Complaint:
    message = f"a ConfigMap holds texts, found {describe(member.value)}"
    advice = f"write {member.name}: | and the text below it"
    return at(member.place, "wrong-type", message, loc=("data", member.name), advice=advice)


def _agent(members: tuple[Member, ...], path: Path) -> Found | None:
    texts = [each for each in members if PurePath(each.name).suffix == ".json"]
    if not any(_AGENT.search(each.value.text) for each in texts):
        return None
    return where.joined([_read(each, path, Form.JSON) for each in texts if each.value.text])


def _jobs(members: tuple[Member, ...], path: Path) -> Iterator[Jobs]:
    for each in members:
        if PurePath(each.name).suffix in _YAML and _JOBS.search(each.value.text):
            yield Jobs(each.name, _read(each, path, Form.YAML))


def _read(member: Member, path: Path, form: Form) -> Found:
    text = member.value.text
    # A text in quotes has no lines of its own in the manifest: it is shown by itself.
    source = document.inside(member.value) or Source.of(f"{path}:{member.name}", text)
    read = document.parse(text, source, form)
    return Found(read.root, read.complaints, path.parent.absolute())
