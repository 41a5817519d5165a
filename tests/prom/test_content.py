"""Content-Type: which format, or none."""

import pytest

from cwgpu.model.errors import ExpositionError
from cwgpu.prom import content
from cwgpu.prom.exposition import Format

TEXT, OPENMETRICS = Format.TEXT, Format.OPENMETRICS


@pytest.mark.parametrize(
    ("header", "form"),
    [
        ("text/plain", TEXT),
        ("text/plain; version=0.0.4; charset=utf-8", TEXT),
        ("TEXT/PLAIN ;VERSION=9", TEXT),
        ("text/plain;", TEXT),
        ("text/plain ; ", TEXT),
        ('text/plain; a="b;\\"c"; d = e', TEXT),
        ('text/plain; a="b"; A=b', TEXT),
        ("application/openmetrics-text", OPENMETRICS),
        ("application/openmetrics-text; version=2.0.0", OPENMETRICS),
    ],
)
def test_formats(header: str, form: Format) -> None:
    """The media type decides, in any case and whatever its parameters say."""
    assert content.choose(header, None) is form
    assert content.choose(header, OPENMETRICS if form is TEXT else TEXT) is form


@pytest.mark.parametrize(
    "header",
    [
        *["", ";;;", "text", "text/html", "application/json", "text/plainer", "text/plain,x"],
        *["text/plain; charset", "text/plain;;", "text/plain; a=", 'text/plain; a="b'],
        *['text/plain; a="b\\"', "text/plain; a=b c", "text/plain; a=1; a=2", "text/plain; é=1"],
    ],
)
def test_fallback(header: str) -> None:
    """Without a type that is known and well-formed the job's fallback decides."""
    assert content.choose(header, TEXT) is TEXT
    assert content.choose(header, OPENMETRICS) is OPENMETRICS
    with pytest.raises(ExpositionError):
        content.choose(header, None)


@pytest.mark.parametrize(
    ("header", "found"), [("", "has no Content-Type;"), ("a/b", 'has the Content-Type "a/b";')]
)
def test_refusal(header: str, found: str) -> None:
    """The refusal says what came, what should come and what can be set."""
    with pytest.raises(ExpositionError, match=found) as caught:
        content.choose(header, None)
    assert "text/plain" in str(caught.value)
    assert "fallback_scrape_protocol" in str(caught.value)


def test_protobuf() -> None:
    """Protobuf is no text whatever the fallback, so no fallback is tried."""
    with pytest.raises(ExpositionError, match="protobuf"):
        content.choose("application/vnd.google.protobuf; proto=x; encoding=delimited", TEXT)


def test_a_header_of_blanks_is_read_in_time() -> None:
    """As long as a header may be and far longer: it is refused, and that is all."""
    with pytest.raises(ExpositionError):
        content.choose(f"text/plain; a=b{' ' * 300_000}x", None)
