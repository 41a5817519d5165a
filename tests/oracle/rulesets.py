"""Scrape configurations and label sets for promtool, drawn at random.

What 2.42 and 3.0.1 answer differently is not drawn; apart.py lists it.
"""

from typing import Any

from hypothesis import strategies as st

Json = dict[str, Any]


_OWN = ["a", "b", "ab", "c_1", "__tmp", "__meta_x", "__meta_x_y"]
_KNOWN = [
    "job",
    "instance",
    "__address__",
    "__scheme__",
    "__metrics_path__",
    "__param_p",
    "__scrape_interval__",
    "__scrape_timeout__",
]
names = st.sampled_from(_OWN * 4 + _KNOWN)

_WORDS = ["", "1", "a", "ab", "ba1", "a;b", "h:9400", "é", "$1", "\\1", "15s"]
_ODD = ["Aß", "İ", "ΑΣς", "\u212a", "aİΣ"]  # what becomes of these is told apart by few functions
values = st.sampled_from(_WORDS + _ODD * 2)
_GOOD = ["h:9400", "10.0.0.1", "[::1]:9100", "::1", "é:1", "h:1:2"]
_ADDRESSES = _GOOD * 4 + ["x/y", "", ":9400"]

_PARTS = ["a", "b", "1", "(a)", "(.)", "(.+)", "(.*)", "[^;]+", r"(\d+)", r"(\w*)", "(?:a|b)", "ß"]
_PARTS += [
    "(?P<x>a)",
    "(?i)k",
    "(?i:é)",
    r"\pL",
    ";",
    ".*?",
    "a??",
    "^",
    "$",
    r"\b",
    "(a)|b",
    "a{2}",
]
regexes = st.lists(st.sampled_from(_PARTS), min_size=1, max_size=3, unique=True).map("".join)
_TEXTS = ["$1", "${1}", "$0", "$2", "${x}", "$x", "$1_", "$$", "$", "${", "-", "a", ";", "é", "$01"]
templates = st.lists(st.sampled_from(_TEXTS), max_size=3).map("".join)
_MAPS = st.sampled_from(["$1", "m_$1", "${1}_", "$0_x", "__meta_$1", "a", "x_${1}$2"])

_sources = st.lists(names, max_size=3)
_separators = st.sampled_from([";", "", "-", "$1", "é"])


def _rule(action: str, **keys: st.SearchStrategy[Any]) -> st.SearchStrategy[Json]:
    return st.fixed_dictionaries({"action": st.just(action), **keys})


def _reading(action: str, **keys: st.SearchStrategy[Any]) -> st.SearchStrategy[Json]:
    """Give rules that read a value; what a key is left out of has its default."""
    reading = {"source_labels": _sources, "separator": _separators, "regex": regexes}
    return st.fixed_dictionaries({"action": st.just(action), **keys}, optional=reading)


_CHOICES = _reading("keep") | _reading("drop")
_EQUALS = st.sampled_from(["keepequal", "dropequal"]).flatmap(
    lambda action: _rule(action, source_labels=_sources, target_label=names)
)
CHOOSING = _CHOICES | _EQUALS
"""Rules that change no label."""

_CHANGING = st.one_of(
    _reading("replace", target_label=names, replacement=templates),
    _reading("replace", target_label=names),
    # A templated target: the name that comes of it is plain, and the value never empty.
    _rule(
        "replace",
        source_labels=_sources,
        regex=st.sampled_from(["([a-z]+).*", "(?:(a)|b)(.*)", ".*?([a-z]).*"]),
        target_label=st.sampled_from(["x_$1", "${1}_", "__param_$1", "a$1"]),
        replacement=templates.map("{}r".format),
    ),
    _rule(
        "hashmod",
        source_labels=_sources,
        modulus=st.integers(1, 2**64 - 1) | st.integers(1, 8),
        target_label=names,
    ),
    _rule("labelmap", regex=regexes | st.just("__meta_(.+)"), replacement=_MAPS),
    _rule("labelmap", regex=st.sampled_from(["a.*", ".", "__meta_.*"]), replacement=st.just("y")),
    _rule("labeldrop", regex=regexes.map("(?:{}).".format) | st.sampled_from(["__.*", "a|b"])),
    _rule("labelkeep", regex=regexes.map("(?:{})|n|b|__.*".format) | regexes),
    _reading("lowercase", target_label=names),
    _reading("uppercase", target_label=names),
)
rules = st.lists(
    st.sampled_from([True] * 8 + [False]).flatmap(
        lambda changing: _CHANGING if changing else CHOOSING
    ),
    min_size=1,
    max_size=6,
)
choosing_rules = st.lists(CHOOSING, max_size=3)

_OWN_LABELS = st.dictionaries(st.sampled_from([*_OWN, "job", "instance"]), values, min_size=2)
_KNOWN_LABELS = st.fixed_dictionaries(
    {},
    optional={
        "__scheme__": st.sampled_from(["https", "http", ""]),
        "__metrics_path__": st.sampled_from(["/m", "m", ""]),
        "__param_p": values,
        "__scrape_interval__": st.sampled_from(["15s", "1m", "90s", "2h", "0", "x"]),
        "__scrape_timeout__": st.sampled_from(["1s", "15s", "1500ms", "2m"]),
    },
)


def _group(address: str, labels: Json, known: Json) -> Json:
    return {"targets": [address], "labels": {**labels, **known}}


groups = st.builds(
    _group, st.sampled_from(_ADDRESSES), _OWN_LABELS, st.builds(dict[str, Any]) | _KNOWN_LABELS
)

_OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "scheme": st.sampled_from(["http", "https"]),
        "metrics_path": st.sampled_from(["/m", "m?x", "/"]),
        "params": st.just({"q": ["1", "2"], "é": ["x"]}),
        "scrape_interval": st.sampled_from(["1m", "90s", "1500ms", "2h"]),
        "scrape_timeout": st.sampled_from(["1s", "1500ms"]),
    },
)


@st.composite
def jobs(
    draw: st.DrawFn, ruleset: st.SearchStrategy[list[Json]] = rules
) -> tuple[Json, list[Json]]:
    """Draw a scrape configuration without discovery, and groups of targets for it."""
    job = {"job_name": "j", **draw(_OPTIONS), "relabel_configs": draw(ruleset)}
    found = draw(st.lists(groups, min_size=4, max_size=12))
    for number, group in enumerate(found):
        group["labels"] = {**group["labels"], "n": str(number)}
    return job, found
