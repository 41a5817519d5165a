"""Wildcards in the names of target files."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cwgpu.discovery import glob


# What filepath.Match of Go 1.23 says.
@pytest.mark.parametrize(
    ("pattern", "matched", "not_matched"),
    [
        ("*.json", [".json", "a.json", "a\nb.json"], ["a.jsonx", "json"]),
        ("a*b*.yml", ["ab.yml", "a-b-.yml"], ["a.yml"]),
        ("gpu-?.json", ["gpu-1.json", "gpu-?.json"], ["gpu-.json", "gpu-10.json"]),
        (
            "gpu-[0-9a].json",
            ["gpu-0.json", "gpu-9.json", "gpu-a.json"],
            ["gpu-b.json", "gpu-.json"],
        ),
        ("gpu-[^0-9].json", ["gpu-a.json", "gpu-^.json"], ["gpu-0.json"]),
        ("[\\]\\-x].json", ["].json", "-.json", "x.json"], ["\\.json"]),
        ("[9-0a].json", ["a.json"], ["9.json", "0.json", "-.json"]),
        ("[!a].json", ["!.json", "a.json"], ["b.json"]),
        ("\\*.json", ["*.json"], ["a.json", "\\.json"]),
        ("a.b+(c)$^].json", ["a.b+(c)$^].json"], ["aXb+(c)$^].json"]),
    ],
)
def test_patterns_mean_what_go_says(
    pattern: str, matched: list[str], not_matched: list[str]
) -> None:
    """The whole name has to match."""
    means = glob.compiled(pattern)
    assert [name for name in matched + not_matched if means.fullmatch(name)] == matched


@pytest.mark.parametrize("pattern", ["a[.json", "[]a].json", "[a-].json", "[^].json", "a.json\\"])
def test_what_does_not_end_is_refused(pattern: str) -> None:
    """It is no pattern in Go, either."""
    with pytest.raises(ValueError, match="begins something that does not end"):
        glob.compiled(pattern)


@given(st.text())
def test_a_plain_name_means_itself(name: str) -> None:
    """Where no wildcard is, nothing else is found."""
    if glob.is_plain(name):
        assert glob.compiled(name).fullmatch(name)
        assert not glob.compiled(name).fullmatch(name + "x")
