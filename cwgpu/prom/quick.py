"""The common shape of a sample, read in one stroke.

Nearly every line of every exporter looks like ``m{a="b",c="d"} 42``: single blanks, plain names, no
escapes. That shape means the same in both formats, so one pattern reads it several times faster
than the lexers do, which stand behind it for all else. What it reads, it must read as they do;
a property test holds it to that.
"""

import re

from cwgpu.prom import series
from cwgpu.prom.items import Context, Format, SeriesItem

_SERIES = re.compile(
    rb"([a-zA-Z_:][a-zA-Z0-9_:]*+)"
    rb'(?:\{((?:[a-zA-Z_][a-zA-Z0-9_]*+="[^"\\\n\0]*+"(?:,|(?=\}))){0,64})\})?'
    # More labels go the long way: cwgpu.prom.stride says why a group needs a bound.
    # Up to 15 digits and a small exponent cannot overflow, so the grammar alone decides.
    rb" ([+-]?[0-9]{1,15}(?:\.[0-9]*+)?(?:[eE][+-]?[0-9]{1,2})?|NaN|[+-]Inf)"
    # Up to 18 digits fit into int64. OpenMetrics writes its timestamps otherwise.
    rb"(?: ([0-9]{1,18}))?\n"
)
_LABEL = re.compile(r'([a-zA-Z0-9_]+)="([^"]*)"')


def read(body: bytes, start: int, context: Context) -> SeriesItem | None:
    """Read a sample of the common shape; None when the lexers have to look at it."""
    match = _SERIES.match(body, start)
    if match is None:
        return None
    name, inner, value, timestamp = match.groups()
    if timestamp is not None and context.format is not Format.TEXT:
        return None
    end_of_text = match.start(3) - 1
    labels: tuple[tuple[str, str], ...] = ()
    if inner:
        try:
            labels = tuple(_LABEL.findall(inner.decode()))
        except UnicodeDecodeError:
            return None
        labels = series.normalised(labels, context.kind)
    return SeriesItem(
        start,
        match.end(),
        body[start:end_of_text],
        name.decode(),
        labels,
        value,
        None if timestamp is None else int(timestamp),
    )
