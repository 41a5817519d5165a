"""A kubeconfig: files that kubectl reads, with clusters, users, and contexts that join the two.

Kubernetes' own client reads and merges the files, and knows the providers of tokens that kubectl
had before plugins. It is heavy, so this module is imported only where a kubeconfig is used. Its own
texts of errors are not repeated: they may quote the file, with its tokens.
https://kubernetes.io/docs/concepts/configuration/organize-cluster-access-kubeconfig/
"""

import asyncio
import os
import time
import urllib.parse
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec
from kubernetes.aio.client import Configuration
from kubernetes.aio.config.kube_config import KubeConfigLoader, KubeConfigMerger
from multidict import CIMultiDict
from yarl import URL

from cwgpu.kube import bearer, limit, plugin, tls
from cwgpu.kube.access import Access
from cwgpu.kube.context import Context, choose
from cwgpu.kube.failure import CredentialsError
from cwgpu.kube.plugin import Credential
from cwgpu.plan.kubernetes import Kubeconfig

_Stamp = tuple[tuple[str, int, int], ...]


class KubeconfigUser:
    """The user of a context. Files are read again when they change."""

    def __init__(
        self,
        settings: Kubeconfig,
        *,
        environ: Mapping[str, str] = os.environ,
        sleep: limit.Sleep = asyncio.sleep,
        now_s: Callable[[], float] = time.time,
    ) -> None:
        """``now_s`` gives the seconds since 1970, by which tokens expire."""
        self._settings = settings
        self._environ = environ
        self._sleep = sleep
        self._now_s = now_s
        self._contexts = tls.Contexts()
        self._stamp: _Stamp = ()
        self._context: Context | None = None
        self._credential: Credential | None = None
        """What the plugin gave last."""
        self._lock = asyncio.Lock()
        """One plugin at a time, for all who wait for what it gives."""

    async def access(self) -> Access:
        """Give what the next request carries; raises CredentialsError."""
        async with self._lock:
            context = self._chosen()
            try:
                return await self._access(context)
            except CredentialsError as error:
                raise CredentialsError(f"{context.where}: {error}") from error

    def refused(self, access: Access) -> None:
        """Have the plugin asked again, unless it was since."""
        given = self._credential
        if given is not None and access.headers.get("Authorization", "") == _bearer(given):
            self._credential = None

    def _chosen(self) -> Context:
        home = self._environ.get("HOME", "~")
        named = self._settings.file or self._environ.get("KUBECONFIG") or f"{home}/.kube/config"
        paths = [path for path in named.split(os.pathsep) if path and Path(path).exists()]
        if not paths:
            raise CredentialsError(
                f"there is no kubeconfig {named}; give kubeconfig_file, or set KUBECONFIG"
            )
        stamp = tuple(_stamp(path) for path in paths)
        if self._context is None or stamp != self._stamp:
            self._context = choose(_merged(paths), self._settings.context, named)
            self._stamp, self._credential = stamp, None
        return self._context

    async def _access(self, context: Context) -> Access:
        user, cluster = context.user, context.cluster
        headers: CIMultiDict[str] = CIMultiDict()
        credential = Credential()
        if authorization := await self._told(context):
            headers["Authorization"] = authorization
        elif user.get("exec"):
            credential = await self._plugin(context)
            if credential.token:
                headers["Authorization"] = _bearer(credential)
        _impersonate(headers, user)
        url = str(cluster["server"]).rstrip("/")
        way: dict[str, Any] = {}
        scheme, proxy = URL(url).scheme, self._proxy(url, str(cluster.get("proxy-url") or ""))
        if scheme == "https" or proxy.startswith("https:"):  # the library's own trusts nobody
            way["ssl"] = self._contexts.get(_material(context, credential), "its TLS")
        if scheme == "https":
            way["server_hostname"] = cluster.get("tls-server-name") or None
        if proxy:
            way["proxy"] = proxy
        return Access(url, headers, way)

    async def _told(self, context: Context) -> str:
        """Give the Authorization that the file itself has; empty where it has none."""
        user = context.user
        if token := context.text("tokenFile", "token"):
            return bearer.token(token, "the token")
        if isinstance(user.get("auth-provider"), dict):
            return await _provided(context)
        if user.get("username"):
            return bearer.basic(str(user["username"]), str(user.get("password") or ""))
        return ""

    async def _plugin(self, context: Context) -> Credential:
        kept = self._credential
        if kept is None or (kept.until_s is not None and self._now_s() >= kept.until_s):
            kept = await plugin.run(
                context.user["exec"],
                context.cluster,
                context.user_folder,
                environ=self._environ,
                sleep=self._sleep,
            )
            self._credential = kept
        return kept

    def _proxy(self, url: str, named: str) -> str:
        """Give the proxy that the cluster names, or the environment, as for kubectl."""
        if not named:
            scheme, host = URL(url).scheme, URL(url).host or ""
            if _reached_straight(host, self._variable("no_proxy")):
                return ""
            named = self._variable(f"{scheme}_proxy")
        if named and not named.startswith(("http://", "https://")):
            raise CredentialsError("its proxy is not one of HTTP; write http://HOST:PORT")
        return named

    def _variable(self, name: str) -> str:
        return self._environ.get(name) or self._environ.get(name.upper(), "")


def _reached_straight(host: str, exceptions: str) -> bool:
    names = (each.strip().lstrip(".") for each in exceptions.split(","))
    return any(name and (name in {"*", host} or host.endswith(f".{name}")) for name in names)


def _merged(paths: list[str]) -> Mapping[str, Any]:
    """Read the files; the first that has something counts."""
    shown = os.pathsep.join(paths)
    try:
        merger = KubeConfigMerger(shown)  # type: ignore[no-untyped-call]
        merged: dict[str, Any] = dict(merger.config.value)
        currents = [held.get("current-context") for held in merger.config_files.values()]
    except OSError as error:
        raise CredentialsError(f"{shown} cannot be read ({error.strerror})") from error
    except Exception as error:  # noqa: BLE001 - foreign: any, for a file of another shape
        # Not chained: the text of the error may quote the file.
        kind = type(error).__name__
        raise CredentialsError(f"{shown} is no kubeconfig that can be read ({kind})") from None
    merged["current-context"] = next((name for name in currents if name), "")
    return merged


async def _provided(context: Context) -> str:
    """Ask one of the providers that were there before plugins: oidc, gcp."""
    one = "it"
    document = {
        "current-context": one,
        "contexts": [{"name": one, "context": {"cluster": one, "user": one}}],
        "clusters": [{"name": one, "cluster": {}}],  # so that it writes no files
        "users": [{"name": one, "user": context.user}],
    }
    configuration = Configuration()
    try:
        await _load(document, str(context.user_folder), configuration)
    except Exception as error:
        name = context.user["auth-provider"].get("name", "")
        raise CredentialsError(f"the auth-provider {name} gives no token ({error})") from error
    return str(configuration.api_key.get("BearerToken", ""))


async def _load(document: dict[str, Any], folder: str, into: Configuration) -> None:
    loader = KubeConfigLoader(document, config_base_path=folder)  # type: ignore[no-untyped-call]
    await loader.load_and_set(into)  # type: ignore[no-untyped-call]


def _bearer(credential: Credential) -> str:
    return bearer.token(credential.token, "the plugin's token") if credential.token else ""


class Other(msgspec.Struct, frozen=True, rename="kebab"):
    """Of a user, whom to act as.

    https://kubernetes.io/docs/reference/access-authn-authz/authentication/#user-impersonation
    """

    name: str | None = msgspec.field(name="as", default=None)
    as_uid: str | None = None
    as_groups: list[str] | None = None
    as_user_extra: dict[str, list[str] | None] | None = None


def _impersonate(headers: CIMultiDict[str], user: Mapping[str, Any]) -> None:
    """Act as somebody else."""
    try:
        other = msgspec.convert(user, Other)
    except msgspec.ValidationError as error:
        raise CredentialsError(f"whom to act as cannot be read ({error})") from error
    if other.name:
        headers["Impersonate-User"] = other.name
    if other.as_uid:
        headers["Impersonate-Uid"] = other.as_uid
    for group in other.as_groups or ():
        headers.add("Impersonate-Group", group)
    for name, values in (other.as_user_extra or {}).items():
        for value in values or ():
            headers.add(f"Impersonate-Extra-{urllib.parse.quote(name, safe='')}", value)


def _material(context: Context, credential: Credential) -> tls.Material:
    return tls.Material(
        context.authorities(),
        credential.certificate or context.data("client-certificate"),
        credential.key or context.data("client-key"),
        verifies=not context.cluster.get("insecure-skip-tls-verify"),
    )


def _stamp(path: str) -> tuple[str, int, int]:
    found = Path(path).stat()
    return path, found.st_mtime_ns, found.st_ino
