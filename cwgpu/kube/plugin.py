"""The program that a kubeconfig has for credentials, like ``aws eks get-token``.

https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins
"""

import asyncio
import contextlib
import os
import signal
from asyncio.subprocess import SubprocessStreamProtocol
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from cwgpu.kube import limit
from cwgpu.kube.decode import BROKEN
from cwgpu.kube.failure import CredentialsError
from cwgpu.kube.fault import printable

# Less than what a question may take as a whole, so that it is said whose fault it is.
_LIMIT_S = 20.0
# A token is not used to the last second: the request is under way for a while, and clocks differ.
_EARLY_S = 60.0
# A certificate with its chain and key has some 20 kB.
_MOST_BYTES = 1 << 20
# Of what it complains of, the last line is told.
_LAST_BYTES = 1 << 12
_PIECE_BYTES = 1 << 16
# What is killed is gone at once.
_END_S = 5.0


class Variable(msgspec.Struct, frozen=True):
    """An entry of ``env``."""

    name: str
    value: str = ""


class Settings(msgspec.Struct, frozen=True, rename="camel"):
    """``exec`` of a kubeconfig."""

    api_version: str
    command: str
    args: list[Any] | None = None
    env: list[Variable] | None = None
    install_hint: str | None = None
    provide_cluster_info: bool | None = None


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
    held: object,
    cluster: Mapping[str, Any],
    folder: Path,
    *,
    environ: Mapping[str, str],
    sleep: limit.Sleep,
) -> Credential:
    """Run what a user has as ``exec``; raises CredentialsError. ``folder`` is the kubeconfig's."""
    settings = _settings(held)
    command = settings.command
    if os.sep in command:
        command = str(folder / command)  # a relative path is one from the kubeconfig
    arguments = [str(each) for each in settings.args or ()]
    own = {each.name: each.value for each in settings.env or ()}
    own["KUBERNETES_EXEC_INFO"] = _info(settings, cluster)
    try:
        printed = await _output([command, *arguments], {**environ, **own}, sleep)
    except (OSError, ValueError) as error:
        hint = settings.install_hint or "install it, or put its folder into PATH"
        why = error.strerror if isinstance(error, OSError) else error
        raise CredentialsError(
            f"the exec plugin {command} cannot be started ({why}); {printable(hint)}"
        ) from error
    return _read(printed, command, settings.api_version)


def _settings(held: object) -> Settings:
    try:
        settings = msgspec.convert(held, Settings)
    except msgspec.ValidationError as error:
        raise CredentialsError(f"exec needs apiVersion and command ({error})") from error
    if not settings.command:
        raise CredentialsError("exec needs apiVersion and command")
    return settings


def _info(settings: Settings, cluster: Mapping[str, Any]) -> str:
    """Tell what it wants to know."""
    spec: dict[str, Any] = {"interactive": False}
    if settings.provide_cluster_info:
        spec["cluster"] = {name: value for name, value in cluster.items() if name in _CLUSTER}
    told = {"apiVersion": settings.api_version, "kind": "ExecCredential", "spec": spec}
    return msgspec.json.encode(told).decode()


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
    loop = asyncio.get_running_loop()
    transport, protocol = await loop.subprocess_exec(
        lambda: SubprocessStreamProtocol(_PIECE_BYTES, loop),
        *arguments,
        env=environ,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        # Away from our terminal, where it could ask; and what it starts ends with it.
        start_new_session=True,
    )
    process = asyncio.subprocess.Process(transport, protocol, loop)
    ended = False
    try:
        async with limit.within(_LIMIT_S, sleep):
            printed, complaint = await _said(process, arguments[0])
        ended = True
    except TimeoutError as error:
        raise CredentialsError(
            f"the exec plugin {arguments[0]} did not end in {_LIMIT_S:g} s; does it ask something?"
        ) from error
    finally:
        if not ended:
            await _end(process, transport)
    if process.returncode:
        lines = complaint.decode(errors="replace").strip().splitlines() or ["it said nothing"]
        raise CredentialsError(
            f"the exec plugin {arguments[0]} ended with {process.returncode}: "
            f"{printable(lines[-1])}"
        )
    return printed


async def _said(process: asyncio.subprocess.Process, name: str) -> tuple[bytes, bytes]:
    """Give what it prints, and the end of what it complains of."""
    printed = bytearray()
    complaining = asyncio.create_task(_last(process.stderr))
    try:
        while piece := await _piece(process.stdout):
            printed += piece
            if len(printed) > _MOST_BYTES:
                raise CredentialsError(
                    f"the exec plugin {name} printed more than {_MOST_BYTES >> 20} MiB; is it one "
                    "for credentials?"
                )
        complaint = await complaining
        await process.wait()
    finally:
        complaining.cancel()
        await asyncio.gather(complaining, return_exceptions=True)
    return bytes(printed), complaint


async def _last(stream: asyncio.StreamReader | None) -> bytes:
    held = b""
    while piece := await _piece(stream):
        held = (held + piece)[-_LAST_BYTES:]
    return held


async def _piece(stream: asyncio.StreamReader | None) -> bytes:
    return b"" if stream is None else await stream.read(_PIECE_BYTES)


async def _end(process: asyncio.subprocess.Process, transport: asyncio.SubprocessTransport) -> None:
    """End it and what it has started; what has left its group keeps nothing but its own pipes."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    transport.close()
    with contextlib.suppress(TimeoutError):  # a process that waits for a disk ends when it can
        async with asyncio.timeout(_END_S):
            await process.wait()


def _read(printed: bytes, command: str, version: str) -> Credential:
    try:
        credential = msgspec.json.decode(printed, type=ExecCredential)
    except BROKEN as error:
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
