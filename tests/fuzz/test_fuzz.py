"""A few hundred cases of every fuzz target, the same ones every time; ``make fuzz`` goes on."""

import pytest

from tests.fuzz import documents, engine, exposition, rules

CASES = {
    "pages": 1500,
    "content types": 5000,
    "durations": 5000,
    "sizes": 5000,
    "templates": 5000,
    "regexes": 5000,
    "relabelling": 3000,
    "target groups": 5000,
    "configurations": 2000,
}
"""Together some 20 seconds, the half of it for pages."""

PARTS = {"pages": 5}
"""Of what takes long, each with a seed of its own: a test has a minute, on a slow machine too."""

TARGETS = exposition.TARGETS | rules.TARGETS | documents.TARGETS


def test_every_target_has_its_share() -> None:
    """No target is left out."""
    assert CASES.keys() == TARGETS.keys()


@pytest.mark.parametrize(
    ("name", "seed"), [(name, seed) for name in CASES for seed in range(PARTS.get(name, 1))]
)
def test_nothing_is_found(name: str, seed: int) -> None:
    """What is let in keeps its laws, what is refused is refused by the one error."""
    cases = CASES[name] // PARTS.get(name, 1)
    result = engine.count(TARGETS[name], cases, seed=seed)
    assert list(result.findings.values()) == []
    assert result.executions == cases


class Broken:
    """A target whose cases fail in two places."""

    def __init__(self) -> None:
        self._case = 0

    def draw(self, _: object) -> int:
        """Count."""
        self._case += 1
        return self._case

    def check(self, case: object) -> None:
        """Fail at every third case, and otherwise at the even ones."""
        assert isinstance(case, int)
        if case % 3 == 0:
            raise ValueError(case)
        assert case % 2


def test_findings_of_one_place_are_one() -> None:
    """A finding holds its first case and what was raised."""
    result = engine.count(Broken, 20)
    first, second = result.findings.values()
    assert first.startswith("2\n")
    assert "AssertionError" in first
    assert second.startswith("3\n")
    assert "ValueError: 3" in second
