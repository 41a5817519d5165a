"""Label sets as keys, and on top of each other."""

import pytest

from cwgpu.model import labels
from cwgpu.model.labels import Layered


def test_the_key_of_a_label_set_is_sorted_and_without_empty_values() -> None:
    """Equal label sets have equal keys, and an empty value is no label."""
    assert labels.pairs({"b": "2", "a": "1", "c": ""}) == (("a", "1"), ("b", "2"))
    assert labels.pairs({"a": "1", "b": "2"}) == labels.pairs({"b": "2", "a": "1", "x": ""})


def test_layers_are_one_label_set() -> None:
    """What is above hides what is below, even by being empty; then the defaults show."""
    made = Layered(
        {"job": "dcgm", "scheme": "http", "path": "/"},
        {"job": "pods", "scheme": "https", "node": "n1", "zone": "z"},
        {"scheme": "", "node": "", "pod": "p"},
    )
    whole = {"job": "pods", "scheme": "http", "path": "/", "zone": "z", "pod": "p"}
    assert made.joined() == whole
    assert made == whole
    assert whole == made
    assert made != {**whole, "node": "n1"}
    assert {name: made[name] for name in made} == dict(made.items()) == dict(made) == whole
    assert (len(made), repr(made)) == (5, repr(made.joined()))
    assert ("node" in made, made.get("node")) == (False, None)


@pytest.mark.parametrize("name", ["node", "other"])
def test_a_label_that_is_in_no_layer(name: str) -> None:
    """One that is empty in all of them is in none."""
    with pytest.raises(KeyError, match=name):
        Layered({}, {"node": "n1"}, {"node": ""})[name]
