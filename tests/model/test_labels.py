"""Label sets as keys."""

from cwgpu.model import labels


def test_the_key_of_a_label_set_is_sorted_and_without_empty_values() -> None:
    """Equal label sets have equal keys, and an empty value is no label."""
    assert labels.pairs({"b": "2", "a": "1", "c": ""}) == (("a", "1"), ("b", "2"))
    assert labels.pairs({"a": "1", "b": "2"}) == labels.pairs({"b": "2", "a": "1", "x": ""})
