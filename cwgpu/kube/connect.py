"""From a server as the plan names it to a connection."""

import asyncio
import os
from collections.abc import Callable, Mapping
from pathlib import Path

from aiohttp.abc import AbstractResolver

from cwgpu.kube import incluster, limit
from cwgpu.kube.access import Credentials
from cwgpu.kube.connection import Connection
from cwgpu.plan.kubernetes import Address, InCluster, Kubeconfig, Server


def connect(
    server: Server,
    entrust: Callable[[Address], Credentials],
    *,
    environ: Mapping[str, str] = os.environ,
    folder: Path = incluster.FOLDER,
    sleep: limit.Sleep = asyncio.sleep,
    resolver: AbstractResolver | None = None,
) -> Connection:
    """Give a connection, which is made when something is asked.

    ``entrust`` knows how an address with an HTTP client's settings is spoken to; ``folder`` is
    where a pod has its service account.
    """
    credentials: Credentials
    if isinstance(server, InCluster):
        credentials = incluster.ServiceAccount(environ, folder)
    elif isinstance(server, Kubeconfig):
        # Here and not above: it takes 0.8 s and 46 MiB, and most agents have no kubeconfig.
        from cwgpu.kube.kubeconfig import KubeconfigUser  # noqa: PLC0415

        credentials = KubeconfigUser(server, environ=environ, sleep=sleep)
    else:
        credentials = entrust(server)
    return Connection(credentials, sleep=sleep, resolver=resolver)
