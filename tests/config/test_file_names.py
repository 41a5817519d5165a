"""A file's name that no system takes is a fault of the configuration, wherever it stands."""

import json
from pathlib import Path

from cwgpu.config import document, load
from cwgpu.config.complaint import Complaint
from cwgpu.config.document import Form
from cwgpu.config.where import Found

JOBS = rb"""
scrape_config_files: ["more\0/*.yml"]
scrape_configs:
- job_name: gpu
  authorization: { credentials_file: "a\0b" }
  tls_config: { ca_file: "a\0b", cert_file: "a\0b", key_file: "a\0b" }
  file_sd_configs:
  - files: ["a\0b.json"]
- job_name: others
  basic_auth: { username_file: "a\0b", password_file: "a\0b" }
  http_headers: { X: { files: ["a\0b"] } }
  kubernetes_sd_configs:
  - { role: pod, kubeconfig_file: "a\0b" }
- job_name: tokens
  oauth2: { client_id: me, client_secret_file: "a\0b", token_url: "http://issuer.lab/token" }
- job_name: old
  bearer_token_file: "a\0b"
"""
AGENT = {
    "logs": {
        "metrics_collected": {
            "prometheus": {"cluster_name": "lab", "prometheus_config_path": "a\0b"}
        }
    },
    "cwgpu": {"spool": {"dir": "a\0b"}},
}


def found(text: bytes, form: Form) -> Found:
    """Read a text as a file."""
    read = document.read(text, "file", form)
    return Found(read.root, read.complaints, Path("/etc"))


def named(said: tuple[Complaint, ...]) -> list[str]:
    """Give the last key of each place whose file name is complained about."""
    return sorted(each.path.rpartition(".")[2] for each in said if each.code == "bad-file-name")


def test_jobs() -> None:
    """Each is told, with its place."""
    _, said = load.prometheus_file(found(JOBS, Form.YAML))
    assert named(said) == [
        "bearer_token_file",
        "ca_file",
        "cert_file",
        "client_secret_file",
        "credentials_file",
        "files[0]",
        "files[0]",
        "key_file",
        "kubeconfig_file",
        "password_file",
        "scrape_config_files[0]",
        "username_file",
    ]


def test_the_agents_own() -> None:
    """The file of jobs and the directory of the spool are files, too."""
    read = found(json.dumps(AGENT).encode(), Form.JSON)
    examined = load.translated(read, None, {})
    assert examined.plan is None
    assert named(examined.complaints) == ["dir", "prometheus_config_path"]
