"""Secrets out of text."""

import pytest

from cwgpu.telemetry import mask

# The examples of AWS' own documentation.
KEY_ID = "AKIAIOSFODNN7EXAMPLE"
SECRET = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"  # noqa: S105
SESSION = "IQoJb3JpZ2luX2VjEJr//////////wEaCXVzLWVhc3QtMSJHMEUCIQ=="


@pytest.mark.parametrize(
    "text",
    [
        f"key {KEY_ID} is unknown",
        f"ASIA{KEY_ID[4:]}",
        f"aws_secret_access_key={SECRET}",
        f"aws_secret_access_key = {SECRET}",
        f"secret {SECRET} in the open",
        f'{{"SecretAccessKey": "{SECRET}", "SessionToken": "{SESSION}"}}',
        f"{{'SecretAccessKey': '{SECRET}'}}",
        f"X-Amz-Security-Token: {SESSION}",
        f"token is {SESSION}",
        "Authorization: Bearer abc.def.ghi",
        "{'Authorization': 'Basic dXNlcjpwYXNz'}",
        'authorization="Token very-secret"',
        f"Authorization: AWS4-HMAC-SHA256 Credential={KEY_ID}/2026, Signature=abc123",
        "AWS4-HMAC-SHA256 Credential=x, Signature=abc123",
        "sent Bearer abc.def.ghi to it",
        "sent Basic dXNlcjpwYXNz to it",
        "http://user:hunter2@host:9400/metrics",
        "http://user:hun@ter2@host:9400/metrics",
        "https://tok-hunter2@host/",
        "http://user:hunter2%40host:9400/metrics",
        "http://host:9400%3Ftoken=hunter2/metrics",
        "http://host/?a=1&token=hunter2&b=2",
        "http://host/?api_key=hunter2",
        "http://host/?X-Amz-Signature=hunter2;x",
        "http://host/?x-key=hunter2#f",
        "password: hunter2",
        "client_secret=hunter2,",
        "-----BEGIN RSA PRIVATE KEY-----\nhunter2\n-----END RSA PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\nhunter2",
    ],
)
def test_secrets_are_hidden(text: str) -> None:
    """Keys, tokens, passwords and signatures do not come through, wherever they stand."""
    shown = mask.text(text)
    assert "***" in shown
    secrets = (KEY_ID[6:], SECRET, SESSION[20:], "abc.def", "dXNl", "hunter", "very-s", "abc123")
    assert not [secret for secret in secrets if secret in shown]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "http://10.0.0.1:9400/metrics?collect[]=a&gpu=0",
        "ExpiredTokenException: The security token included in the request is expired",
        'DCGM_FI_DEV_GPU_TEMP{gpu="0",UUID="GPU-ff76f8d0-1b4c-4f4e-8f0a-1b2c3d4e5f60"} 41',
        "da39a3ee5e6b4b0d3255bfef95601890afd80709",
        "/var/lib/Kubelet1/pods/abcdefgh/volumes1",
        "nextSequenceToken=49590302938",
        "password_file: /etc/secret/password",
        "basic understanding",
        "user@host has mail",
    ],
)
def test_what_is_no_secret_is_shown(text: str) -> None:
    """Labels, hashes, paths, paging marks and errors' names stay readable."""
    assert mask.text(text) == text


@pytest.mark.parametrize(
    ("name", "secret"),
    [
        ("token", True),
        ("bearer_token", True),
        ("SecretAccessKey", True),
        ("access_key_id", True),
        ("X-Amz-Security-Token", True),
        ("Authorization", True),
        ("passwd", True),
        ("target", False),
        ("next_token", False),
        ("tokens_file", False),
        ("reason", False),
    ],
)
def test_names_of_secrets(name: str, secret: bool) -> None:  # noqa: FBT001
    """A field is known for a secret by its name."""
    assert mask.is_secret(name) is secret


@pytest.mark.parametrize(
    "piece", ["a", "=", ":", "/", " ", "://", "&", "?a=", "-----BEGIN ", "basic ", "A1b"]
)
def test_long_text_costs_no_more_than_its_length(piece: str) -> None:
    """No text makes the patterns run away."""
    text = piece * (300_000 // len(piece))
    # In quadratic time this would take minutes, which the runner's timeout does not grant.
    assert mask.text(text) == text
