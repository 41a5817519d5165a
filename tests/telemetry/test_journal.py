"""The journal as the process's logging."""

import io
import json
import logging
import warnings
from collections.abc import Iterator

import pytest

from cwgpu.model import errors
from cwgpu.telemetry import journal
from cwgpu.telemetry.journal import Journal
from cwgpu.telemetry.lines import Style

LOG = logging.getLogger("cwgpu.agent")


@pytest.fixture
def written() -> io.StringIO:
    """Give what the journal writes to."""
    return io.StringIO()


@pytest.fixture
def clock() -> list[float]:
    """Give a clock: a list with the time."""
    return [0.0]


@pytest.fixture
def opened(written: io.StringIO, clock: list[float]) -> Iterator[Journal]:
    """Give a journal that is open from level info upwards."""
    made = Journal(Style.JSON, lambda: clock[0], written)
    made.open("info")
    yield made
    made.close()


def events(written: io.StringIO) -> list[str]:
    """Give the names of the events written so far."""
    return [json.loads(line)["event"] for line in written.getvalue().splitlines()]


@pytest.mark.usefixtures("opened")
def test_an_event_is_a_line(written: io.StringIO) -> None:
    """An event is written with its fields at once; a percent sign in it is nothing special."""
    journal.event(LOG, logging.INFO, "scrape_failed", target="100%s", name="n")
    said = json.loads(written.getvalue())
    assert said["event"] == "scrape_failed"
    assert said["target"] == "100%s"
    assert said["name"] == "n"
    assert said["logger"] == "cwgpu.agent"


@pytest.mark.usefixtures("opened")
def test_a_bug_comes_with_its_traceback(written: io.StringIO) -> None:
    """An exception given to an event is written in its line."""
    error = ZeroDivisionError("oh")
    journal.event(LOG, logging.ERROR, "bug", exc_info=error)
    assert "ZeroDivisionError: oh" in json.loads(written.getvalue())["traceback"]


@pytest.mark.parametrize(
    ("level", "heard"),
    [
        ("debug", ["d", "i", "w", "e", "log"]),
        ("info", ["i", "w", "e", "log"]),
        ("warning", ["w", "e", "log"]),
        ("error", ["e"]),
    ],
)
def test_levels(written: io.StringIO, level: str, heard: list[str]) -> None:
    """Our events are heard from the level upwards, other libraries from a warning at least."""
    made = Journal(Style.JSON, lambda: 0.0, written)
    made.open(level)
    for name, severity in zip("diwe", (10, 20, 30, 40), strict=True):
        journal.event(LOG, severity, name)
    for name in ("botocore.hooks", "aiohttp.access", "urllib3"):
        logging.getLogger(name).info("chatter")
        logging.getLogger(name).debug("chatter")
    logging.getLogger("aiohttp.server").warning("listen")
    made.close()
    assert events(written) == heard


def test_a_level_must_be_known(written: io.StringIO) -> None:
    """A wrong level says which there are."""
    with pytest.raises(errors.UsageError, match="debug, info, warning, error"):
        Journal(Style.TEXT, lambda: 0.0, written).open("loud")


def test_logging_is_left_as_it_was_found(written: io.StringIO) -> None:
    """After closing, the root logger has its handlers and levels again, also when closed twice."""
    root = logging.getLogger()
    before = (root.handlers[:], root.level, logging.getLogger("cwgpu").level)
    made = Journal(Style.TEXT, lambda: 0.0, written)
    made.open("debug")
    assert root.handlers == [made]
    made.close()
    made.close()
    assert (root.handlers[:], root.level, logging.getLogger("cwgpu").level) == before


def test_repeats_are_counted_by_the_tick(
    opened: Journal, written: io.StringIO, clock: list[float]
) -> None:
    """The count of a repeated line is written by the tick after its window, or at the end."""
    for _ in range(4):
        journal.event(LOG, logging.WARNING, "scrape_failed", target="a", reason="tls")
    opened.tick()
    assert len(events(written)) == 1
    clock[0] = 300.0
    opened.tick()
    assert json.loads(written.getvalue().splitlines()[1])["repeated"] == 3
    for _ in range(3):
        journal.event(LOG, logging.WARNING, "scrape_failed", target="a", reason="tls")
    opened.close()
    assert json.loads(written.getvalue().splitlines()[3])["repeated"] == 2


def test_what_is_said_after_settling_is_the_last_line(
    opened: Journal, written: io.StringIO
) -> None:
    """Counts that are held come before it, and none after it."""
    for count in (1, 2, 3):
        journal.event(LOG, logging.ERROR, "samples_lost", stream="s", reason="shutdown", n=count)
    opened.settle()
    journal.event(LOG, logging.ERROR, "ended", lost_samples=6)
    opened.close()
    assert events(written) == ["samples_lost", "samples_lost", "ended"]
    assert json.loads(written.getvalue().splitlines()[1])["repeated"] == 2


@pytest.mark.usefixtures("opened")
def test_warnings_are_lines(written: io.StringIO) -> None:
    """Python's warnings come as lines of the journal, not as prose in between."""
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        logging.captureWarnings(capture=True)
        warnings.warn("old thing", DeprecationWarning, stacklevel=1)
        logging.captureWarnings(capture=False)
    assert "old thing" in json.loads(written.getvalue())["message"]


class Broken(io.StringIO):
    """A stream whose reader has gone."""

    def write(self, _: str) -> int:
        """Fail as a pipe does."""
        raise BrokenPipeError


def test_a_journal_without_a_reader_stops_nothing() -> None:
    """When the journal cannot be written the program goes on."""
    stream = Broken()
    made = Journal(Style.TEXT, lambda: 0.0, stream)
    made.open("info")
    journal.event(LOG, logging.INFO, "started")
    made.close()
    assert stream.getvalue() == ""


class Unspeakable:
    """Something that cannot be put into words."""

    def __str__(self) -> str:
        raise RuntimeError("no words")


@pytest.mark.usefixtures("opened")
def test_a_value_that_cannot_be_written_is_not_raised(
    written: io.StringIO, capsys: pytest.CaptureFixture[str]
) -> None:
    """A bug in a value is reported as logging reports such, and what comes next is written."""
    journal.event(LOG, logging.INFO, "first", value=Unspeakable())
    journal.event(LOG, logging.INFO, "second")
    assert events(written) == ["second"]
    assert "no words" in capsys.readouterr().err


def test_the_journal_goes_to_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    """Without a stream of its own the journal is on stderr; stdout is for data."""
    made = Journal(Style.TEXT, lambda: 0.0)
    made.open("info")
    journal.event(LOG, logging.INFO, "started", version="1")
    made.close()
    out, err = capsys.readouterr()
    assert out == ""
    assert err.endswith("info    started version=1\n")
