"""What ``cwgpu targets`` shows of documents that differ, and of agents that answer oddly."""

import asyncio
import contextlib
import json
import math
from collections.abc import AsyncGenerator
from typing import Any

import pytest

from cwgpu.cli import exits
from cwgpu.cli.targets import ask, changes, show, table
from cwgpu.model.errors import CwgpuError, PermissionError_, UnavailableError
from tests.fakes.exporter import Answer, FakeExporter

Json = dict[str, Any]


def target(port: int, *, up: bool | None = None) -> Json:
    """Write a target of an agent that has scraped it, unless ``up`` is None."""
    failed = {"reason": "timeout", "detail": "no answer in 10 s"}
    fine: Json = {"reason": None, "detail": None}
    health: Json | None = None if up is None else {"up": up, "at_ms": 1, "duration_s": 0.1}
    if health is not None:
        health |= fine if up else failed
    return {
        "source": f"kubernetes/0/pod/gpu/{port}",
        "url": f"http://10.0.0.1:{port}/metrics",
        "labels": {"job": "gpu"},
        "interval": "15s",
        "timeout": "10s",
        "health": health,
    }


def group(*names: str, every: bool = True, **more: Any) -> Json:  # noqa: ANN401 - members
    """Write a group of targets that a rule dropped."""
    rule = {"index": 0, "place": None, "action": "keep", "regex": "x"}
    made = {
        "outcome": "dropped",
        "count": len(names),
        "reason": "rule 1 (keep): app does not match the regex x",
        "dropped_by": rule,
        "values": [{"value": name, "other": "", "count": 1, "hint": ""} for name in names],
        "hint": "",
        **more,
    }
    if every:
        made["targets"] = [
            {"source": f"static/{name}", "value": name, "discovered": {"__address__": name}}
            for name in names
        ]
    return made


def job(*targets: Json, groups: tuple[Json, ...] = (), **more: Any) -> Json:  # noqa: ANN401 - members
    """Write what is known of a job."""
    lost = sum(each["count"] for each in groups)
    empty: Json = {"faults": [], "denied": False, "silent": [], "notes": []}
    counts = {"found": len(targets) + lost, "active": len(targets), "dropped": lost, "rejected": 0}
    return {"job": "gpu", **counts, **empty, "targets": targets, "groups": groups} | more


def document(*jobs: Json) -> Json:
    """Write a document."""
    return {"jobs": list(jobs)}


def told(former: Json, now: Json, form: str = "table") -> list[str]:
    """Give the lines that tell of a change."""
    return [table.change(each, form) for each in changes.changes(former, now)]


def test_no_change_no_line() -> None:
    """Nothing is said of what stays."""
    same = document(job(target(1, up=True), groups=(group("a"),)))
    assert told(same, json.loads(json.dumps(same))) == []


def test_each_target_is_told_of() -> None:
    """Where those that are not scraped are shown one by one, they come and go one by one."""
    before = document(job(target(1), groups=(group("a", "b"),)))
    after = document(job(target(2), groups=(group("a", "c", "d"),)))
    assert told(before, after) == [
        "- gpu: ACTIVE http://10.0.0.1:1/metrics  pod/gpu/1",
        '- gpu: DROPPED b  static/b  "b": rule 1 (keep): app does not match the regex x',
        "+ gpu: ACTIVE http://10.0.0.1:2/metrics  pod/gpu/2",
        '+ gpu: DROPPED c  static/c  "c": rule 1 (keep): app does not match the regex x',
        '+ gpu: DROPPED d  static/d  "d": rule 1 (keep): app does not match the regex x',
        "~ gpu: DROPPED 3 (was 2): rule 1 (keep): app does not match the regex x",
    ]


def test_groups_are_told_of_by_their_number() -> None:
    """One that is new had none before, and one that is gone has none."""
    before = document(job(groups=(group("a", every=False),)))
    assert told(document(job()), before) == [
        "~ gpu: DROPPED 1 (was 0): rule 1 (keep): app does not match the regex x"
    ]
    assert told(before, document(job())) == [
        "~ gpu: DROPPED 0 (was 1): rule 1 (keep): app does not match the regex x"
    ]


def test_health_is_told_of_when_it_changes() -> None:
    """And not each time that it stays good or bad."""
    fine, bad = document(job(target(1, up=True))), document(job(target(1, up=False)))
    line = "~ gpu: ACTIVE http://10.0.0.1:1/metrics  pod/gpu/1"
    assert told(fine, bad) == [f"{line}  down: timeout"]
    assert told(bad, fine) == [f"{line}  up"]
    assert told(bad, bad) == []
    (wide,) = told(fine, bad, "wide")
    assert "down: timeout, no answer in 10 s  every 15s, timeout 10s" in wide


def test_jobs_come_and_go() -> None:
    """As an agent's do when its configuration has changed."""
    one = document(job(target(1)))
    assert told(document(), one)[0].startswith("+ gpu: ACTIVE")
    assert told(one, document())[0].startswith("- gpu: ACTIVE")


def test_many_values_are_cut() -> None:
    """A table has the first; they may not do anything to the terminal."""
    names = [f"pod-{index}" for index in range(9)]
    lines = table.text(document(job(groups=(group(*names, every=False),))), "table").splitlines()
    assert lines[-1].endswith('"pod-4" ×1, and 4 more')  # noqa: RUF001 - as it is shown
    odd = table.text(document(job(groups=(group("\x1b[31m" + "x" * 90),))), "table")
    assert "\x1b" not in odd
    assert 'xxx..."' in odd


def test_reasons_of_rejection_are_told() -> None:
    """Each on its own line, with how often it was."""
    values = [
        {"value": f"reason {index}", "other": "", "count": 1 + index % 2, "hint": ""}
        for index in range(7)
    ]
    rejected = group(every=False, outcome="rejected", dropped_by=None, count=10, values=values)
    rejected["reason"] = "the rules kept them, but they cannot be scraped"
    assert table.text(document(job(groups=(rejected,))), "table").splitlines()[1:] == [
        "  REJECTED 10",
        "      the rules kept them, but they cannot be scraped",
        "      reason 0",
        "      reason 1 ×2",  # noqa: RUF001 - as it is shown
        "      reason 2",
        "      reason 3 ×2",  # noqa: RUF001 - as it is shown
        "      reason 4",
        "      and 2 more",
    ]


def test_both_values_that_were_compared_are_told() -> None:
    """Of keepequal, with what was seen."""
    values = [{"value": "a", "other": "b", "count": 2, "hint": "nearly"}]
    lines = table.text(document(job(groups=(group("a", values=values, hint="nearly"),))), "table")
    assert 'values seen: "a" (not "b") ×2\n' in lines  # noqa: RUF001 - as it is shown
    assert 'hint for "a" (not "b"): nearly\n' in lines


@pytest.mark.parametrize(
    ("jobs", "code"),
    [
        ((), exits.NOTHING_FOUND),
        ((job(),), exits.NOTHING_FOUND),
        ((job(), job(target(1))), exits.OK),
        ((job(target(1)), job(faults=["no answer"])), exits.UNAVAILABLE),
        ((job(target(1), silent=["http_sd_configs[0]"]),), exits.UNAVAILABLE),
        ((job(faults=["x"]), job(target(1), faults=["no"], denied=True)), exits.PERMISSION),
        ((job(notes=["this is no pod"]),), exits.NOTHING_FOUND),
    ],
)
def test_exit_codes(jobs: tuple[Json, ...], code: int) -> None:
    """An answer that is not whole is no success, and a refusal the first thing to mend."""
    assert show.code(document(*jobs)) == code


async def test_faults_are_said_when_they_come(capsys: pytest.CaptureFixture[str]) -> None:
    """Once, on stderr; changes are lines of JSON where JSON is wanted."""

    async def documents() -> AsyncGenerator[Json, None]:
        yield document(job(target(1), faults=["one"]))
        yield document(job(target(1), faults=["one", "two\n"]))
        yield document(job(target(1), target(2)))

    assert await show.show(documents(), "json", watch=True) == exits.RUNTIME
    said = capsys.readouterr()
    assert said.err == "cwgpu: job gpu: one\ncwgpu: job gpu: two\\n\n"
    whole, change = map(json.loads, said.out.splitlines())
    assert whole["jobs"][0]["active"] == 1
    assert (change["change"], change["job"], change["outcome"]) == ("added", "gpu", "active")
    assert change["url"] == "http://10.0.0.1:2/metrics"


async def answered(*answers: Answer, limit_s: float = 20.0) -> Json:
    """Ask an agent that answers so."""
    async with FakeExporter(*answers, path="/api/targets") as agent:
        url = agent.url.removesuffix("/api/targets")
        documents = ask.documents(f"{url}/", limit_s, every=True)
        async with contextlib.aclosing(documents) as them:
            try:
                return await anext(them)
            finally:
                agent.release()


async def test_an_agents_answer_is_taken_as_it_is() -> None:
    """Members that we do not know stay."""
    body = json.dumps({"jobs": [], "more": 1}).encode()
    assert await answered(Answer(body=body)) == {"jobs": [], "more": 1}


@pytest.mark.parametrize(
    ("answer", "kind", "said"),
    [
        (Answer(status=403, body=b"not here\n"), PermissionError_, "not here$"),
        (
            Answer(status=404, body=b"404: Not Found"),
            UnavailableError,
            "status 404 and no list of jobs",
        ),
        (Answer(body=b"[]"), UnavailableError, "is it a cwgpu, and as new as this one"),
        (Answer(body=b'{"jobs": 7}'), UnavailableError, "no list of jobs"),
    ],
)
async def test_what_is_no_answer(answer: Answer, kind: type[CwgpuError], said: str) -> None:
    """Each becomes a sentence that names the agent."""
    with pytest.raises(kind, match=said) as raised:
        await answered(answer)
    assert str(raised.value).startswith("http://127.0.0.1:")


async def test_an_agent_that_hangs() -> None:
    """Is waited for as long as was said."""
    with pytest.raises(UnavailableError, match="no answer in time"):
        await answered(Answer(delay_s=math.inf), limit_s=0.05)


async def test_what_is_no_url() -> None:
    """Nor is that an exception that nobody expects."""
    with pytest.raises(UnavailableError, match="does an agent run there"):
        await asyncio.wait_for(anext(ask.documents("nowhere", 5.0, every=False)), 20.0)
