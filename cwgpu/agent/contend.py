"""From a lease of the plan to what is made of it: which API server is asked, as whom, and where.

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
from cwgpu.agent.shards import Shards
from cwgpu.kube import incluster
from cwgpu.kube.access import Credentials
from cwgpu.kube.connection import Connection
from cwgpu.kube.failure import CredentialsError
from cwgpu.kube.lease import Leases
from cwgpu.model.errors import ConfigurationError
from cwgpu.plan.kubernetes import Kubeconfig, Lease, Shard, ShardLease

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
    async with reaching(lease, clock, environ=environ, folder=folder) as leases:
        yield Leader(
            leases,
            lease,
            _identity(environ),
            clock=clock,
            random=random.random,
            observer=observer,
        )


@contextlib.asynccontextmanager
async def sharing(
    shard: Shard,
    lease: ShardLease,
    observer: Observer,
    clock: Clock,
    *,
    environ: Mapping[str, str] = os.environ,
    folder: Path = incluster.FOLDER,
) -> AsyncIterator[Shards]:
    """Give who divides the targets by this lease; as ``contending``."""
    async with reaching(lease, clock, environ=environ, folder=folder) as leases:
        yield Shards(leases, shard, lease, clock=clock, random=random.random, observer=observer)


@contextlib.asynccontextmanager
async def reaching(
    lease: Lease | ShardLease,
    clock: Clock,
    *,
    environ: Mapping[str, str] = os.environ,
    folder: Path = incluster.FOLDER,
    kubeconfig: str = "",
) -> AsyncIterator[Leases]:
    """Give the lease itself. ConfigurationError as above.

    ``kubeconfig`` names a cluster to be asked in the place of the one that we are in.
    """
    if kubeconfig:
        environ = {**environ, _KUBECONFIG: kubeconfig, _POD: ""}
    credentials = _credentials(lease, environ, folder, clock)
    namespace = lease.namespace or _namespace(lease, environ, folder)
    async with Connection(credentials, sleep=clock.sleep) as connection:
        yield Leases(connection, namespace, lease.name, now_s=clock.wall)


def _key(lease: Lease | ShardLease) -> tuple[str, str]:
    """Name the lease in the configuration, and how to be without it."""
    if isinstance(lease, Lease):
        return "cwgpu.ha.lease", "ha out of cwgpu"
    return "cwgpu.shard.lease", "lease out of cwgpu.shard"


def _credentials(
    lease: Lease | ShardLease, environ: Mapping[str, str], folder: Path, clock: Clock
) -> Credentials:
    if environ.get(_POD):
        return incluster.ServiceAccount(environ, folder)
    if not environ.get(_KUBECONFIG):
        key, without = _key(lease)
        raise ConfigurationError(
            f"{key} needs a Kubernetes API, and this is no pod ({_POD} is not set): run it in a "
            f"cluster, or name one in the variable {_KUBECONFIG}, or take {without}"
        )
    # It takes 0.8 s and 46 MiB.
    from cwgpu.kube.kubeconfig import KubeconfigUser  # noqa: PLC0415

    return KubeconfigUser(Kubeconfig(""), environ=environ, sleep=clock.sleep)


def _namespace(lease: Lease | ShardLease, environ: Mapping[str, str], folder: Path) -> str:
    key, _ = _key(lease)
    if not environ.get(_POD):
        raise ConfigurationError(
            f'{key} has no namespace, and this is no pod that has one: write "namespace"'
        )
    try:
        return incluster.namespace(folder)
    except CredentialsError as error:
        raise ConfigurationError(
            f'{key} has no namespace (write "namespace"), and the pod\'s: {error}'
        ) from error


def _identity(environ: Mapping[str, str]) -> str:
    """Make a name that nobody has or had: a restarted container has the name of its pod again."""
    pod = environ.get("POD_NAME") or environ.get("HOSTNAME") or socket.gethostname()
    return f"{pod}_{secrets.token_hex(4)}"
