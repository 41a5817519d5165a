"""One kind of file given in the place of another, told as that and not as faults of its form."""

import re
from collections.abc import Iterable

from cwgpu.config import document
from cwgpu.config.complaint import at
from cwgpu.config.document import Document, Form, empty
from cwgpu.config.node import Kind, Node

_JSON = re.compile(rb"(?:\xef\xbb\xbf)?(?:\s|#[^\n]*\n)*[{\[]")
"""How JSON begins, with comments before it or without."""
_JOBS = ("scrape_configs", "scrape_config_files")
_CODE = "wrong-file"

_WANTED = {Form.JSON: "the CloudWatch agent's JSON", Form.YAML: "a prometheus.yml"}
_IN_CLUSTER = {
    Form.JSON: r"prometheus-cwagentconfig -o jsonpath='{.data.cwagentconfig\.json}'",
    Form.YAML: r"prometheus-config -o jsonpath='{.data.prometheus\.yaml}'",
}
"""Where AWS' own manifest has them."""


def told(read: Document, data: bytes, form: Form) -> Document:
    """Give the document, or, if another kind of file was wanted, nothing but a word about that."""
    if node := _manifest_in([read.root]):
        return _refused(read, node, *_manifest(form))
    if not read.broken or _JSON.match(data):
        return read
    nodes, _ = document.documents(data, read.source.name)
    if node := _manifest_in(nodes):
        return _refused(read, node, *_manifest(form))
    if form is Form.YAML or not nodes or nodes[0].kind is not Kind.MAPPING:
        return read
    first = nodes[0]
    if any(map(first.get, _JOBS)):
        advice = "give it with --prometheus-config, and with -c a JSON such as config/cwagent.json"
        return _refused(read, first, f"this is a prometheus.yml; wanted {_WANTED[form]}", advice)
    advice = "write it as JSON, which the CloudWatch agent wants too"
    return _refused(read, first, f"this is YAML; wanted {_WANTED[form]}", advice)


def _manifest_in(nodes: Iterable[Node]) -> Node | None:
    return next((each for each in nodes if each.get("apiVersion") and each.get("kind")), None)


def _manifest(form: Form) -> tuple[str, str]:
    message = f"this is a Kubernetes manifest, which only cwgpu check reads; wanted {_WANTED[form]}"
    advice = (
        "save the text under data: of its ConfigMap as a file, or get it from the cluster, "
        f"such as:\nkubectl -n amazon-cloudwatch get configmap {_IN_CLUSTER[form]}"
    )
    return message, advice


def _refused(read: Document, node: Node, message: str, advice: str) -> Document:
    complaint = at(node.place, _CODE, message, advice=advice)
    return Document(read.source, empty(read.source), (complaint,))
