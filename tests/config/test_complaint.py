"""How complaints look."""

from dataclasses import replace

from cwgpu.config import complaint
from cwgpu.config.complaint import Complaint, Level
from cwgpu.config.source import Source


def at(line: str, column: int, width: int = 1) -> Complaint:
    """Complain about a stretch of a file's only line."""
    place = Source.of("f", line).place(1, column, width)
    return complaint.at(place, "a-code", "a message", advice="first\nsecond", label="beside")


def test_the_text_form() -> None:
    """Level, code and message; place and path; the line with carets; help."""
    found = replace(at("name: value", 7, 5), path="name", level=Level.WARNING)
    assert complaint.render(found).splitlines() == [
        "warning[a-code]: a message",
        "  --> f:1:7 (name)",
        "1 | name: value",
        "  |       ^^^^^ beside",
        "  = help: first",
        "  = help: second",
    ]


def test_a_complaint_about_a_file_has_no_line() -> None:
    """Without a line there are no carets."""
    found = complaint.about("f", "a-code", "a message")
    assert complaint.render(found) == "error[a-code]: a message\n  --> f"


def test_tabs_stay_under_tabs() -> None:
    """Carets stand under what they mean, however wide a tab is."""
    assert complaint.render(at("\tkey", 2, 3)).splitlines()[3] == "  | \t^^^ beside"


def test_control_characters_do_not_reach_the_terminal() -> None:
    """A character that is not printable is shown as a question mark."""
    assert complaint.render(at("a\x1b[31mb", 1)).splitlines()[2] == "1 | a?[31mb"


def test_a_long_line_is_shown_in_part() -> None:
    """Of a minified file the part around the place is shown."""
    line = "x" * 10_000 + "HERE" + "y" * 10_000
    shown, carets = complaint.render(at(line, 10_001, 4)).splitlines()[2:4]
    assert len(shown) < 200
    start = carets.index("^")
    assert shown[start : start + 4] == "HERE"


def test_secrets_are_masked() -> None:
    """The value of a key that holds a secret is never shown; columns stay where they are."""
    line = "  password: hunter2"
    assert at(line, 1).excerpt == "  password: *******"


def test_order() -> None:
    """Complaints stand in the order of their places, file after file, each once."""
    one, two = at("ab", 2), at("ab", 1)
    other = complaint.about("e", "a-code", "a message")
    assert complaint.ordered([one, other, two, one]) == (two, one, other)


def test_only_errors_are_errors() -> None:
    """Warnings and notes do not make a configuration unusable."""
    found = at("a", 1)
    assert complaint.errors_in([found])
    assert not complaint.errors_in([replace(found, level=Level.WARNING)])
    assert not complaint.errors_in([replace(found, level=Level.NOTE)])
