"""How to reach a web server: the HTTP client's keys of prometheus.yml.

https://prometheus.io/docs/prometheus/latest/configuration/configuration/#http_config
"""

from typing import Annotated

from pydantic import BeforeValidator, Field

from cwgpu.config.field import (
    FileText,
    Flag,
    Listed,
    Mapped,
    Section,
    Text,
    Zero,
    as_text,
    is_null,
    refuse,
)
from cwgpu.config.node import short
from cwgpu.config.shape import Model, Use

_TLS_VERSIONS = ("TLS10", "TLS11", "TLS12", "TLS13")


def _version(value: object) -> str:
    if is_null(value):
        return ""
    text = as_text(value)
    if text not in _TLS_VERSIONS:
        message = f"{short(text)} is no TLS version"
        refuse("wrong-value", message, "write TLS10, TLS11, TLS12 or TLS13")
    return text


TlsVersion = Annotated[str, BeforeValidator(_version)]


class Tls(Model):
    """``tls_config``."""

    ca: Text = Field("", description="The CA's certificate, PEM, written out.")
    ca_file: FileText = Field("", description="File of the CA's certificate.")
    cert: Text = Field("", description="The client's certificate, PEM, written out.")
    cert_file: FileText = Field("", description="File of the client's certificate.")
    key: Text = Field("", description="The client's key, PEM, written out.")
    key_file: FileText = Field("", description="File of the client's key.")
    server_name: Text = Field("", description="Name that the server's certificate must have.")
    insecure_skip_verify: Flag = Field(default=False, description="Trust any certificate.")
    min_version: TlsVersion = Field(
        "", description="Oldest TLS version: TLS10 to TLS13. Default TLS12."
    )
    max_version: TlsVersion = Field("", description="Newest TLS version: TLS10 to TLS13.")


class Proxy(Model):
    """The proxy keys, which stand beside others."""

    proxy_url: Text = Field("", description="Proxy to go through.")
    no_proxy: Text = Field(
        "", description="Hosts that are reached without the proxy, with commas between."
    )
    proxy_from_environment: Flag = Field(
        default=False, description="Take the proxy from HTTP_PROXY, HTTPS_PROXY and NO_PROXY."
    )
    proxy_connect_header: Mapped[Listed[Text]] = Field(
        {}, description="Headers for the proxy's CONNECT."
    )


class BasicAuth(Model):
    """``basic_auth``."""

    username: Text = Field("", description="The user's name.")
    username_file: FileText = Field("", description="File that holds the user's name.")
    password: Text = Field("", description="The password; better in a file.")
    password_file: FileText = Field("", description="File that holds the password.")


class Authorization(Model):
    """``authorization``."""

    type: Text = Field("Bearer", description="First word of the Authorization header.")
    credentials: Text = Field("", description="The rest of the header; better in a file.")
    credentials_file: FileText = Field("", description="File that holds the rest of the header.")


class OAuth2(Proxy):
    """``oauth2``: client credentials."""

    client_id: Text = Field("", description="Who we are to the token's issuer.")
    client_secret: Text = Field("", description="Our secret there; better in a file.")
    client_secret_file: FileText = Field("", description="File that holds the secret.")
    scopes: Listed[Text] = Field([], description="Scopes to ask for.")
    token_url: Text = Field("", description="Where tokens are issued.")
    endpoint_params: Mapped[Text] = Field({}, description="Parameters added to the request.")
    tls_config: Section[Tls] = Field(None, description="TLS towards the issuer.")


class Header(Model):
    """One entry of ``http_headers``."""

    values: Listed[Text] = Field([], description="The header's values.")
    secrets: Listed[Text] = Field([], description="Values that are not to be shown.")
    files: Listed[FileText] = Field([], description="Files that hold a value each.")


class Client(Proxy):
    """The keys that stand inline wherever something is fetched."""

    basic_auth: Section[BasicAuth] = Field(None, description="User and password.")
    authorization: Section[Authorization] = Field(
        None, description="What the Authorization header says."
    )
    oauth2: Section[OAuth2] = Field(
        None, description="Get tokens with OAuth 2.0 client credentials."
    )
    bearer_token: Text = Field("", description="Old form of `authorization.credentials`.")
    bearer_token_file: FileText = Field(
        "", description="Old form of `authorization.credentials_file`."
    )
    tls_config: Section[Tls] = Field(None, description="TLS settings.")
    follow_redirects: Flag = Field(default=True, description="Go where a redirect points.")
    enable_http2: Annotated[Flag, Use.ELSEWHERE] = Field(
        default=True, description="HTTP/1.1 is spoken in any case."
    )
    http_headers: Mapped[Zero[Header]] = Field({}, description="Headers to add to each request.")
