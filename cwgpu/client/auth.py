"""The Authorization header, but for tokens that have to be fetched (``oauth2``).

https://www.rfc-editor.org/rfc/rfc7617 (basic) and https://www.rfc-editor.org/rfc/rfc6750 (bearer).
"""

import base64

from cwgpu.client import secret
from cwgpu.plan.client import Authorization, BasicAuth, Client, OAuth2


def header(credentials: BasicAuth | Authorization) -> str:
    """Give the header's value; raises CredentialsError."""
    if isinstance(credentials, BasicAuth):
        return basic(secret.text(credentials.username), secret.text(credentials.password))
    return f"{credentials.type} {secret.line(credentials.credentials)}"


def basic(username: str, password: str) -> str:
    """Give the header's value for a user; bytes that are no UTF-8 stay what they are."""
    pair = f"{username}:{password}".encode(errors="surrogateescape")
    return f"Basic {base64.b64encode(pair).decode()}"


def describe(client: Client) -> str:
    """Say which credentials a client sends, by kind and place, to somebody who got a 401."""
    match client.credentials:
        case BasicAuth(password=password):
            return f"basic_auth with {secret.place(password, 'password')}"
        case Authorization(type=kind, credentials=held):
            return f"authorization of type {kind} with {secret.place(held, 'credentials')}"
        case OAuth2(client_id=identity):
            return f"an oauth2 token for client_id {identity}"
    return "no credentials"
