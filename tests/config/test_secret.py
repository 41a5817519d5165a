"""Secrets in the configuration are not shown, however they are written."""

import pytest

from cwgpu.config import document, load, node, secret
from cwgpu.config.complaint import as_json, render_all
from cwgpu.config.document import Form
from cwgpu.config.where import Found
from tests.config.lint import bench

WORD = "hunter2"


def masked(text: str) -> list[str]:
    """Give the lines of a text as complaints show them."""
    lines = text.splitlines()
    return [secret.masked(lines, number + 1) for number in range(len(lines))]


@pytest.mark.parametrize(
    "line",
    [
        "  password: hunter2",
        "  - password: hunter2",
        "basic_auth: {username: u, password: hunter2, x: y}",
        '{"password": "hunter2", "x": 1}',
        '"bearer_token": "hunter\\"2"',
        '{"password": "hun"hunter2", "x": 1}',
        "credentials: 'hunter2'",
        "client_secret:hunter2",
        'PASSWORD: "hunter2',
        "passord: hunter2",
        "password: a,b}hunter2",
        "password: *hunter2",
        "password: &hunter2",
        "password: !hunter2",
        "password: >- hunter2",
        "password: {hunter2}",
        '"password": ["hunter2"]',
        '"proxy_url": "http://user:hunter2@proxy:3128"',
        '"proxy_url": "http://user:hunter2',
        "url: https://inventory.example/?a=b&token=hunter2&c=d",
        "params: {token: [a, hunter2]}",
        "basic_auth: hunter2",
        "authorization: Bearer hunter2",
        "tls_config: {key: hunter2}",
        "http_headers: {X: {values: [hunter2], secrets: [a, 'b]', hunter2], files: [f]}}",
        "proxy_connect_header: {Proxy-Authorization: [Basic hunter2], X: [hunter2]}",
        '{"proxy_connect_header": {"X": ["hunter2"]}}',
        '{"proxy_connect_header": {"X": {}, "Y": ["hunter2"]}}',
        '{"proxy_connect_header": {"Proxy-Authorization": {}, "Y": ["hunter2"]}}',
        '{"http_headers": {"X": {"secrets": [{}, "hunter2"], "files": ["f"]}}}',
    ],
)
def test_secrets_in_a_line(line: str) -> None:
    """The value of a key that holds a secret is never shown; columns stay where they are."""
    (shown,) = masked(line)
    assert "hunter" not in shown
    assert len(shown) == len(line)


@pytest.mark.parametrize(
    "text",
    [
        "password:\n  hunter2",
        "password: |\n  hunter2\n\n  hunter2: hunter2",
        'bearer_token: "a\n    hunter2"',
        "authorization:\n  Bearer hunter2",
        "http_headers:\n  X:\n    secrets:\n    - hunter2\n    - hunter2",
        "http_headers:\n  X:\n    values:\n      - hunter2",
        "http_headers:\n  X: hunter2",
        "proxy_connect_header:\n  X: [hunter2]\n  Y:\n  - hunter2",
        "tls_config:\n  key: |\n    -----BEGIN\n    hunter2=\n    -----END hunter2",
    ],
)
def test_secrets_over_several_lines(text: str) -> None:
    """What stands below the key of a secret, and further in, is a part of it."""
    assert not any("hunter" in line for line in masked(text))


@pytest.mark.parametrize(
    "text",
    [
        '"credentials": {\n  "role_arn": "arn"\n}',
        "basic_auth:\n  usernam: u\n  password_file: /secret",
        "password: |",
        "password:",
        "bearer_token_file: /token",
        "token_url: https://issuer.example/token",
        "url: http://exporter:9400",
        "url: http://exporter:9400/metrics?a=b",
        "url: http://[::1]:9400/metrics",
        "authorization:\n  type: Token",
        "http_headers:\n  X:\n    files: [a]",
        "scrape_configs:\n- job_name: a\n  password: |\n\n  regex: b",
        "- targets: ['a:9400']\n  labels: {tier: one}",
    ],
)
def test_what_holds_no_secret_is_shown(text: str) -> None:
    """Files of secrets, what stands beside secrets, and keys without a value are none."""
    shown = masked(text)
    assert "\n".join(shown).replace("|\n\n", "|\n") == text.replace("|\n\n", "|\n")


def test_a_line_without_end_is_not_looked_through() -> None:
    """Of a line that nobody wrote nothing is shown, and it takes no time."""
    line = "a-" * 4_000_000
    assert masked(line) == ["*" * len(line)]


def test_a_line_that_is_not_there() -> None:
    """A place outside the text has nothing to show."""
    assert secret.masked(["a"], 0) == secret.masked(["a"], 2) == ""


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("scrape_configs[0].basic_auth.password", True),
        ("scrape_configs[0].basic_auth", True),
        ("scrape_configs[0].basic_auth.username", False),
        ("scrape_configs[0].authorization.type", False),
        ("scrape_configs[0].http_headers.X.secrets[0]", True),
        ("scrape_configs[0].http_headers.X", True),
        ("scrape_configs[0].tls_config.key", True),
        ("scrape_configs[0].tls_config.key_file", False),
        ("agent.credentials.role_arn", False),
        ("cwgpu.storage_resolution", False),
    ],
)
def test_places_of_secrets(path: str, expected: bool) -> None:  # noqa: FBT001 - a table
    """A place is told by the keys that lead to it."""
    assert secret.private(node.loc(path)) is expected


@pytest.mark.parametrize(
    "keys",
    [
        "basic_auth: hunter2",
        "basic_auth: [hunter2]",
        "basic_auth: {username: a, password: [hunter2]}",
        "basic_auth: {username: a, pasword: hunter2}",
        "authorization: Bearer hunter2",
        "authorization: {credentials: *hunter2}",
        "authorization: {credentials: !hunter2 x}",
        "bearer_token: &hunter2 *hunter2",
        "http_headers: {X: hunter2}",
        "http_headers: {X: {secrets: hunter2}}",
        "http_headers: {X Y: {secrets: [hunter2]}}",
        "http_headers: [hunter2]",
        "proxy_connect_header: {X: hunter2}",
        "proxy_url: 'socks5://me:hunter2@proxy'",
        "proxy_url: 'http://me:hun/hunter2@[proxy'",
        "http_sd_configs: [{url: 'ftp://me:hunter2@a/?token=hunter2'}]",
        "static_configs: [{targets: ['http://me:hunter2@a:1']}]",
        "tls_config: {key: hunter2}",
        'tls_config: {key: "\\hunter2"}',
        "bearer_token: hunter2\n  bearer_token: hunter2",
    ],
)
def test_complaints_do_not_tell(keys: str) -> None:
    """Whatever is wrong about a secret, or beside it, it is not in what is said."""
    text = f"scrape_configs:\n- job_name: gpu\n  {keys}\n"
    read = document.read(text.encode(), "f", Form.YAML)
    _, said = load.prometheus_file(Found(read.root, read.complaints, bench.HERE))
    assert said
    told = render_all(said) + "".join(str(as_json(each)) for each in said)
    assert WORD not in told


@pytest.mark.parametrize(
    "value",
    [WORD, "'hunter2'", f'"hun"{WORD}"', f'"\\ud800{WORD}"', f"[{WORD}]", f'["a" {WORD}]'],
)
def test_broken_json_does_not_tell(value: str) -> None:
    """A secret that is no JSON is not quoted either."""
    text = f'{{"scrape_configs": [{{"basic_auth": {{\n"password": {value}\n}}}}]}}'
    read = document.read(text.encode(), "f", Form.JSON)
    assert read.broken
    assert WORD not in render_all(read.complaints)


def test_users_of_urls_are_not_quoted() -> None:
    """A URL in a sentence shows no password, not even a long one that is cut."""
    assert node.short("http://me:hunter2@a/b") == "'http://**********@a/b'"
    assert WORD not in node.short(f"http://{WORD * 20}@a/b")
