"""What the Authorization header says of us."""

import base64

from cwgpu.kube.failure import CredentialsError


def token(text: str, where: str) -> str:
    """Give a token as the Authorization header has it; raises CredentialsError."""
    return f"Bearer {line(text, where)}"


def basic(name: str, password: str) -> str:
    """Give name and password as the Authorization header has them."""
    return f"Basic {base64.b64encode(f'{name}:{password}'.encode()).decode()}"


def line(text: str, where: str) -> str:
    """Give a text without white space around it, if it can stand in a header."""
    value = text.strip()
    if not value:
        raise CredentialsError(f"{where} is empty")
    if not (value.isascii() and value.isprintable()):
        raise CredentialsError(f"{where} holds what no header can; it must be one line of ASCII")
    return value
