"""Secrets that are written out are told, and not shown."""

import pytest

from cwgpu.config.complaint import render
from tests.config.lint import bench


def notes(keys: str) -> list[tuple[str, str]]:
    """Give the places of secrets in a job, and what may stand there instead."""
    text = f"scrape_configs:\n- job_name: gpu\n  static_configs: [{{targets: ['a:1']}}]\n  {keys}\n"
    said = bench.said(jobs=bench.jobs(text))
    assert {(each.code, each.level.value) for each in said} <= {("inline-secret", "note")}
    assert not any("hunter2" in render(each) for each in said)
    return [(each.path.partition("].")[2], each.help.partition(":")[0]) for each in said]


@pytest.mark.parametrize(
    ("keys", "place", "better"),
    [
        ("basic_auth: {username: u, password: hunter2}", "basic_auth.password", "password_file"),
        (
            "authorization: {credentials: hunter2}",
            "authorization.credentials",
            "credentials_file",
        ),
        ("bearer_token: hunter2", "bearer_token", "authorization with credentials_file"),
        ("oauth2: {client_secret: hunter2}", "oauth2.client_secret", "client_secret_file"),
        ("oauth2: {tls_config: {key: hunter2}}", "oauth2.tls_config.key", "key_file"),
        ("tls_config: {key: hunter2}", "tls_config.key", "key_file"),
        ("http_headers: {X: {secrets: [hunter2]}}", "http_headers.X.secrets", "files"),
        (
            "http_sd_configs: [{url: 'http://a', bearer_token: hunter2}]",
            "http_sd_configs[0].bearer_token",
            "authorization with credentials_file",
        ),
        (
            "kubernetes_sd_configs: [{role: pod, basic_auth: {password: hunter2}}]",
            "kubernetes_sd_configs[0].basic_auth.password",
            "password_file",
        ),
    ],
)
def test_a_secret_that_is_written_out(keys: str, place: str, better: str) -> None:
    """Each has a key for a file, which is named."""
    assert notes(keys) == [(place, f"write {better}")]


@pytest.mark.parametrize(
    "keys",
    [
        "basic_auth: {username: u, password_file: f}",
        "authorization: {credentials_file: f}",
        "oauth2: {client_secret_file: f, tls_config: {ca_file: f}}",
        "tls_config: {key_file: f, cert: c}",
        "http_headers: {X: {values: [a], files: [f]}}",
    ],
)
def test_a_secret_in_a_file(keys: str) -> None:
    """Files are as it should be."""
    assert notes(keys) == []
