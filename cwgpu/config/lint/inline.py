"""Secrets that stand in the configuration itself."""

from collections.abc import Iterator

from cwgpu.config.client import Client, OAuth2
from cwgpu.config.lint.subject import Job
from cwgpu.config.node import Loc


def inline_secret(job: Job) -> None:
    """Find secrets that are written out where a file would do."""
    for client, loc in _clients(job):
        for where, better in _secrets(client):
            message = "a secret stands here, where everybody sees it who may read this file"
            advice = f"write {better}: it is read again when it changes"
            job.report.note((*loc, *where), "inline-secret", message, advice)


def _clients(job: Job) -> Iterator[tuple[Client, Loc]]:
    written = job.written
    yield written, job.loc
    for index, web in enumerate(written.http_sd_configs):
        yield web, (*job.loc, "http_sd_configs", index)
    for index, cluster in enumerate(written.kubernetes_sd_configs):
        yield cluster, (*job.loc, "kubernetes_sd_configs", index)


def _secrets(client: Client) -> Iterator[tuple[Loc, str]]:
    """Yield where secrets are, and what may stand there instead."""
    if client.basic_auth and client.basic_auth.password:
        yield ("basic_auth", "password"), "password_file"
    if client.authorization and client.authorization.credentials:
        yield ("authorization", "credentials"), "credentials_file"
    if client.bearer_token:
        yield ("bearer_token",), "authorization with credentials_file"
    if client.oauth2:
        yield from _of_oauth2(client.oauth2)
    if client.tls_config and client.tls_config.key:
        yield ("tls_config", "key"), "key_file"
    for name, header in client.http_headers.items():
        if header.secrets:
            yield ("http_headers", name, "secrets"), "files"


def _of_oauth2(oauth2: OAuth2) -> Iterator[tuple[Loc, str]]:
    if oauth2.client_secret:
        yield ("oauth2", "client_secret"), "client_secret_file"
    if oauth2.tls_config and oauth2.tls_config.key:
        yield ("oauth2", "tls_config", "key"), "key_file"
