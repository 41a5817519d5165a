"""Metrics pages drawn at random, mostly good ones, in both formats.

Every metric's name begins with ``E_``, which is replaced for each use (``Page.named``): so samples
of one page can be told from those of another that the same target had before.
"""

import re
from dataclasses import dataclass

from hypothesis import strategies as st

TEXT = "text/plain; version=0.0.4; charset=utf-8"
OPENMETRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8"
_NAME = "E_"
_TIME = re.compile(r"@(-?\d+)@")


@dataclass(frozen=True, slots=True)
class Page:
    """An answer in which names and times are still open."""

    text: str
    """``E_`` begins a name; ``@-5@`` is a time, in seconds from now."""
    content_type: str

    def named(self, prefix: str, now_ms: int) -> bytes:
        """Give the body, with names that begin so and with times around this one."""
        text = _TIME.sub(lambda match: self._time(now_ms + 1000 * int(match[1])), self.text)
        return text.replace(_NAME, prefix).encode()

    def _time(self, at_ms: int) -> str:
        return str(at_ms) if self.content_type == TEXT else f"{at_ms / 1000:.3f}"


_METRICS = ["E_a", "E_b", "E_a_total", "E_h_bucket", "E_h_sum", "E_s", "E_b:c", "E_gpu_Temp"]
metrics = st.sampled_from(_METRICS)
_FAMILIES = ["E_a", "E_b", "E_h", "E_s", "E_gpu_Temp", "E_none"]
_LABELS = [
    "a",
    "b",
    "pod",
    "exported_a",
    "text",
    "le",
    "quantile",
    "job",
    "instance",
    "abcdefghijkl",
]
_TEXTS = ["", "1", "x", "T", "A b", r"\\", r"\"", r"\n", r"\x", "é", "{}", "#", ",", "=", "+Inf"]
_TEXTS += ["0.5", "100", "abcdefghijklmnopqrstu", "\U0001f321", r"a\nb\\n"]
_VALUES = ["0", "1", "-1.5", "97.0", "1e3", ".5", "5.", "+7", "NaN", "+Inf", "-inf", "1E-3", "010"]
_VALUES += ["9223372036854775794", "140737488355328.000000", "1e-400", "-0", "infinity", "nan"]
_BAD_VALUES = ["", "0x10", "1_000", "+NaN", "1e400", "1,5", "x", "1 1 1", "1 -1 ", "1 1.5e"]
# Within what the storage takes, and beyond on both sides (storage.py).
_SECONDS = [-300, -60, -59, -5, 300, 590, 1200, -7200]
_GAPS = st.sampled_from(["", "", "", " ", "\t", "  "])

_SELDOM = st.sampled_from([False] * 15 + [True])

times = st.sampled_from(_SECONDS).map("@{}@".format)
values = st.sampled_from(_VALUES)


@st.composite
def labels(draw: st.DrawFn, gap: st.SearchStrategy[str], separators: list[str]) -> str:
    """Draw what stands in braces, or nothing at all."""
    found = draw(st.lists(st.tuples(st.sampled_from(_LABELS), st.sampled_from(_TEXTS)), max_size=3))
    names = [name for name, _ in found]
    once = len(set(names)) == len(names) or draw(_SELDOM)  # a name twice is an error
    inner = draw(st.sampled_from(separators)).join(
        f'{draw(gap)}{name}{draw(gap)}={draw(gap)}"{text}"{draw(gap)}'
        for number, (name, text) in enumerate(found)
        if once or name not in names[:number]
    )
    return f"{{{inner}}}" if inner or draw(st.booleans()) else ""


@st.composite
def _sample(draw: st.DrawFn) -> str:
    gap, blank = draw(_GAPS), draw(st.sampled_from([" ", " ", "\t", "  "]))
    inside = draw(labels(st.just(gap), [",", " , ", ""]))
    time = draw(st.just("") | st.just("") | times.map(f"{blank}{{}}".format))
    return f"{draw(metrics)}{gap if inside else ''}{inside}{blank}{draw(values)}{time}{gap}"


@st.composite
def _om_sample(draw: st.DrawFn) -> str:
    inside = draw(labels(st.just(""), [","]))
    time = draw(st.just("") | st.just("") | times.map(" {}".format))
    return f"{draw(metrics)}{inside} {draw(values)}{time}"


_KINDS = ["counter", "gauge", "summary", "untyped"]
_TYPES = st.builds("# TYPE {} {}".format, st.sampled_from(_FAMILIES), st.sampled_from(_KINDS))
_HELP = [
    r"# HELP E_a a \\ b \n c",
    "# HELP E_b",
    "# HELP E_b ",
    "# comment",
    "#",
    "",
    " \t",
    "# TYPE",
]
_HELP += ["\t # TYPE E_a gauge", "#TYPE E_a x", "# UNIT E_a s", "# EOF", "  # x", "# HELP E_a \r"]
_COMMENTS = st.sampled_from(_HELP)
_BAD = [
    "E_a",
    "E_a{",
    'E_a{a="1"',
    "E_a{a=1} 1",
    "# TYPE E_a x",
    "# TYPE  E_a gauge ",
    "{} 1",
    "<p>",
]
_BAD += [
    "E_a 1\r",
    'E_a{a="b",,} 1',
    "1 E_a",
    "E-a 1",
    'E_a{a:b="1"} 1',
    'E_a{1="1"} 1',
    "\ufeffE_a 1",
]
_BAD_LINES = st.sampled_from(_BAD) | st.sampled_from(_BAD_VALUES).map("E_a {}".format)

_OM_KINDS = ["counter", "gauge", "summary", "unknown", "info", "stateset"]
_OM_TYPES = st.builds("# TYPE {} {}".format, st.sampled_from(_FAMILIES), st.sampled_from(_OM_KINDS))
_OM_HELP = st.sampled_from(["# HELP E_a a \\\\ b", "# HELP E_b ", '# HELP E_b \\"', "# UNIT E_a a"])
_OM_COUNTER = '# TYPE E_c counter\nE_c_total{} 17 # {{trace_id="x"}} 0.5{}'
_OM_EXEMPLARS = st.builds(
    _OM_COUNTER.format, st.sampled_from(["", '{a="1"}']), st.just("") | times.map(" {}".format)
)
_OM_BAD = st.sampled_from(
    ["E_a  1", "E_a 1 ", "", "# comment", "# EOF", "# TYPE E_a untyped", "E_a"]
)


@st.composite
def _lines(draw: st.DrawFn, good: st.SearchStrategy[str], bad: st.SearchStrategy[str]) -> list[str]:
    """Draw lines, with a bad one among them in some pages."""
    lines = draw(st.lists(good, min_size=3, max_size=7))
    return [*lines, draw(bad), draw(good)] if draw(_SELDOM) else lines


def _text(lines: list[str], end: str) -> Page:
    return Page("\n".join(lines) + end, TEXT)


def _openmetrics(lines: list[str], end: str) -> Page:
    return Page("\n".join(lines) + end, OPENMETRICS)


_TEXT_PAGES = st.builds(
    _text,
    _lines(_sample() | _sample() | _TYPES | _COMMENTS, _BAD_LINES),
    st.sampled_from(["\n", "\n", ""]),
)
_OM_PAGES = st.builds(
    _openmetrics,
    _lines(_om_sample() | _om_sample() | _OM_TYPES | _OM_HELP | _OM_EXEMPLARS, _OM_BAD),
    st.sampled_from(["\n# EOF\n"] * 6 + ["\n# EOF", "\n"]),
)
_WHOLE = _TEXT_PAGES | _TEXT_PAGES | _OM_PAGES


@st.composite
def _broken(draw: st.DrawFn) -> Page:
    """Draw a page one of whose characters is another, or gone, or followed by another."""
    page = draw(_WHOLE)
    at = draw(st.integers(0, max(0, len(page.text) - 1)))
    token = draw(st.sampled_from([*'{}",=\n#\\\t 0_x', ""]))
    return Page(
        page.text[:at] + token + page.text[at + draw(st.integers(0, 1)) :], page.content_type
    )


pages = st.sampled_from([_WHOLE] * 4 + [_broken()]).flatmap(lambda chosen: chosen)
