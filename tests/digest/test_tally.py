"""The account of the samples that go nowhere."""

from cwgpu.digest.tally import MOST_NAMES, Tally
from cwgpu.model.drop import DropReason
from cwgpu.model.reading import Drop


def test_counts_and_first_names_by_reason() -> None:
    """Reasons come in the order in which a sample meets them, names in that of the page."""
    tally = Tally()
    for number in range(MOST_NAMES + 2):
        tally.add(DropReason.UNSELECTED, f"m{number}")
        tally.add(DropReason.UNSELECTED, "m0")
    tally.add(DropReason.BAD_LINE, "line 1", count=3)
    assert tally.drops() == (
        Drop(DropReason.BAD_LINE, 3, ("line 1",)),
        Drop(DropReason.UNSELECTED, 2 * (MOST_NAMES + 2), ("m0", "m1", "m2", "m3", "m4")),
    )


def test_an_account_goes_on_from_another() -> None:
    """What is dropped whatever its value is the beginning of each scrape's account."""
    before = (Drop(DropReason.UNTYPED, 1, ("u",)), Drop(DropReason.UNSELECTED, 2, ("a",)))
    tally = Tally(before)
    tally.add(DropReason.UNSELECTED, "b")
    assert tally.drops() == (
        Drop(DropReason.UNTYPED, 1, ("u",)),
        Drop(DropReason.UNSELECTED, 3, ("a", "b")),
    )
    assert Tally(before).drops() == before


def test_only_the_beginning_of_an_endless_name_is_kept() -> None:
    """A name is shown to be recognised; nobody reads a megabyte."""
    tally = Tally()
    tally.add(DropReason.UNTYPED, "m" * 255)
    tally.add(DropReason.UNTYPED, "n" * 1_000_000)
    assert [len(name) for name in tally.drops()[0].names] == [255, 258]


def test_the_first_rule_of_each_reason_is_kept() -> None:
    """One sentence tells what to look at; an account that goes on keeps it."""
    tally = Tally()
    for rule in ("pod is blank", "pod is too long"):
        tally.add(DropReason.DIMENSION_INVALID, "m", detail=rule)
    tally.add(DropReason.UNTYPED, "m")
    (untyped, invalid) = tally.drops()
    assert (untyped.detail, invalid.detail) == ("", "pod is blank")
    tally.add(DropReason.UNTYPED, "n", detail="late, and better than nothing")
    assert tally.drops()[0].detail == "late, and better than nothing"
    more = Tally(tally.drops())
    more.add(DropReason.DIMENSION_INVALID, "n", detail="gpu is blank")
    assert more.drops()[1] == Drop(DropReason.DIMENSION_INVALID, 3, ("m", "n"), "pod is blank")
