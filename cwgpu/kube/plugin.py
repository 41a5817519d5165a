"""The program that a kubeconfig has for credentials, like ``aws eks get-token``.

https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins
"""

import asyncio
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from cwgpu.kube import limit
from cwgpu.kube.failure import CredentialsError
from cwgpu.kube.fault import printable

# Less than what a question may take as a whole, so that it is said whose fault it is.
_LIMIT_S = 20.0
# A token is not used to the last second: the request is under way for a while, and clocks differ.
_EARLY_S = 60.0


class Given(msgspec.Struct, frozen=True, rename="camel"):
    """``status`` of an ExecCredential."""

    token: str | None = None
    client_certificate_data: str | None = None
    client_key_data: str | None = None
    expiration_timestamp: datetime | None = None


class ExecCredential(msgspec.Struct, frozen=True, rename="camel"):
    """What the program prints."""

    api_version: str
    kind: str
    status: Given


@dataclass(frozen=True, slots=True)
class Credential:
    """What it gave."""

    token: str = field(default="", repr=False)
    certificate: bytes = field(default=b"", repr=False)
    key: bytes = field(default=b"", repr=False)
    until_s: float | None = None
    """Seconds since 1970 from which on a new one is needed; None: when it is refused."""


async def run(
    settings: Mapping[str, Any],
    cluster: Mapping[str, Any],
    folder: Path,
    *,
    environ: Mapping[str, str],
    sleep: limit.Sleep,
) -> Credential:
    """Run it; raises CredentialsError. ``folder`` is the kubeconfig's."""
    version, command = settings.get("apiVersion"), settings.get("command")
    if not isinstance(version, str) or not isinstance(command, str) or not command:
        raise CredentialsError("exec needs apiVersion and command")
    if os.sep in command:
        command = str(folder / command)  # a relative path is one from the kubeconfig
    arguments = [str(each) for each in settings.get("args") or ()]
    own = {str(each["name"]): str(each["value"]) for each in settings.get("env") or ()}
    info: dict[str, Any] = {"interactive": False}
    if settings.get("provideClusterInfo"):
        info["cluster"] = {name: value for name, value in cluster.items() if name in _CLUSTER}
    told = {"apiVersion": version, "kind": "ExecCredential", "spec": info}
    own["KUBERNETES_EXEC_INFO"] = msgspec.json.encode(told).decode()
    try:
        printed = await _output([command, *arguments], {**environ, **own}, sleep)
    except OSError as error:
        hint = settings.get("installHint") or "install it, or put its folder into PATH"
        raise CredentialsError(
            f"the exec plugin {command} cannot be started ({error.strerror}); "
            f"{printable(str(hint))}"
        ) from error
    return _read(printed, command, version)


# What a plugin is told of the cluster, in the words that both documents have for it.
_CLUSTER = frozenset(
    {
        "server",
        "tls-server-name",
        "insecure-skip-tls-verify",
        "certificate-authority-data",
        "proxy-url",
    }
)


async def _output(arguments: list[str], environ: Mapping[str, str], sleep: limit.Sleep) -> bytes:
    process = await asyncio.create_subprocess_exec(
        *arguments,
        env=environ,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        async with limit.within(_LIMIT_S, sleep):
            printed, complaint = await process.communicate()
    except TimeoutError as error:
        raise CredentialsError(
            f"the exec plugin {arguments[0]} did not end in {_LIMIT_S:g} s; does it ask something?"
        ) from error
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode:
        lines = complaint.decode(errors="replace").strip().splitlines() or ["it said nothing"]
        raise CredentialsError(
            f"the exec plugin {arguments[0]} ended with {process.returncode}: "
            f"{printable(lines[-1])}"
        )
    return printed


def _read(printed: bytes, command: str, version: str) -> Credential:
    try:
        credential = msgspec.json.decode(printed, type=ExecCredential)
    except msgspec.MsgspecError as error:
        raise CredentialsError(
            f"what the exec plugin {command} printed is no ExecCredential ({error})"
        ) from error
    if credential.api_version != version:
        raise CredentialsError(
            f"the exec plugin {command} speaks {printable(credential.api_version)}, and the "
            f"kubeconfig wants {version}"
        )
    given = credential.status
    if not given.token and not (given.client_certificate_data and given.client_key_data):
        raise CredentialsError(
            f"the exec plugin {command} gave neither a token nor a client certificate with its key"
        )
    until = given.expiration_timestamp
    return Credential(
        given.token or "",
        (given.client_certificate_data or "").encode(),
        (given.client_key_data or "").encode(),
        until.timestamp() - _EARLY_S if until is not None else None,
    )
