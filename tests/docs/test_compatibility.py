"""docs/compatibility.md against the tests: what it promises is held by some of them."""

import ast
import functools
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.docs import pages, promises
from tests.golden.promised import BETTER, REFUSED, SAME

PAGE = "docs/compatibility.md"
_TESTS = Path(__file__).parents[1]
_CASES: Mapping[str, tuple[str, ...]] = {
    "test_same_datapoints_as_the_agent": SAME,
    "test_better_than_the_agent": tuple(BETTER),
    "test_better_to_refuse_than_to_guess": tuple(REFUSED),
}


def rows(heading: str) -> Iterator[tuple[str, str]]:
    """Give the topics of a section's table, each with its verdict."""
    for line in pages.section(PAGE, heading).splitlines():
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if cells and cells[0] not in {"topic", "---"}:
            yield cells[0], cells[-1]


@functools.cache
def names_in(file: str) -> frozenset[str]:
    """Give the names of a file's tests."""
    tree = ast.parse((_TESTS / file).read_text("utf-8"))
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, kinds))


@pytest.mark.parametrize("heading", promises.HELD)
def test_every_row_has_its_tests(heading: str) -> None:
    """Whoever writes a promise names who holds it; what has no verdict promises nothing."""
    verdicts = {verdict for _, verdict in rows(heading)}
    assert verdicts <= {"same", "better", ""}
    promised = [topic for topic, verdict in rows(heading) if verdict]
    assert promised == list(promises.HELD[heading])


def test_no_section_is_forgotten() -> None:
    """Each table of the page is compared."""
    headings = re.findall(r"(?m)^## .+$", pages.text(PAGE))
    assert [each for each in headings if list(rows(each))] == list(promises.HELD)


@pytest.mark.parametrize(
    ("topic", "tests"),
    [(topic, tests) for held in promises.HELD.values() for topic, tests in held.items()],
    ids=[topic for held in promises.HELD.values() for topic in held],
)
def test_who_holds_it_is_there(topic: str, tests: tuple[str, ...]) -> None:
    """A test that goes, or that no longer runs the case, leaves a promise that nobody holds."""
    assert tests
    for each in tests:
        name, _, case = each.partition("[")
        file, _, test = name.partition("::")
        assert test in names_in(file), topic
        assert not case or case.removesuffix("]") in _CASES[test], topic


def test_what_is_better_is_not_promised_twice() -> None:
    """A topic stands once on the page."""
    topics = [topic for heading in promises.HELD for topic, _ in rows(heading)]
    assert len(topics) == len(set(topics))
