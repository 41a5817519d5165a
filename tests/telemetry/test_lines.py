"""One record, one line, in three styles."""

import enum
import json
import logging
import math
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cwgpu.telemetry import lines
from cwgpu.telemetry.lines import Style


class Reason(enum.Enum):
    """Some enumeration of ours."""

    TIMEOUT = "timeout"


def record(name: str = "scrape_failed", /, **fields: object) -> logging.LogRecord:
    """Make the record of an event."""
    made = logging.LogRecord("cwgpu.agent", logging.WARNING, "", 0, name, (), None)
    made.created = 1_700_000_000.25
    setattr(made, lines.EVENT, name)
    setattr(made, lines.FIELDS, fields)
    return made


def foreign(text: str) -> logging.LogRecord:
    """Make the record of another library's line."""
    made = logging.LogRecord("botocore.credentials", logging.ERROR, "", 0, text, (), None)
    made.created = 1_700_000_000.25
    return made


def raised(text: str) -> ValueError:
    """Give an error that was raised, so that it has a traceback."""
    error = ValueError(text)
    try:
        raise error
    except ValueError:
        return error


EVENT = record(target="http://10.0.0.1:9400/metrics", reason=Reason.TIMEOUT, seconds=1.5, ok=True)


def test_text() -> None:
    """Text begins with time and level, and quotes only what needs it."""
    assert lines.render(EVENT, Style.TEXT) == (
        "2023-11-14T22:13:20.250Z warning scrape_failed"
        " target=http://10.0.0.1:9400/metrics reason=timeout seconds=1.5 ok=true"
    )


def test_logfmt() -> None:
    """Everything is a pair in logfmt."""
    assert lines.render(EVENT, Style.LOGFMT) == (
        "time=2023-11-14T22:13:20.250Z level=warning event=scrape_failed logger=cwgpu.agent"
        " target=http://10.0.0.1:9400/metrics reason=timeout seconds=1.5 ok=true"
    )


def test_json() -> None:
    """JSON keeps numbers and truth values."""
    assert json.loads(lines.render(EVENT, Style.JSON)) == {
        "time": "2023-11-14T22:13:20.250Z",
        "level": "warning",
        "event": "scrape_failed",
        "logger": "cwgpu.agent",
        "target": "http://10.0.0.1:9400/metrics",
        "reason": "timeout",
        "seconds": 1.5,
        "ok": True,
    }


def test_lines_of_others_are_logs() -> None:
    """Another library's line is the event ``log`` with its message and logger."""
    said = foreign("Found credentials\nin a file")
    assert json.loads(lines.render(said, Style.JSON))["message"] == "Found credentials\nin a file"
    assert lines.render(said, Style.TEXT).endswith(
        'error   log message="Found credentials\\nin a file" logger=botocore.credentials'
    )


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (None, "null"),
        (False, "false"),
        (7, "7"),
        (math.nan, "nan"),
        (math.inf, "inf"),
        ("", '""'),
        ("two words", '"two words"'),
        ('a"b', '"a\\"b"'),
        ("a\\b", '"a\\\\b"'),
        ("a=b", '"a=b"'),
        ("a\nlevel=error", '"a\\nlevel=error"'),
        (["a", Reason.TIMEOUT, 3], '"a, timeout, 3"'),
        (Path("/etc/x"), "/etc/x"),
        ({"a": 1}, "\"{'a': 1}\""),
    ],
)
def test_values_in_pairs(value: object, written: str) -> None:
    """Values are one word, or quoted so that a reader of logfmt gets them back."""
    assert lines.render(record(x=value), Style.LOGFMT).endswith(f" x={written}")


def test_json_has_no_nan() -> None:
    """What JSON has no number for is a string."""
    assert json.loads(lines.render(record(x=math.nan), Style.JSON))["x"] == "nan"


def test_a_field_cannot_replace_the_head() -> None:
    """Fields called like the line's own parts get a name of their own."""
    said = json.loads(lines.render(record(level="x", event="y", time="z", logger="w"), Style.JSON))
    assert said["level"] == "warning"
    assert (said["level_"], said["event_"], said["time_"], said["logger_"]) == ("x", "y", "z", "w")


@pytest.mark.parametrize("style", Style)
def test_secrets_are_masked(style: Style) -> None:
    """Values that are secret by name or by look are not written, in messages and tracebacks too."""
    error = raised("http://user:hunter2@host/")
    made = record(token="hunter2", url="http://user:hunter2@host/", why=error)  # noqa: S106
    made.exc_info = (type(error), error, error.__traceback__)
    line = lines.render(made, style)
    assert "hunter2" not in line
    assert "ValueError" in line
    assert "test_lines.py" in line
    assert "hunter2" not in lines.render(foreign("password=hunter2"), style)


def test_long_values_are_cut() -> None:
    """A document in a field does not become a line of its length; a traceback keeps its end."""
    made = record(x="y" * 100_000)
    error = raised("z" * 100_000 + "end")
    made.exc_info = (type(error), error, error.__traceback__)
    said = lines.fields(made)
    assert said["x"] == "y" * 1997 + "..."
    assert len(str(said["traceback"])) == 8000
    assert str(said["traceback"]).endswith("zend")


@given(
    style=st.sampled_from(Style),
    name=st.text(),
    fields=st.dictionaries(
        st.text().filter(lambda name: name != "self"),
        st.one_of(st.text(), st.integers(), st.floats(), st.none(), st.lists(st.text())),
    ),
)
@settings(deadline=None)
def test_any_event_is_one_line(style: Style, name: str, fields: dict[str, object]) -> None:
    """Whatever an event holds, it is one line that can be encoded, and JSON is JSON."""
    made = record(name)
    setattr(made, lines.FIELDS, fields)
    line = lines.render(made, style)
    assert len(line.encode().decode().splitlines()) == 1
    if style is Style.JSON:
        assert json.loads(line)["event"] == name
