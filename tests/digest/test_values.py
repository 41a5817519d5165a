"""The values of a page, all at once."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cwgpu.digest import values
from cwgpu.model.errors import ExpositionError
from cwgpu.prom import number


@pytest.mark.parametrize(
    ("texts", "written", "finite"),
    [
        ([], [], True),
        (["5", "0.25", "-1e3"], ["5", "0.25", "-1e3"], True),
        (["5", "+Inf", "NaN"], ["5", "+Inf", "NaN"], False),
        (["+5", ".5", "5.", "1e3"], ["5", "0.5", "5", "1e3"], False),
        (["01"], ["1"], False),
        (["1" * 33], ["1.1111111111111112e+32"], False),
    ],
)
def test_texts_become_json(texts: list[str], written: list[str], finite: bool) -> None:  # noqa: FBT001 - a table's column
    """A JSON number stays as it is, another number is written anew, and NaN is left to others."""
    found = values.read([text.encode() for text in texts])
    assert [text.decode() for text in found.texts] == written
    assert found.finite is finite


@pytest.mark.parametrize(
    "texts",
    [
        ["x"],
        [""],
        ["1 2"],
        ["1,2"],
        ["", "1,2"],
        ["1", "2,3", ""],
        ["-"],
        ["1]"],
        ["5\r"],
        ["1e309"],
    ],
)
def test_what_is_no_number_is_refused(texts: list[str]) -> None:
    """The page then goes the long way; no text can pass for two."""
    with pytest.raises(ExpositionError):
        values.read([text.encode() for text in texts])


@given(st.lists(st.text("0123456789+-.eE,NaInf ", max_size=12), max_size=4))
def test_all_together_are_read_as_each_alone(texts: list[str]) -> None:
    """The quick way reads a number exactly as the parser of the formats does, or not at all."""
    written = [text.encode() for text in texts]
    try:
        expected = [number.parse(text) for text in written]
    except ExpositionError:
        with pytest.raises(ExpositionError):
            values.read(written)
        return
    found = values.read(written)
    # A zero's sign means nothing to CloudWatch; to compare NaN they are written.
    numbers = [float(one) + 0.0 for one in found.numbers]
    assert list(map(repr, numbers)) == [repr(one + 0.0) for one in expected]
    assert not found.finite or all(map(math.isfinite, numbers))
