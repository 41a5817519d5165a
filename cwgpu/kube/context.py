"""A context of a kubeconfig: one cluster and one user, found by their names.

https://kubernetes.io/docs/reference/config-api/kubeconfig.v1/
"""

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cwgpu.kube.failure import CredentialsError


@dataclass(frozen=True, slots=True)
class Context:
    """What there is to know about one server and who we are to it."""

    where: str
    """File and context, for sentences."""
    cluster: Mapping[str, Any]
    cluster_folder: Path
    """Of the file in which it stands, from where its paths go."""
    user: Mapping[str, Any] = field(repr=False)
    user_folder: Path

    def authorities(self) -> bytes:
        """Give the certificates that the server's is to be signed with; empty is the system's."""
        return _content(self.cluster, "certificate-authority", self.cluster_folder)

    def data(self, key: str) -> bytes:
        """Give what the user has under this key in base64, or in a file."""
        return _content(self.user, key, self.user_folder)

    def text(self, file: str, key: str) -> str:
        """Give what a file of the user's holds, or the text that stands in its place."""
        named = self.user.get(file)
        if named:
            return _read(self.user_folder / str(named)).decode(errors="replace")
        return str(self.user.get(key) or "")


def choose(merged: Mapping[str, Any], name: str, shown: str) -> Context:
    """Find a context, or the current one, and what it names; raises CredentialsError."""
    name = name or str(merged.get("current-context") or "")
    if not name:
        raise CredentialsError(f"{shown} has no current-context; write one, or name a context")
    context, _ = _named(merged, "context", name, shown)
    where = f"{shown}, context {name}"
    cluster, cluster_folder = _named(merged, "cluster", str(context.get("cluster") or ""), where)
    user: Mapping[str, Any] = {}
    user_folder = cluster_folder
    if context.get("user"):
        user, user_folder = _named(merged, "user", str(context["user"]), where)
    if not cluster.get("server"):
        raise CredentialsError(f"{where}: its cluster has no server; write server: https://...")
    return Context(where, cluster, cluster_folder, user, user_folder)


def _named(
    merged: Mapping[str, Any], kind: str, name: str, shown: str
) -> tuple[Mapping[str, Any], Path]:
    names = []
    for entry in merged.get(f"{kind}s") or ():
        # Kubernetes' own client keeps beside each entry the path of its file.
        held = getattr(entry, "value", None)
        if not isinstance(held, dict):
            raise CredentialsError(f"{shown}: {kind}s must be a list of names, each with a {kind}")
        if held.get("name") == name and isinstance(held.get(kind) or {}, dict):
            return held.get(kind) or {}, Path(entry.path).absolute().parent
        names.append(str(held.get("name")))
    there = ", ".join(names) or "none"
    raise CredentialsError(f"{shown}: there is no {kind} named {name!r}; there are: {there}")


def _content(held: Mapping[str, Any], key: str, folder: Path) -> bytes:
    data, file = held.get(f"{key}-data"), held.get(key)
    if data:
        try:
            return base64.b64decode(str(data), validate=True)
        except binascii.Error as error:
            raise CredentialsError(f"{key}-data is not written in base64") from error
    return _read(folder / str(file)) if file else b""


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise CredentialsError(f"{path} cannot be read ({error.strerror})") from error
