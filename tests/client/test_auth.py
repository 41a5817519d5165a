"""The Authorization header."""

from pathlib import Path

import pytest

from cwgpu.client import auth
from cwgpu.client.failure import CredentialsError
from cwgpu.plan.client import Authorization, BasicAuth, Client, OAuth2, Secret


def test_basic_auth_is_encoded() -> None:
    """User and password are joined and put into base64; a password may hold colons."""
    credentials = BasicAuth(Secret(text="Aladdin"), Secret(text="open sesame"))
    # The example of https://www.rfc-editor.org/rfc/rfc7617#section-2
    assert auth.header(credentials) == "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="
    assert auth.basic("u", "p:w") == "Basic dTpwOnc="


def test_a_password_may_be_any_bytes(tmp_path: Path) -> None:
    """Bytes of a file that are no UTF-8 are sent as they are."""
    (tmp_path / "user").write_text("u\n")
    (tmp_path / "password").write_bytes(b"\xe9\n")
    credentials = BasicAuth(
        Secret(file=str(tmp_path / "user")), Secret(file=str(tmp_path / "password"))
    )
    assert auth.header(credentials) == "Basic dTrp"


def test_authorization_has_a_type() -> None:
    """Type and credentials are two words."""
    assert auth.header(Authorization("Bearer", Secret(text="tok"))) == "Bearer tok"
    assert auth.header(Authorization("Token", Secret(text="tok"))) == "Token tok"


def test_a_token_of_two_lines_is_refused() -> None:
    """A token cannot smuggle a header in."""
    with pytest.raises(CredentialsError):
        auth.header(Authorization("Bearer", Secret(text="tok\r\nX: y")))


@pytest.mark.parametrize(
    ("credentials", "said"),
    [
        (None, "no credentials"),
        (BasicAuth(Secret(text="u"), Secret(text="hunter2")), "basic_auth with password"),
        (
            BasicAuth(Secret(text="u"), Secret(file="/etc/pw")),
            "basic_auth with password_file /etc/pw",
        ),
        (
            Authorization("Bearer", Secret(file="/etc/token")),
            "authorization of type Bearer with credentials_file /etc/token",
        ),
        (
            Authorization("Bearer", Secret(text="hunter2")),
            "authorization of type Bearer with credentials",
        ),
        (
            OAuth2("cwgpu", Secret(text="hunter2"), "http://issuer/"),
            "an oauth2 token for client_id cwgpu",
        ),
    ],
)
def test_credentials_are_described(
    credentials: BasicAuth | Authorization | OAuth2 | None, said: str
) -> None:
    """Kind and file are told, content never."""
    assert auth.describe(Client(credentials)) == said
