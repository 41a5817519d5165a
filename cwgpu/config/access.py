"""How servers are spoken to: from the HTTP client's models to the plan's."""

from collections.abc import Iterable, Mapping
from pathlib import PurePath

from cwgpu.config import client as written
from cwgpu.config import exclusive
from cwgpu.plan.client import (
    Authorization,
    BasicAuth,
    Client,
    OAuth2,
    Proxy,
    Secret,
    Tls,
)


def client(keys: written.Client, directory: PurePath) -> Client:
    """Make the client; relative file names begin at ``directory``."""
    return Client(
        credentials=_credentials(keys, directory),
        tls=_tls(keys.tls_config, directory),
        proxy=_proxy(keys),
        follow_redirects=keys.follow_redirects,
        headers=_headers(keys.http_headers, directory),
    )


def _credentials(
    keys: written.Client, directory: PurePath
) -> BasicAuth | Authorization | OAuth2 | None:
    if basic := keys.basic_auth:
        return BasicAuth(
            _secret(basic.username, basic.username_file, directory),
            _secret(basic.password, basic.password_file, directory),
        )
    if given := keys.authorization:
        kind = given.type.strip() or "Bearer"
        return Authorization(kind, _secret(given.credentials, given.credentials_file, directory))
    if keys.oauth2:
        return _oauth2(keys.oauth2, directory)
    if keys.bearer_token or keys.bearer_token_file:
        token = _secret(keys.bearer_token, keys.bearer_token_file, directory)
        return Authorization("Bearer", token)
    return None


def _oauth2(keys: written.OAuth2, directory: PurePath) -> OAuth2:
    return OAuth2(
        client_id=keys.client_id,
        client_secret=_secret(keys.client_secret, keys.client_secret_file, directory),
        token_url=keys.token_url,
        scopes=tuple(keys.scopes),
        endpoint_params=dict(keys.endpoint_params),
        tls=_tls(keys.tls_config, directory),
        proxy=_proxy(keys),
    )


def _tls(keys: written.Tls | None, directory: PurePath) -> Tls:
    if keys is None:
        return Tls()
    return Tls(
        ca=_pem(keys.ca, keys.ca_file, directory),
        cert=_pem(keys.cert, keys.cert_file, directory),
        key=_pem(keys.key, keys.key_file, directory),
        server_name=keys.server_name,
        insecure_skip_verify=keys.insecure_skip_verify,
        min_version=keys.min_version,
        max_version=keys.max_version,
    )


def _proxy(keys: written.Proxy) -> Proxy:
    return Proxy(
        url=keys.proxy_url,
        no_proxy=keys.no_proxy,
        from_environment=keys.proxy_from_environment,
        connect_headers=_usable(
            {name: map(Secret, values) for name, values in keys.proxy_connect_header.items()}
        ),
    )


def _headers(
    keys: Mapping[str, written.Header], directory: PurePath
) -> dict[str, tuple[Secret, ...]]:
    """Keep the order in which Prometheus adds them: values, secrets, files."""
    return _usable(
        {
            name: (
                *map(Secret, (*header.values, *header.secrets)),
                *(_secret("", file, directory) for file in header.files if file),
            )
            for name, header in keys.items()
        }
    )


def _usable(headers: Mapping[str, Iterable[Secret]]) -> dict[str, tuple[Secret, ...]]:
    """Leave out what HTTP does not allow; a warning says so."""
    made = {name: tuple(values) for name, values in headers.items()}
    return {
        name: values
        for name, values in made.items()
        if exclusive.usable(name, (each.text for each in values))
    }


def _pem(text: str, file: str, directory: PurePath) -> Secret | None:
    return _secret(text, file, directory) if text or file else None


def _secret(text: str, file: str, directory: PurePath) -> Secret:
    return Secret(text, str(directory / file) if file else "")
