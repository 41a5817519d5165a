"""Rules and label sets drawn at random: promtool makes the same targets of them."""

import json
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cwgpu.model.target import Target
from cwgpu.prom.outcome import Fate, Outcome, outcome
from tests.oracle import apart, debian, ours, rulesets

Json = dict[str, Any]
Labels = frozenset[tuple[str, str]]

_FOUND = "found.json"
# promtool waits as long as it is told for more targets to be discovered; the file is read at once.
# Where nothing came in that time, it is asked again with more of it.
_AT_ONCE = 4
_WAITS = ("50ms", "2s", "20s")


def asked(folder: Path, job: Json, groups: list[Json]) -> list[Json]:
    """Give what promtool says of each target."""
    discovering = {**job, "file_sd_configs": [{"files": [_FOUND]}]}
    (folder / "prometheus.yml").write_text(json.dumps({"scrape_configs": [discovering]}))
    (folder / _FOUND).write_text(json.dumps(groups))
    command = [debian.program("promtool"), "check", "service-discovery"]
    # 3.x adds no port to an address. Told not to, 2.42 does neither, but takes default ports away.
    command += ["--enable-feature=no-default-scrape-port", "prometheus.yml", job["job_name"]]
    for wait in _WAITS:
        said = subprocess.run(
            [*command, f"--timeout={wait}"], cwd=folder, capture_output=True, text=True, check=False
        )
        assert said.returncode == 0, said.stdout + said.stderr
        answers: list[Json] = json.loads(said.stdout) or []
        if answers:
            return answers
    pytest.fail(f"promtool discovered nothing: {said.stderr}")


def outcomes(job: Json, groups: list[Json]) -> list[Outcome]:
    """Give what we say of each target."""
    [ready] = ours.jobs([job])
    return [
        outcome(
            ready,
            {**group["labels"], "__meta_filepath": _FOUND, "__address__": address},
        )
        for group in groups
        for address in group["targets"]
    ]


def final(found: Outcome) -> Labels:
    """Give the labels of an active target, those among them that no sample gets."""
    assert isinstance(found.target, Target)
    assert isinstance(found.trace.result, dict)
    hidden = {
        name: value
        for name, value in found.trace.result.items()
        if name.startswith("__") and not name.startswith("__meta_")
    }
    return frozenset({**found.target.labels, **hidden}.items())


def check(answers: list[Json], found: list[Outcome]) -> None:
    """See that promtool's targets are ours, and that it drops or rejects where we do."""
    active = {frozenset(each["labels"].items()) for each in answers if each["labels"]}
    hostless = {labels for labels in active if apart.names_no_host(dict(labels)["__address__"])}
    assert active - hostless == {final(each) for each in found if each.fate is Fate.ACTIVE}
    theirs = {
        Fate.REJECTED if "error" in each else Fate.DROPPED for each in answers if not each["labels"]
    }
    ours = {each.fate for each in found} - {Fate.ACTIVE}
    assert theirs | ({Fate.REJECTED} if hostless else set()) == ours


def check_discovered(answers: list[Json], found: list[Outcome]) -> None:
    """See that the labels before the rules are the same; of rejected targets nothing is said."""
    rejected = {frozenset(each.discovered.items()) for each in found if each.fate is Fate.REJECTED}
    theirs = {frozenset(each["discoveredLabels"].items()) for each in answers} - {frozenset()}
    assert theirs - rejected == {frozenset(each.discovered.items()) for each in found} - rejected


Drawn = list[tuple[Json, list[Json]]]


def answers_of(folder: Path, drawn: Drawn) -> Iterator[list[Json]]:
    """Ask about several jobs at once: a process each, which mostly waits."""
    folders = [folder / str(number) for number in range(len(drawn))]
    for each in folders:
        each.mkdir(exist_ok=True)
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        yield from pool.map(lambda place, one: asked(place, *one), folders, drawn)


@pytest.mark.oracle("promtool")
@pytest.mark.timeout(180)
@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(drawn=st.lists(rulesets.jobs(), min_size=1, max_size=_AT_ONCE))
def test_promtool_makes_the_same_targets(tmp_path: Path, drawn: Drawn) -> None:
    """Whatever the rules and the labels, the same targets come of them, with the same labels."""
    for answers, (job, groups) in zip(answers_of(tmp_path, drawn), drawn, strict=True):
        check(answers, outcomes(job, groups))


@pytest.mark.oracle("promtool")
@pytest.mark.timeout(180)
@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(drawn=st.lists(rulesets.jobs(rulesets.choosing_rules), min_size=1, max_size=_AT_ONCE))
def test_promtool_sees_the_same_before_the_rules(tmp_path: Path, drawn: Drawn) -> None:
    """What discovery found and what the job adds to it is the same, given rules that only choose.

    2.42 spoils its copy of the labels when a rule changes them.
    """
    for answers, (job, groups) in zip(answers_of(tmp_path, drawn), drawn, strict=True):
        found = outcomes(job, groups)
        check(answers, found)
        check_discovered(answers, found)
