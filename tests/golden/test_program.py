"""The recorded cases through the whole program: pages served one after the other, a dry run.

What pages do not decide (``promised.BY_NAME``) has tests of its own. The time of a scrape is that
of this run, so a datapoint's time is told by its place in their order. Times that a page tells
itself are moved to today, because CloudWatch takes nothing that is older than two weeks.
"""

import json
import multiprocessing
import os
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from cwgpu.cli import exits
from cwgpu.cli.main import main
from tests.cli import program
from tests.fakes import emf
from tests.fakes.emf import Datapoint
from tests.fakes.exporter import OPENMETRICS, Answer, FakeExporter
from tests.golden import recorded
from tests.golden.promised import BETTER, REFUSED, SAME
from tests.golden.recorded import START_MS, Case, Json

CASES = recorded.cases()
NOW_MS = int(time.time() * 1000)
AT_ONCE = 4
"""Processes at a time: most of them wait for their second scrape."""
_TOLD = re.compile(r" (\d{13})$", re.MULTILINE)
_UNTOLD = re.compile(r"^([^#\n].* [^\s]{1,12})$", re.MULTILINE)


@dataclass(frozen=True)
class Ran:
    """What a run came to."""

    code: int
    datapoints: Counter[Datapoint]
    said: str


def run(case: Case, folder: Path) -> Ran:
    """Serve the pages of a case, and scrape them to the last."""
    folder.mkdir()
    with ExitStack() as stack:
        targets = [stack.enter_context(FakeExporter(*pages)) for pages in _pages(case)]
        agent, jobs = folder / "cwagent.json", folder / "prometheus.yml"
        agent.write_text(json.dumps(case.row["config_fragment"]), "utf-8")
        written = _job(case, [target.address for target in targets])
        jobs.write_text(json.dumps({"scrape_configs": [written]}), "utf-8")
        scrapes = max((len(pages) for pages in _pages(case)), default=1)
        arguments = ["run", "-c", str(agent), "--prometheus-config", str(jobs), "--dry-run"]
        environ = recorded.environment(case.row["environment"])
        return _ran([*arguments, "--scrapes", str(scrapes)], environ, folder)


def _ran(arguments: list[str], environ: Mapping[str, str], folder: Path) -> Ran:
    """Run the program in a process that has imported it already."""
    spawn = multiprocessing.get_context("forkserver")
    spawn.set_forkserver_preload([__name__, "cwgpu.cli.start"])
    process = spawn.Process(target=_begin, args=(arguments, program.environ(environ), folder))
    process.start()
    process.join(program.AMPLE_S)
    assert process.exitcode is not None, arguments
    ended = program.Ended(
        process.exitcode,
        (folder / "stdout").read_text("utf-8"),
        (folder / "stderr").read_text("utf-8"),
    )
    points: Counter[Datapoint] = Counter()
    for event in ended.events:
        extracted = emf.extract(json.dumps(event), NOW_MS, declared=True)
        assert extracted.error is None, extracted.error
        points.update(extracted.datapoints)
    return Ran(ended.code, points, ended.stderr)


def _begin(arguments: list[str], environ: Mapping[str, str], folder: Path) -> None:
    os.environ.clear()
    os.environ.update(environ)
    for name, stream in (("stdout", sys.stdout), ("stderr", sys.stderr)):
        with (folder / name).open("wb") as file:
            os.dup2(file.fileno(), stream.fileno())
    main(arguments)


def _pages(case: Case) -> list[list[Answer]]:
    """Give the pages of each target."""
    targets: dict[str, list[Answer]] = {}
    for scrape in case.scrapes:
        text = scrape["text"] + "\n"
        if _tells(case):
            text = _UNTOLD.sub(rf"\1 {scrape['scrape_ts_ms']}", text)
            text = _TOLD.sub(lambda told: f" {_moved(int(told[1]))}", text)
        answer = Answer(body=text.encode())
        if recorded.EXEMPLAR in text:
            answer = Answer(body=f"{text}# EOF\n".encode(), content_type=OPENMETRICS)
        targets.setdefault(str(scrape.get("address_before_relabel")), []).append(answer)
    return list(targets.values())


def _job(case: Case, addresses: list[str]) -> Json:
    labels = case.scrapes[0]["target_labels_after_relabel"] if case.scrapes else {}
    every = {"scrape_interval": "1s", "scrape_timeout": "1s"}
    static = [{"targets": addresses, "labels": labels}]
    without = [] if "job" in labels else [{"target_label": "job", "replacement": ""}]
    job = recorded.job(case)
    return {**job, **every, "static_configs": static, "relabel_configs": without}


def _tells(case: Case) -> bool:
    """Whether a page of it tells times. Then all lines do, for those of scrapes are not its own."""
    return any(_TOLD.search(scrape["text"]) for scrape in case.scrapes)


def _moved(at_ms: int) -> int:
    return at_ms - START_MS + NOW_MS


def _placed(points: Counter[Datapoint], case: Case, *, today: bool) -> Counter[Datapoint]:
    """Tell times by what can be compared."""
    if _tells(case):
        return _timed(points, lambda at_ms: at_ms if today else _moved(at_ms))
    if len(_pages(case)) > 1:  # each target has its own moment
        return _timed(points, lambda _: 0)
    return _timed(points, sorted({point.at_ms for point in points}).index)


def _timed(points: Counter[Datapoint], at: Callable[[int], int]) -> Counter[Datapoint]:
    timed: Counter[Datapoint] = Counter()
    for point, count in points.items():
        timed[replace(point, at_ms=at(point.at_ms))] += count
    return timed


def _all(cases: Iterable[str], folder: Path) -> dict[str, Ran]:
    with ThreadPoolExecutor(AT_ONCE) as pool:
        runs = {name: pool.submit(run, CASES[name], folder / name) for name in cases}
        return {name: each.result() for name, each in runs.items()}


def test_a_dry_run_gives_the_agents_datapoints(tmp_path: Path) -> None:
    """Same, for every such case."""
    ran = _all(SAME, tmp_path)
    found = {name: _placed(ran[name].datapoints, CASES[name], today=True) for name in SAME}
    assert found == {
        name: _placed(recorded.recorded_datapoints(CASES[name]), CASES[name], today=False)
        for name in SAME
    }


def test_a_dry_run_gives_better_ones(tmp_path: Path) -> None:
    """Better, for every such case: what the exporter meant."""
    ran = _all(BETTER, tmp_path)
    found = {name: _placed(ran[name].datapoints, CASES[name], today=True) for name in BETTER}
    assert found == {
        name: _placed(Counter(better.datapoints), CASES[name], today=False)
        for name, better in BETTER.items()
    }


def test_a_run_refuses_what_it_would_have_to_guess(tmp_path: Path) -> None:
    """Better: the program does not start, and says where the fault is."""
    ran = _all(REFUSED, tmp_path)
    assert {name: each.code for name, each in ran.items()} == dict.fromkeys(
        REFUSED, exits.CONFIGURATION
    )
    for name, (code, key) in REFUSED.items():
        assert f"[{code}]" in ran[name].said
        assert key in ran[name].said
