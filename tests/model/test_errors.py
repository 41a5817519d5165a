"""The tree of errors."""

import inspect
import re

from cwgpu.model import errors


def test_the_tree_at_the_top_is_the_tree() -> None:
    """The drawing names every class, and each hangs from the root."""
    classes = dict(inspect.getmembers(errors, inspect.isclass))
    assert all(issubclass(one, errors.CwgpuError) for one in classes.values())
    assert set(re.findall(r"\b\w+Error_?\b", errors.__doc__ or "")) == set(classes)
