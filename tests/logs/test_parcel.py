"""The body of a PutLogEvents request."""

import gzip
import json

from hypothesis import given
from hypothesis import strategies as st

from cwgpu.model.event import EmfEvent, LogBatch, StreamKey
from cwgpu.sinks import body

KEY = StreamKey("/gpu/ü", 'node "1"')


TEXT = st.text(st.characters(exclude_categories=["Cs"]))


@given(st.lists(st.tuples(st.integers(0, 2**53), TEXT)))
def test_the_body_is_the_request_as_json(events: list[tuple[int, str]]) -> None:
    """Whatever the messages hold, their text comes out as it went in."""
    batch = LogBatch(KEY, tuple(EmfEvent(KEY, at, text.encode(), 1, 1) for at, text in events))
    assert json.loads(gzip.decompress(body.compressed(batch))) == {
        "logGroupName": KEY.group,
        "logStreamName": KEY.stream,
        "logEvents": [{"timestamp": at, "message": text} for at, text in events],
    }


def test_bytes_that_are_no_text_do_not_stop_the_others() -> None:
    """They cannot occur; if they do, the character is replaced and the batch still goes."""
    packed = body.compressed(LogBatch(KEY, (EmfEvent(KEY, 1, b"a\xff", 1, 1),)))
    (event,) = json.loads(gzip.decompress(packed))["logEvents"]
    assert event["message"] == "a\N{REPLACEMENT CHARACTER}"
