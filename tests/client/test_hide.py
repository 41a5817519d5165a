"""Secrets that the other side repeats."""

import pytest

from cwgpu.client import hide


@pytest.mark.parametrize(
    ("value", "secrets"),
    [
        ("Bearer t0ken", ["t0ken"]),
        ("Token  t0ken", ["t0ken"]),
        ("t0ken", ["t0ken"]),
        ("Basic bWU6aHVudGVyMg==", ["bWU6aHVudGVyMg==", "hunter2"]),
        ("Basic bWU6cHc=", ["bWU6cHc="]),  # two letters would be found in every other word
        ("Basic odd", []),
        ("Basic oddity", ["oddity"]),
        ("", []),
    ],
)
def test_a_header_holds_secrets(value: str, secrets: list[str]) -> None:
    """Of a header all but its first word is one, and of Basic the password as well."""
    assert list(hide.within(value)) == secrets


def test_the_longest_secret_is_looked_for_first() -> None:
    """A secret that is the beginning of another does not leave the rest of that to be seen."""
    assert hide.text("say hunter22 and hunter2", ["hunter2", "hunter22"]) == "say *** and ***"
