"""Secrets are read when they are needed, and never shown."""

import os
from pathlib import Path

import pytest

from cwgpu.client import secret
from cwgpu.client.failure import CredentialsError
from cwgpu.plan.client import Secret


@pytest.mark.parametrize(
    ("held", "text"),
    [
        (b"hunter2", "hunter2"),
        (b"\n \thunter2\r\n\n", "hunter2"),
        (b"hunter 2\n", "hunter 2"),
        (b"", ""),
        ("pässwörd\n".encode(), "pässwörd"),
        (b"\xff\n", "\udcff"),
    ],
)
def test_a_file_is_read_without_white_space_around(tmp_path: Path, held: bytes, text: str) -> None:
    """What editors leave at the end of a file is no part of the secret; other bytes are."""
    path = tmp_path / "password"
    path.write_bytes(held)
    assert secret.text(Secret(file=str(path))) == text
    assert secret.content(Secret(file=str(path))) == held


def test_a_written_secret_is_taken_as_written() -> None:
    """White space in the configuration was meant."""
    assert secret.text(Secret(text=" hunter2 ")) == " hunter2 "
    assert secret.content(Secret(text=" ä ")) == " ä ".encode()


def test_a_file_is_read_anew_each_time(tmp_path: Path) -> None:
    """A change is seen at once, even one that leaves size and time as they were."""
    path = tmp_path / "token"
    held = Secret(file=str(path))
    path.write_text("one")
    os.utime(path, ns=(0, 0))
    assert secret.text(held) == "one"
    path.write_text("two")
    os.utime(path, ns=(0, 0))
    assert secret.text(held) == "two"


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    """A file that is not there is a matter of credentials, with its path and the system's word."""
    path = str(tmp_path / "gone")
    with pytest.raises(CredentialsError) as caught:
        secret.text(Secret(file=path))
    assert str(caught.value) == f"{path} cannot be read (No such file or directory)"


def test_a_directory_and_a_pipe_are_no_files(tmp_path: Path) -> None:
    """What is no file is said to be none; a pipe to which nobody writes is not waited for."""
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe"):
        with pytest.raises(CredentialsError, match=f"{path} is no file"):
            secret.text(Secret(file=str(path)))


def test_a_file_has_a_size(tmp_path: Path) -> None:
    """A file of a MiB is a secret, one of a byte more is somebody's mistake."""
    path = tmp_path / "large"
    path.write_bytes(b"x" * secret.LARGEST_BYTES)
    assert len(secret.text(Secret(file=str(path)))) == secret.LARGEST_BYTES
    path.write_bytes(b"hunter2 " * (secret.LARGEST_BYTES // 8) + b"x")
    with pytest.raises(CredentialsError, match="more than 1048576 bytes") as caught:
        secret.text(Secret(file=str(path)))
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("held", ["hunter2", "", "a b\tc", "pässwörd", "\u2003"])
def test_a_header_holds_text(held: str) -> None:
    """A line of text can stand in a header."""
    assert secret.line(Secret(text=held)) == held


@pytest.mark.parametrize("held", [b"hunter2\nX: y", b"hunter2\rx", b"hunter2\0", b"a\x7f", b"\xff"])
def test_no_header_holds_lines(tmp_path: Path, held: bytes) -> None:
    """Line breaks, control characters and bytes that are no text are refused and not repeated."""
    path = tmp_path / "token"
    path.write_bytes(held)
    with pytest.raises(CredentialsError, match="no header can") as caught:
        secret.line(Secret(file=str(path)))
    assert str(path) in str(caught.value)
    assert "hunter2" not in str(caught.value)
    with pytest.raises(CredentialsError, match="a secret in the configuration"):
        secret.line(Secret(text=held.decode(errors="surrogateescape")))


def test_a_secret_has_a_place() -> None:
    """A sentence names the key, and the file if it is one."""
    assert secret.place(Secret(text="hunter2"), "password") == "password"
    assert secret.place(Secret(file="/etc/x"), "password") == "password_file /etc/x"
