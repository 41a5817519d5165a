"""How to reach a scrape target: the HTTP client's keys of prometheus.yml.

Their names and types are checked here; nothing acts on them yet.
https://prometheus.io/docs/prometheus/latest/configuration/configuration/#scrape_config
"""

from typing import Annotated

from pydantic import Field

from cwgpu.config.field import Flag, Listed, Mapped, Section, Text
from cwgpu.config.shape import Model, Use


class Tls(Model):
    """``tls_config``."""

    ca: Text = Field("", description="The CA's certificate, PEM, written out.")
    ca_file: Text = Field("", description="File of the CA's certificate.")
    cert: Text = Field("", description="The client's certificate, PEM, written out.")
    cert_file: Text = Field("", description="File of the client's certificate.")
    key: Text = Field("", description="The client's key, PEM, written out.")
    key_file: Text = Field("", description="File of the client's key.")
    server_name: Text = Field("", description="Name that the server's certificate must have.")
    insecure_skip_verify: Flag = Field(default=False, description="Trust any certificate.")
    min_version: Text = Field("", description="Oldest TLS version: TLS10 to TLS13.")
    max_version: Text = Field("", description="Newest TLS version: TLS10 to TLS13.")


class Proxy(Model):
    """The proxy keys, which stand beside others."""

    proxy_url: Annotated[Text, Use.LATER] = Field("", description="Proxy to go through.")
    no_proxy: Annotated[Text, Use.LATER] = Field(
        "", description="Hosts that are reached without the proxy, with commas between."
    )
    proxy_from_environment: Annotated[Flag, Use.LATER] = Field(
        default=False, description="Take the proxy from HTTP_PROXY, HTTPS_PROXY and NO_PROXY."
    )
    proxy_connect_header: Annotated[Mapped[Listed[Text]], Use.LATER] = Field(
        {}, description="Headers for the proxy's CONNECT."
    )


class BasicAuth(Model):
    """``basic_auth``."""

    username: Text = Field("", description="The user's name.")
    username_file: Text = Field("", description="File that holds the user's name.")
    password: Text = Field("", description="The password; better in a file.")
    password_file: Text = Field("", description="File that holds the password.")


class Authorization(Model):
    """``authorization``."""

    type: Text = Field("Bearer", description="First word of the Authorization header.")
    credentials: Text = Field("", description="The rest of the header; better in a file.")
    credentials_file: Text = Field("", description="File that holds the rest of the header.")


class OAuth2(Proxy):
    """``oauth2``: client credentials."""

    client_id: Text = Field("", description="Who we are to the token's issuer.")
    client_secret: Text = Field("", description="Our secret there; better in a file.")
    client_secret_file: Text = Field("", description="File that holds the secret.")
    scopes: Listed[Text] = Field([], description="Scopes to ask for.")
    token_url: Text = Field("", description="Where tokens are issued.")
    endpoint_params: Mapped[Text] = Field({}, description="Parameters added to the request.")
    tls_config: Section[Tls] = Field(None, description="TLS towards the issuer.")


class Header(Model):
    """One entry of ``http_headers``."""

    values: Listed[Text] = Field([], description="The header's values.")
    secrets: Listed[Text] = Field([], description="Values that are not to be shown.")
    files: Listed[Text] = Field([], description="Files that hold a value each.")


class Client(Proxy):
    """The keys that stand inline wherever something is fetched."""

    basic_auth: Annotated[Section[BasicAuth], Use.LATER] = Field(
        None, description="User and password."
    )
    authorization: Annotated[Section[Authorization], Use.LATER] = Field(
        None, description="What the Authorization header says."
    )
    oauth2: Annotated[Section[OAuth2], Use.LATER] = Field(
        None, description="Get tokens with OAuth 2.0 client credentials."
    )
    bearer_token: Annotated[Text, Use.LATER] = Field(
        "", description="Old form of `authorization.credentials`."
    )
    bearer_token_file: Annotated[Text, Use.LATER] = Field(
        "", description="Old form of `authorization.credentials_file`."
    )
    tls_config: Annotated[Section[Tls], Use.LATER] = Field(None, description="TLS settings.")
    follow_redirects: Annotated[Flag, Use.LATER] = Field(
        default=True, description="Go where a redirect points."
    )
    enable_http2: Annotated[Flag, Use.LATER] = Field(
        default=True, description="Speak HTTP/2; cwgpu speaks HTTP/1.1."
    )
    http_headers: Annotated[Mapped[Header], Use.LATER] = Field(
        {}, description="Headers to add to each request."
    )
