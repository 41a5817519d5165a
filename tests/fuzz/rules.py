"""What people write into configurations and services into headers is let in or refused.

Content types, durations, sizes, templates, regexes, and relabel rules with label sets and targets:
each gives a value or the one error that belongs to it, and what was let in never raises later.

``make fuzz``, or ``python -m tests.fuzz.rules --seconds 60 --seed 1``.
"""

import contextlib
import functools
import json
import random
import string
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from cwgpu.model.errors import ExpositionError, RuleError
from cwgpu.model.target import TargetGroup
from cwgpu.plan.plan import Job
from cwgpu.prom import content, duration, hint, regex, relabel, size, targeting, template, trace
from cwgpu.prom.rule import Action, Rule
from tests.fuzz import engine
from tests.fuzz.pages import DATA

_ODD = [
    *";\"'\\$éßİǆ😀aZ_0:/,-=*+?.^|()[]{} \n\t\0\u2028\u0661",
    *["", "$1", "${1}", "$$", "${", "${é}", "$é", "9" * 30, "{2}", "{1000}", "(?i)", "(?:", "\\d"],
    *["\\pL", "\\Q", "\\E", "\\C", "\\b", "[[:alpha:]]", "[^", "a-z", ".*", "(.*)", "(?P<n>"],
]


def _broken(random: random.Random, text: str, pieces: list[str], rounds: int) -> str:
    for _ in range(rounds):
        begin = random.randint(0, len(text))
        end = random.choice((begin, begin, begin + 1, begin + 4))
        text = text[:begin] + random.choice((*pieces, "", "")) + text[end:]
    return text[:2000]


@functools.cache
def _rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (DATA / name).read_text("utf-8").splitlines()]


class Texts:
    """Texts of one kind, read by one function that may raise one error."""

    def __init__(
        self,
        seeds: list[str],
        read: Callable[[str], object],
        error: type[Exception],
        pieces: str = string.printable,
    ) -> None:
        self._seeds = seeds
        self._read = read
        self._error = error
        self._pieces = [*pieces, *_ODD]

    def draw(self, random: random.Random) -> str:
        """Break one of the seeds."""
        rounds = random.choice((0, 1, 1, 2, 5, 20))
        return _broken(random, random.choice(self._seeds), self._pieces, rounds)

    def check(self, case: object) -> None:
        """Read it: it is a value, or the one error."""
        assert isinstance(case, str)
        with contextlib.suppress(self._error):
            self._read(case)


def _content_types() -> Texts:
    rows = [row for row in _rows("exposition.jsonl") if "content_type" in row]
    seeds = sorted({row["content_type"] for row in rows})
    return Texts(seeds, lambda text: content.choose(text, None), ExpositionError, ' ;="\\/,\r\n')


def _duration(text: str) -> None:
    ms = duration.parse(text)
    assert ms >= 0
    assert duration.parse(duration.format(ms)) == ms


def _size(text: str) -> None:
    assert -(2**63) < size.parse(text) < 2**63


def _template(text: str) -> None:
    made = template.parse(text)
    match = regex.anchored("(?P<n>a)|(.*)").match("x1")
    assert match is not None
    expanded = made.expand(match)
    assert "$" in text or expanded == text


def _regex(text: str) -> None:
    pattern, _, subject = text.partition("\n")
    for door in (regex.anchored, regex.searching):
        with contextlib.suppress(RuleError):
            door(pattern)
    anchored = regex.anchored(pattern)
    match = anchored.match(subject)
    assert anchored.matches(subject) is (match is not None)
    assert match is None or match.group("nobody") == match.group(10**9) == ""
    assert anchored.replace(subject, lambda _: "") is None or match or ")" in pattern


def _regexes() -> Texts:
    seeds = [f"{row['pattern']}\n{row['text']}" for row in _rows("regex.jsonl")]
    return Texts(seeds, _regex, RuleError)


@dataclass(frozen=True, slots=True)
class Case:
    """Rules as written, and labels."""

    rules: tuple[dict[str, Any], ...]
    labels: dict[str, str]


class Relabelling:
    """Rules of recorded answers and new ones, over label sets, as targets and as samples."""

    def __init__(self) -> None:
        self._rows = _rows("relabel.jsonl")
        self._regexes = [row["pattern"] for row in _rows("regex.jsonl")]

    def draw(self, random: random.Random) -> Case:
        """Take rules and labels of answers, and change some of them."""
        labels = dict(random.choice(self._rows)["labels_in"])
        names = [*labels, "__address__", "__scrape_interval__", "__param_a", "job", "a"]
        for _ in range(random.choice((0, 1, 3))):
            name = _broken(random, random.choice(names), _ODD, random.choice((0, 0, 1)))
            labels[name] = _broken(random, labels.get(name, ""), _ODD, random.choice((0, 1, 4)))
        rules = [self._rule(random, names) for _ in range(random.choice((1, 1, 2, 4)))]
        return Case(tuple(rules), labels)

    def _rule(self, random: random.Random, names: list[str]) -> dict[str, Any]:
        rules = random.choice(self._rows)["relabel_configs"]
        made = dict(random.choice(rules)) if rules else {}
        for _ in range(random.choice((0, 0, 1, 2))):
            key, value = random.choice(self._keys(random, names))
            made[key] = value
        made["action"] = _broken(random, str(made.get("action", "replace")), ["x"], 0)
        return made

    def _keys(self, random: random.Random, names: list[str]) -> list[tuple[str, Any]]:
        def text(seed: str) -> str:
            return _broken(random, seed, _ODD, random.choice((0, 1, 3)))

        return [
            ("action", random.choice(tuple(Action)).value),
            ("source_labels", [text(random.choice(names)) for _ in range(random.randint(0, 3))]),
            ("separator", text(";")),
            ("regex", text(random.choice(self._regexes))),
            ("target_label", text(random.choice(names))),
            ("replacement", text("$1")),
            ("modulus", random.choice((0, 1, 8, 2**64 - 1, 2**64, -1))),
        ]

    def check(self, case: object) -> None:
        """Rules are made or refused; those made give labels or drop them, however applied."""
        assert isinstance(case, Case)
        made: list[Rule] = []
        for keys in case.rules:
            with contextlib.suppress(RuleError):
                made.append(_made(keys))
        found = relabel.apply(case.labels, made)
        labels: Any = case.labels
        for index, rule in enumerate(made):
            labels = relabel.step(labels, rule)
            if isinstance(labels, relabel.Dropped):
                assert isinstance(found, relabel.Dropped)
                assert (found.rule_index, found.value) == (index, labels.value)
                assert relabel.sentence(found)
                break
        else:
            assert found == {name: value for name, value in labels.items() if value}
        _check_traced(case, made, found)


def _made(keys: dict[str, Any]) -> Rule:
    texts = {
        key: "" if value is None else value if isinstance(value, str) else json.dumps(value)
        for key, value in keys.items()
        if key not in {"source_labels", "modulus"}
    }
    sources, modulus = keys.get("source_labels"), keys.get("modulus", 0)
    return relabel.rule(source_labels=sources, modulus=modulus, **texts)


def _check_traced(case: Case, made: list[Rule], found: object) -> None:
    traced = trace.trace(case.labels, made)
    last = traced.steps[-1].after if traced.steps else None
    assert not made or (last is None) == isinstance(found, relabel.Dropped)
    for step in traced.steps:
        hint.hint(step)
    job = Job("j", 60.0, 10.0, relabel=tuple(made))
    assert len(list(targeting.targets(job, TargetGroup("s", (case.labels,), {})))) == 1


TARGETS: dict[str, engine.Make] = {
    "content types": _content_types,
    "durations": lambda: Texts(["1h30m", "15s", "1500ms", "1y2w3d4h5m6s7ms"], _duration, RuleError),
    "sizes": lambda: Texts(["10MB", "1GiB512MiB", "0", "1.5KB", "-3EB"], _size, RuleError),
    "templates": lambda: Texts(["$1:${2}", "a$$b", "${n}x$n", "$1x"], _template, RuleError),
    "regexes": _regexes,
    "relabelling": Relabelling,
}

if __name__ == "__main__":
    sys.exit(engine.main(TARGETS))
