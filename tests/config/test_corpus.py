"""Files that load, and files with one fault each and what is said about it."""

import re
from pathlib import Path

import pytest

from cwgpu.config.complaint import Level, as_json, render_all
from tests.config import corpus


@pytest.mark.parametrize("path", corpus.GOOD, ids=lambda path: path.name)
def test_good_files_pass_without_a_word(path: Path) -> None:
    """Nothing is said about a file that is right."""
    assert corpus.complaints(path) == ()


@pytest.mark.parametrize("path", corpus.BAD, ids=lambda path: path.name)
def test_bad_files_are_told_what_to_write(path: Path) -> None:
    """The fault is named with its place, in the words that were agreed on."""
    expected = corpus.expectation(path).read_text("utf-8")
    assert render_all(corpus.complaints(path)) + "\n" == expected


@pytest.mark.parametrize("path", corpus.BAD, ids=lambda path: path.name)
def test_one_fault_gives_one_complaint(path: Path) -> None:
    """A fault is not repeated by complaints about what follows from it."""
    # Two of the files need a second fault to show the first; the rest say that a key is known.
    said = [each for each in corpus.complaints(path) if each.code != "nothing-selected"]
    two_faults = path.name in ("oauth2.bad.yaml", "selector.bad.yaml")
    named = path.name == "no-declaration.bad.json"
    assert len(said) == (2 if two_faults else 0 if named else 1)


@pytest.mark.parametrize("path", corpus.BAD, ids=lambda path: path.name)
def test_complaints_as_json_name_the_same_place(path: Path) -> None:
    """The JSON form has every part of the text form but the line itself."""
    for each in corpus.complaints(path):
        form = as_json(each)
        assert (form["file"], form["line"], form["code"]) == (path.name, each.line, each.code)
        assert form["level"] in {level.value for level in Level}
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", str(form["code"]))


def test_no_expectation_is_left_over() -> None:
    """Each written expectation belongs to a file."""
    texts = {each.name for each in corpus.FOLDER.glob("*.txt")}
    assert texts == {corpus.expectation(path).name for path in corpus.BAD}
