"""From the lease of a plan to one who contends for it: which API server, as whom, and where.

This module is loaded where there is a lease: others do not pay for it.
"""

import contextlib
import os
import random
import secrets
import socket
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

from cwgpu.agent.clock import Clock
from cwgpu.agent.leader import Leader
from cwgpu.agent.observe import Observer
from cwgpu.kube import incluster
from cwgpu.kube.access import Credentials
from cwgpu.kube.connection import Connection
from cwgpu.kube.failure import CredentialsError
from cwgpu.kube.lease import Leases
from cwgpu.model.errors import ConfigurationError
from cwgpu.plan.kubernetes import Kubeconfig, Lease

_POD = "KUBERNETES_SERVICE_HOST"
"""Every pod has this variable."""
_KUBECONFIG = "KUBECONFIG"


@contextlib.asynccontextmanager
async def contending(
    lease: Lease,
    observer: Observer,
    clock: Clock,
    *,
    environ: Mapping[str, str] = os.environ,
    folder: Path = incluster.FOLDER,
) -> AsyncIterator[Leader]:
    """Give who contends; nothing is asked yet. ConfigurationError: there is nobody to be asked.

    ``folder`` is where a pod has its service account.
    """
    credentials = _credentials(environ, folder, clock)
    namespace = lease.namespace or _namespace(environ, folder)
    async with Connection(credentials, sleep=clock.sleep) as connection:
        yield Leader(
            Leases(connection, namespace, lease.name, now_s=clock.wall),
            lease,
            _identity(environ),
            clock=clock,
            random=random.random,
            observer=observer,
        )


def _credentials(environ: Mapping[str, str], folder: Path, clock: Clock) -> Credentials:
    if environ.get(_POD):
        return incluster.ServiceAccount(environ, folder)
    if not environ.get(_KUBECONFIG):
        raise ConfigurationError(
            f"cwgpu.ha.lease needs a Kubernetes API, and this is no pod ({_POD} is not set): run "
            f"it in a cluster, or name one in the variable {_KUBECONFIG}, or take ha out of cwgpu"
        )
    # It takes 0.8 s and 46 MiB.
    from cwgpu.kube.kubeconfig import KubeconfigUser  # noqa: PLC0415

    return KubeconfigUser(Kubeconfig(""), environ=environ, sleep=clock.sleep)


def _namespace(environ: Mapping[str, str], folder: Path) -> str:
    if not environ.get(_POD):
        raise ConfigurationError(
            'cwgpu.ha.lease has no namespace, and this is no pod that has one: write "namespace"'
        )
    try:
        return incluster.namespace(folder)
    except CredentialsError as error:
        raise ConfigurationError(
            f'cwgpu.ha.lease has no namespace (write "namespace"), and the pod\'s: {error}'
        ) from error


def _identity(environ: Mapping[str, str]) -> str:
    """Make a name that nobody has or had: a restarted container has the name of its pod again."""
    pod = environ.get("POD_NAME") or environ.get("HOSTNAME") or socket.gethostname()
    return f"{pod}_{secrets.token_hex(4)}"
