"""How clients are told of the server: certificates, kubeconfigs, and the files in a pod.

https://kubernetes.io/docs/concepts/configuration/organize-cluster-access-kubeconfig/
https://kubernetes.io/docs/tasks/run-application/access-api-from-pod/
"""

import base64
import ssl
from pathlib import Path
from typing import Any

import trustme
import yaml

Json = dict[str, Any]

_NAMES = ("127.0.0.1", "localhost", "kubernetes.default.svc")


class Authority:
    """The cluster's own certificate authority, and the server's certificate."""

    def __init__(self) -> None:
        """Make both."""
        authority = trustme.CA()
        self.pem = authority.cert_pem.bytes()
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        authority.issue_cert(*_NAMES).configure_cert(self.context)


def kubeconfig(path: Path, url: str, ca: bytes, *, token: str, namespace: str) -> Path:
    """Write a kubeconfig of one context."""
    cluster: Json = {"server": url}
    if ca:
        cluster["certificate-authority-data"] = base64.b64encode(ca).decode()
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "fake", "cluster": cluster}],
        "users": [{"name": "tester", "user": {"token": token}}],
        "contexts": [
            {
                "name": "fake",
                "context": {"cluster": "fake", "user": "tester", "namespace": namespace},
            }
        ],
        "current-context": "fake",
    }
    path.write_text(yaml.safe_dump(document, sort_keys=False))
    return path


def service_account(folder: Path, ca: bytes, *, token: str, namespace: str) -> Path:
    """Write what the kubelet mounts; each file is replaced at once, as the kubelet does it."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in (("token", token.encode()), ("ca.crt", ca), ("namespace", namespace)):
        fresh = folder / f".{name}"
        fresh.write_bytes(content if isinstance(content, bytes) else content.encode())
        fresh.replace(folder / name)
    return folder
