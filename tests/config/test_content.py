"""Telling what a file holds."""

import pytest

from cwgpu.config import content
from cwgpu.config.content import Content

AGENT, PROMETHEUS, MANIFEST = Content.AGENT, Content.PROMETHEUS, Content.MANIFEST


@pytest.mark.parametrize(
    ("text", "name", "kind"),
    [
        ('{"logs": {}}', "x", AGENT),
        ('{\n  "cwgpu": {"scrape_configs": []}}', "x", AGENT),
        ("logs:\n  metrics_collected: {}\n", "x.yaml", AGENT),
        ('\ufeff{"agent": {}}', "x", AGENT),
        ("{", "x.yaml", AGENT),
        ("", "x.json", AGENT),
        ("scrape_configs:\n- job_name: a\n", "x", PROMETHEUS),
        ('{"scrape_configs": [{"job_name": "kind"}]}', "x.json", PROMETHEUS),
        ("global: {}\n", "x.json", PROMETHEUS),
        ("", "x", PROMETHEUS),
        ("- a\n", "x.yaml", PROMETHEUS),
        ("apiVersion: v1\nkind: ConfigMap\ndata:\n  a: |\n    logs:\n", "x", MANIFEST),
        ("# x\n---\nkind: List\napiVersion: v1\nitems: [\n", "x.json", MANIFEST),
        ('{"apiVersion": "v1", "kind": "List", "items": []}', "x.json", MANIFEST),
        ("scrape_configs:\n- kind: x\n  apiVersion: y\n", "x", PROMETHEUS),
        ("kind: ConfigMap\n", "x.yml", PROMETHEUS),
    ],
)  # fmt: skip
def test_kinds(text: str, name: str, kind: Content) -> None:
    """Keys tell the kind, even of a file that is broken; the name decides where there are none."""
    assert content.tell(text.encode(), name) is kind


def test_what_is_no_text() -> None:
    """Bytes that are no UTF-8 do not hide the keys."""
    assert content.tell(b'{"logs": "\xff"}', "x") is AGENT
