"""What is remembered by labels and metrics."""

from cwgpu.digest.memo import Memo
from cwgpu.emf.template import Metric

A, B = (Metric("a", ()),), (Metric("b", ()),)


def test_it_is_made_once_for_equal_labels_and_metrics() -> None:
    """Whoever asks again gets what was made before."""
    memo: Memo[object] = Memo(lambda labels, metrics: [labels, metrics])
    first = memo.give((("x", "1"),), A)
    assert memo.give((("x", "1"),), (Metric("a", ()),)) is first
    assert memo.give((("x", "2"),), A) != first
    assert memo.give((("x", "1"),), B) != first
    assert len(memo) == 3


def test_what_nobody_asks_for_is_forgotten() -> None:
    """It lasts from one ``age`` to the next, and on if it was asked for."""
    memo: Memo[object] = Memo(lambda labels, metrics: [labels, metrics])
    first, other = memo.give((), A), memo.give((), B)
    memo.age()
    assert memo.give((), A) is first
    memo.age()
    assert (memo.give((), A) is first, len(memo)) == (True, 1)
    assert memo.give((), B) is not other
