"""Every report is run by a test, or has a reason not to be."""

from collections import Counter

from tests.reports import apart, rows, test_config, test_cost, test_emf, test_gpu

TESTED = {
    name for module in (test_emf, test_gpu, test_cost, test_config) for name in rows.run_by(module)
}


def test_the_reports_are_all_there() -> None:
    """No report gets lost on the way here."""
    assert Counter(row["category"] for row in rows.ROWS.values()) == {
        "emf": 27,
        "gpu": 24,
        "cost": 10,
        "config": 14,
    }


def test_none_is_silently_missing() -> None:
    """Each is the parameter of a test, or listed; what is not ours is not tested."""
    assert TESTED | apart.NOT_OURS.keys() | apart.GAPS.keys() == rows.ROWS.keys()
    assert not TESTED & apart.NOT_OURS.keys()
    assert not apart.GAPS.keys() & apart.NOT_OURS.keys()


def test_the_lists_do_not_grow_unseen() -> None:
    """Whoever lists one more changes a number here, and gives a reason for it."""
    assert (len(apart.NOT_OURS), len(apart.GAPS)) == (10, 0)
    assert all(map(str.strip, (*apart.NOT_OURS.values(), *apart.GAPS.values())))
