"""Secrets, read at the moment they are needed.

A file is read for each request, as in Prometheus: who rotates a password or a token has nothing to
restart, and a change of the same size within the same tick of the clock is seen, too. The files are
small and local (Kubernetes mounts them from memory), so reading one takes some 20 microseconds.

What is wrong is said with the file's name and never with what stands in it.
"""

import os
import stat

from cwgpu.client.failure import CredentialsError
from cwgpu.plan.client import Secret

# What Kubernetes lets a Secret hold: https://kubernetes.io/docs/concepts/configuration/secret/
LARGEST_BYTES = 1 << 20


def content(secret: Secret) -> bytes:
    """Give all bytes of a secret, as they are; raises CredentialsError."""
    if not secret.file:
        return secret.text.encode(errors="surrogateescape")
    try:
        return _read(secret.file)
    except OSError as error:
        raise CredentialsError(f"{secret.file} cannot be read ({error.strerror})") from error


def text(secret: Secret) -> str:
    """Give a secret as text; that of a file without white space around it, as in Prometheus."""
    if not secret.file:
        return secret.text
    return content(secret).decode(errors="surrogateescape").strip()


def line(secret: Secret) -> str:
    """Give a secret that can stand in a header; raises CredentialsError when it cannot."""
    value = text(secret)
    if all(_may_stand_in_header(character) for character in value):
        return value
    place = secret.file or "a secret in the configuration"
    raise CredentialsError(
        f"{place} holds what no header can: a line break, a control character or no UTF-8; "
        "write one line of text"
    )


def place(secret: Secret, key: str) -> str:
    """Say where a secret stands, for a sentence: ``password_file /etc/x`` or ``password``."""
    return f"{key}_file {secret.file}" if secret.file else key


def _may_stand_in_header(character: str) -> bool:
    # https://www.rfc-editor.org/rfc/rfc9110#section-5.5; lone surrogates are bytes that no UTF-8
    # has, and the HTTP library writes headers in UTF-8.
    lone = "\ud800" <= character <= "\udfff"
    return character == "\t" or (character >= " " and character != "\x7f" and not lone)


def _read(path: str) -> bytes:
    # Without O_NONBLOCK, opening a named pipe would wait for ever for somebody to write.
    number = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if not stat.S_ISREG(os.fstat(number).st_mode):
            raise CredentialsError(f"{path} is no file; write the path of one")
        with open(number, "rb", closefd=False) as file:
            held = file.read(LARGEST_BYTES + 1)
    finally:
        os.close(number)
    if len(held) > LARGEST_BYTES:
        raise CredentialsError(f"{path} has more than {LARGEST_BYTES} bytes; is it the right file?")
    return held
