"""Labels that every object has."""

import pytest

from cwgpu.model.objects import Meta
from cwgpu.prom.kubernetes import meta


def test_keys_that_become_one_label_do_not_depend_on_chance() -> None:
    """Of `a.b` and `a/b` the last in order counts."""
    labels = meta.described("pod", Meta(name="p", labels={"a/b": "slash", "a.b": "dot"}))
    assert labels["__meta_kubernetes_pod_label_a_b"] == "slash"


@pytest.mark.parametrize(
    ("key", "expected"), [("app.kubernetes.io/name", "app_kubernetes_io_name"), ("Ä€-9", "___9")]
)
def test_each_character_that_does_not_fit_is_one_underscore(key: str, expected: str) -> None:
    """Characters are code points, as in Prometheus, not bytes."""
    assert meta.fit(key) == expected


def test_an_ipv6_address_stands_in_brackets() -> None:
    """Only then can its port be told from it."""
    assert meta.joined("fd00::1", 9400) == "[fd00::1]:9400"
