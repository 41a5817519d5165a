"""The service account of the pod that we run in.

Two variables and three files, which the kubelet rotates about every hour: reading them costs less
than remembering them, so each request reads them again.
https://kubernetes.io/docs/tasks/run-application/access-api-from-pod/
"""

import os
from collections.abc import Mapping
from pathlib import Path

from multidict import CIMultiDict

from cwgpu.kube import bearer, tls
from cwgpu.kube.access import Access
from cwgpu.kube.failure import CredentialsError

FOLDER = Path("/var/run/secrets/kubernetes.io/serviceaccount")
"""Where every pod finds its service account, unless it says it wants none."""

_ELSE = "outside of a cluster give api_server or kubeconfig_file"
_MOUNT = "has automountServiceAccountToken been set to false for the pod or its service account?"


class ServiceAccount:
    """The credentials of this pod."""

    def __init__(self, environ: Mapping[str, str] = os.environ, folder: Path = FOLDER) -> None:
        """``folder`` holds the files token and ca.crt."""
        self._environ = environ
        self._folder = folder
        self._contexts = tls.Contexts()

    async def access(self) -> Access:
        """Read it all again; raises CredentialsError."""
        url = f"https://{self._address()}"
        authorities = tls.Material(authorities=_read(self._folder / "ca.crt"))
        held = _read(self._folder / "token").decode(errors="replace")
        token = bearer.token(held, str(self._folder / "token"))
        context = self._contexts.get(authorities, str(self._folder / "ca.crt"))
        return Access(url, CIMultiDict(Authorization=token), {"ssl": context})

    def refused(self, access: Access) -> None:
        """Do nothing: the next request reads the token again."""

    def _address(self) -> str:
        host = self._environ.get("KUBERNETES_SERVICE_HOST", "")
        port = self._environ.get("KUBERNETES_SERVICE_PORT", "")
        if not host or not port:
            raise CredentialsError(
                "KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set, so this is no "
                f"pod; {_ELSE}"
            )
        return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def namespace(folder: Path = FOLDER) -> str:
    """Give the namespace of this pod; raises CredentialsError."""
    path = folder / "namespace"
    return bearer.line(_read(path).decode(errors="replace"), str(path))


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise CredentialsError(
            f"{path} cannot be read ({error.strerror}), so this pod has no service account: "
            f"{_MOUNT} {_ELSE}"
        ) from error
