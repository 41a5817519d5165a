"""docs/compatibility.md, held: the same datapoints as the CloudWatch agent, or better ones."""

import asyncio
import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from cwgpu.config.complaint import InvalidError
from cwgpu.discovery import static
from cwgpu.model.target import Target
from cwgpu.prom import targeting
from cwgpu.scrape.pool import Pool
from tests.golden import recorded
from tests.golden.promised import BETTER, BY_NAME, ENERGY, REFUSED, SAME, UTIL, point
from tests.golden.recorded import START_MS, Json

CASES = recorded.cases()


def test_every_case_has_one_place() -> None:
    """No recorded case is forgotten, and none is both the same and better."""
    assert Counter((*SAME, *BETTER, *REFUSED, *BY_NAME)) == Counter(CASES.keys())


def test_all_recordings_are_there() -> None:
    """Pages, configurations and deliveries: each file's own tests see that its rows are run."""
    files = ("cloudwatch-agent", "agent-config", "agent-delivery")
    lines = [(recorded.DATA / f"{name}.jsonl").read_text("utf-8").splitlines() for name in files]
    ids = {json.loads(line)["id"][:3] for each in lines for line in each}
    assert Counter(one[0] for one in ids) == {"P": 61, "C": 25, "D": 13}


@pytest.mark.parametrize("case", SAME)
def test_same_datapoints_as_the_agent(case: str, tmp_path: Path) -> None:
    """CloudWatch stores of our events exactly what it stores of the agent's."""
    one = CASES[case]
    made = recorded.events(one, recorded.plan(one, tmp_path))
    assert recorded.datapoints(made) == recorded.recorded_datapoints(one), one.title


@pytest.mark.parametrize("case", SAME)
def test_same_log_streams_as_the_agent(case: str, tmp_path: Path) -> None:
    """Each event with datapoints goes to the group and the stream it goes to from the agent."""
    one = CASES[case]
    made = recorded.events(one, recorded.plan(one, tmp_path))
    ours = {(e.stream.group, e.stream.stream, e.at_ms) for e in made if e.datapoints}
    theirs = {
        (e["log_group"], e["log_stream"], e["timestamp_ms"])
        for e in recorded.recorded(one)
        if "CloudWatchMetrics" in e["emf"]
    }
    assert ours == theirs


@pytest.mark.parametrize("case", SAME)
def test_same_log_fields_as_the_agent_if_asked(case: str, tmp_path: Path) -> None:
    """With ``unselected: "log"`` the events hold the fields that the agent's hold."""
    one = CASES[case]
    made = recorded.events(one, recorded.plan(one, tmp_path, own={"unselected": "log"}))
    ours = [recorded.fields(json.loads(event.message)) for event in made]
    theirs = [recorded.fields(event["emf"]) for event in recorded.recorded(one)]
    assert sorted(map(_text, ours)) == sorted(map(_text, theirs))


@pytest.mark.parametrize("case", sorted({*SAME, *BETTER} - {"P56"}))
def test_nothing_is_logged_that_is_no_metric(case: str, tmp_path: Path) -> None:
    """Better: without being asked, no event is sent that gives no datapoint, and no field more."""
    one = CASES[case]
    for event in recorded.events(one, recorded.plan(one, tmp_path)):
        assert event.datapoints
        numbers = [v for v in json.loads(event.message).values() if isinstance(v, int | float)]
        assert len(numbers) == event.samples


@pytest.mark.parametrize("case", BETTER, ids=[f"{i}: {b.sentence}" for i, b in BETTER.items()])
def test_better_than_the_agent(case: str, tmp_path: Path) -> None:
    """Where the agent loses or spoils a value, ours are the ones that the exporter meant."""
    one = CASES[case]
    made = recorded.events(one, recorded.plan(one, tmp_path))
    assert recorded.datapoints(made) == Counter(BETTER[case].datapoints), BETTER[case].sentence


@pytest.mark.parametrize("case", REFUSED)
def test_better_to_refuse_than_to_guess(case: str, tmp_path: Path) -> None:
    """What the agent answers with all labels as dimensions, or a crash, names its place here."""
    code, key = REFUSED[case]
    with pytest.raises(InvalidError) as error:
        recorded.plan(CASES[case], tmp_path)
    (complaint,) = error.value.complaints
    assert complaint.code == code
    assert key in complaint.path


def test_known_units_are_the_agents(tmp_path: Path) -> None:
    """Same: once the unknown unit is gone, the known one arrives as it does from the agent."""
    row = json.loads(json.dumps(CASES["P53"].row))
    processor = row["config_fragment"]["logs"]["metrics_collected"]["prometheus"]["emf_processor"]
    del processor["metric_unit"]["DCGM_FI_DEV_POWER_USAGE"]
    one = replace(CASES["P53"], row=row)
    theirs = recorded.recorded_datapoints(one)
    assert recorded.datapoints(recorded.events(one, recorded.plan(one, tmp_path))) == theirs
    assert {each.unit for each in theirs} == {None, "Percent"}


def test_labels_with_names_of_the_old_format_are_kept(tmp_path: Path) -> None:
    """Better (P62): Version and Timestamp keep the exporter's values, only ``_aws`` is taken."""
    (event,) = recorded.events(CASES["P62"], recorded.plan(CASES["P62"], tmp_path))
    message = json.loads(event.message)
    assert (message["Version"], message["Timestamp"]) == ("v9", "never")
    assert message["_aws"]["Timestamp"] == START_MS


def test_many_metrics_are_split_into_valid_events(tmp_path: Path) -> None:
    """Better (P77): no event has more than the 100 metrics that the format allows."""
    made = recorded.events(CASES["P77"], recorded.plan(CASES["P77"], tmp_path))
    assert [event.samples for event in made] == [100, 20]


async def test_a_scrape_whose_target_goes_meanwhile_gives_nothing() -> None:
    """Same (P70): the answer for a target that was taken away under way is not read."""
    assert CASES["P70"].row["expected"] == ["dropped"]
    begun, answered = asyncio.Event(), asyncio.Event()
    read: list[str] = []

    async def visit(target: Target) -> None:
        begun.set()
        await answered.wait()
        read.append(target.url)

    pool = Pool(visit, lambda: 0.0, asyncio.sleep, prompt=True)
    pool.reconcile([Target("gpu", "http://10.1.2.3:9400/metrics", {}, 60.0, 10.0)])
    await begun.wait()
    pool.reconcile([])
    answered.set()
    await pool.stop()
    assert read == []


def test_labelkeep_keeps_the_scrape(tmp_path: Path) -> None:
    """Better (P71): there are no hidden labels that a labelkeep could take away."""
    keep = "__.*|Service|Namespace|job|pod"
    rules = [{"action": "labelkeep", "regex": keep}]
    job = {
        "job_name": "gpu-endpoints",
        "static_configs": [{"targets": ["10.1.2.3:9400"]}],
        "relabel_configs": rules,
        "metric_relabel_configs": rules,
    }
    plan = recorded.plan(CASES["P71"], tmp_path, jobs=[job])
    (target,) = targeting.targets(plan.jobs[0], next(static.groups(plan.jobs[0])))
    assert isinstance(target, Target)
    made = recorded.events(CASES["P71"], plan)
    assert recorded.datapoints(made) == Counter([point(UTIL, 1)])


def test_two_ports_of_one_exporter_are_scraped_once(tmp_path: Path) -> None:
    """Better (P78): targets that relabelling makes equal are one, and so is their counter."""
    job = {
        "job_name": "gpu-endpoints",
        "static_configs": [{"targets": ["10.1.2.3:9400", "10.1.2.3:9401"]}],
        "relabel_configs": [
            {
                "source_labels": ["__address__"],
                "regex": "(.*):.*",
                "target_label": "__address__",
                "replacement": "$1:9400",
            }
        ],
    }
    plan = recorded.plan(CASES["P78"], tmp_path, jobs=[job])
    (group,) = static.groups(plan.jobs[0])
    found = [one for one in targeting.targets(plan.jobs[0], group) if isinstance(one, Target)]
    assert [one.url for one in found] == ["http://10.1.2.3:9400/metrics"] * 2
    assert len({one.identity for one in found}) == 1
    row = CASES["P78"].row
    once = [one for one in row["scrapes"] if "address_before_relabel" not in one]
    made = recorded.events(replace(CASES["P78"], row={**row, "scrapes": once}), plan)
    assert recorded.datapoints(made) == Counter([point(ENERGY, 20, 60_000)])


def test_an_ecs_task_writes_its_names(tmp_path: Path) -> None:
    """Same (P80): outside of ECS its names can be written, and then the datapoints are the same."""
    row = json.loads(json.dumps(CASES["P80"].row))
    section = row["config_fragment"]["logs"]["metrics_collected"]["prometheus"]
    section["log_group_name"] = "/aws/ecs/containerinsights/{ClusterName}/prometheus"
    section["emf_processor"]["metric_namespace"] = "ECS/ContainerInsights/Prometheus"
    one = replace(CASES["P80"], row=row)
    made = recorded.events(one, recorded.plan(one, tmp_path))
    assert recorded.datapoints(made) == recorded.recorded_datapoints(one)
    assert [event.stream.group for event in made] == [recorded.recorded(one)[0]["log_group"]]


def test_counters_may_be_scraped_rarely(tmp_path: Path) -> None:
    """Better (P81): after more than five minutes every counter still has its baseline."""
    row = json.loads(json.dumps(CASES["P81"].row))
    declaration = {"source_labels": ["job"], "metric_selectors": ["^c"], "dimensions": [["job"]]}
    row["config_fragment"]["logs"]["metrics_collected"]["prometheus"] = {
        "cluster_name": "eks-lab",
        "emf_processor": {"metric_declaration": [declaration]},
    }
    one = replace(CASES["P81"], row=row)
    made = recorded.events(one, recorded.plan(one, tmp_path))
    expected = [point(f"c{n}", 10, at, {"job": "j"}) for n in range(4) for at in (360_000, 720_000)]
    assert recorded.datapoints(made) == Counter(expected)


def _text(members: Json) -> str:
    return json.dumps(members, sort_keys=True)
