"""Pages that `cwgpu cost` plays: how they go on, and what they are in a fleet."""

import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from cwgpu.cli.cost import fleet, motion, scene, twin
from cwgpu.cli.cost.fleet import Fleet, Metrics
from cwgpu.cli.cost.subject import Subject
from cwgpu.model.errors import UsageError
from cwgpu.model.labels import Labels
from cwgpu.plan.plan import Job
from cwgpu.prom import exposition

TIMES = [1_000_000 + 15_000 * step for step in range(40)]
JOB = Job("dcgm", 15.0, 10.0)
TEXT, OPENMETRICS = "text/plain", "application/openmetrics-text"
SAMPLES = sorted((Path(__file__).parents[1] / "data/samples").iterdir())


def subject(body: str, content_type: str = TEXT, labels: Labels | None = None) -> Subject:
    """Give a target with this page."""
    return Subject("node", JOB, labels or {}, body.encode(), content_type)


def values(one: Subject, times: list[int] = TIMES) -> list[list[bytes]]:
    """Give the values of each scrape."""
    return [
        [part.item.value for part in replace(one, body=body).parts]
        for body in motion.bodies(one, times)
    ]


# --- How they go on -------------------------------------------------------------------------------


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name)
def test_nothing_but_values_changes(path: Path) -> None:
    """Every page that is made up has the samples of the first, in their order."""
    written_in = OPENMETRICS if path.suffix == ".om" else TEXT
    one = Subject("node", JOB, {}, path.read_bytes(), written_in)
    for body in motion.bodies(one, TIMES[:3]):
        later = replace(one, body=body)
        assert [part.item.text for part in later.parts] == [p.item.text for p in one.parts]
        items = list(exposition.scan(body, one.format))
        assert len(items) == len(list(exposition.scan(one.body, one.format)))


@pytest.mark.parametrize(
    ("text", "shape", "lowest", "highest"),
    [
        ("1980", r"\d{4}", 1881, 1980),
        ("0.873214", r"0\.\d{6}", 0.829553, 0.873214),
        ("7", r"\d", 7, 7),
    ],
)
def test_a_gauge_stays_near(text: str, shape: str, lowest: float, highest: float) -> None:
    """It takes values from 95 % of the page's up to that, written as that is."""
    found = [row[0].decode() for row in values(subject(f"# TYPE g gauge\ng {text}\n"))]
    assert all(re.fullmatch(shape, each) and lowest <= float(each) <= highest for each in found)
    assert len(set(found)) > 1 or lowest == highest


@pytest.mark.parametrize(
    "text", ["0", "0.0", "-3", "NaN", "+Inf", "1e3", "9223372036854775794", "2147483632"]
)
def test_what_means_something_stays(text: str) -> None:
    """Zero, blank values of DCGM, and what is no plain number are the same in every scrape."""
    page = f"# TYPE DCGM_FI_DEV_GPU_TEMP gauge\nDCGM_FI_DEV_GPU_TEMP {text}\n"
    assert {row[0] for row in values(subject(page))} == {text.encode()}


@pytest.mark.parametrize(
    ("page", "content_type"),
    [
        ("# TYPE c counter\nc 86400000\n", TEXT),
        ("# TYPE c counter\nc_total 86400000\n# EOF\n", OPENMETRICS),
        ("# TYPE c summary\nc_sum 86400000\n", TEXT),
    ],
)
def test_a_counter_grows_to_its_total_in_a_day(page: str, content_type: str) -> None:
    """It never falls, and grows at the mean rate of a day."""
    found = [int(row[0]) for row in values(subject(page, content_type))]
    assert all(0 <= later - former <= 2 * 15_000 for former, later in pairwise(found))
    assert found[-1] - found[0] == pytest.approx(15_000 * 39, rel=0.1)


def test_times_of_the_page_go_along() -> None:
    """The newest time that a page gives becomes that of the scrape, the others stay behind it."""
    text = subject("a 1 5000\nb 2 7000\nc 3\n")
    later = replace(text, body=list(motion.bodies(text, TIMES))[2])
    assert [part.item.timestamp_ms for part in later.parts] == [1_028_000, 1_030_000, None]
    page = 'a_total 1 5.0 # {trace="x"} 1 4.0\nb 2 7\n# EOF\n'
    openmetrics = subject(page, OPENMETRICS)
    later = replace(openmetrics, body=list(motion.bodies(openmetrics, TIMES))[2])
    assert [part.item.timestamp_ms for part in later.parts] == [1_028_000, 1_030_000]
    assert b'# {trace="x"} 1 4.0\n' in later.body


# --- Which there are ------------------------------------------------------------------------------

NODE = """\
# TYPE util gauge
util{gpu="0",UUID="GPU-a",Hostname="n1",pod="train-0",namespace="ml"} 87
util{gpu="1",UUID="GPU-b",Hostname="n1",pod="train-0",namespace="ml"} 90
util{gpu="2",uuid="GPU-b",GPU_I_ID="3",pod_name="infer",pod_namespace="ml"} 9
util{gpu="3",UUID="GPU-c",pod=""} 0
"""


def test_gpus_and_pods_are_told_apart() -> None:
    """GPUs are different UUIDs, pods are namespaces and names; an empty label is none."""
    one = subject(NODE)
    assert one.gpus == {"GPU-a", "GPU-b", "GPU-c"}
    assert one.pods == {("ml", "train-0"), ("ml", "infer")}


def test_a_twin_has_other_names_and_all_else_the_same() -> None:
    """Another node has other GPUs, pods and host; other pods are on the same GPUs."""
    labels = {"instance": "n1:9400", "zone": "a", "Service": "dcgm", "node": ""}
    one = subject(NODE, labels=labels)
    node = twin.of_other_node(one, {"zone"})
    assert node.labels == {**labels, "instance": "other-n1:9400", "zone": "other-a"}
    assert b'util{gpu="0",UUID="GPU-a0",Hostname="other-n1",pod="other-train-0",n' in node.body
    assert b'pod=""} 0\n' in node.body
    gpus = twin.of_other_gpus(one)
    assert b'util{gpu="0",UUID="GPU-a0",Hostname="n1",pod="other-train-0",n' in gpus.body
    pods = twin.of_other_pods(one)
    assert b'util{gpu="0",UUID="GPU-a",Hostname="n1",pod="other-train-0",n' in pods.body
    assert gpus.labels == pods.labels == labels


def test_names_within_values_are_left_alone() -> None:
    """A value that looks like a label is none; what is escaped stays so."""
    one = subject('m{x="a,pod=\\"p\\"",pod="q\\\\\\"r"} 1\n')
    assert twin.of_other_pods(one).body == b'm{x="a,pod=\\"p\\"",pod="other-q\\\\\\"r"} 1\n'


def test_labels_that_tell_targets_apart() -> None:
    """They are those that one target has otherwise than another, or not at all."""
    several = [{"job": "a", "zone": "1"}, {"job": "a", "zone": "2", "rack": "7"}]
    assert scene.telling_labels(several) == {"zone", "rack"}
    assert scene.telling_labels(several[:1]) == frozenset()
    assert scene.telling_labels([]) == frozenset()


# --- How many there are ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("gpus", "nodes", "per_node", "per_gpu"),
    [
        (None, None, 1, 1),
        (30, None, 10, 10),
        (None, 5, 5, 5),
        (30, 5, 5, 10),
        (None, 1, 1, 1),
    ],
)
def test_one_follows_from_the_other(
    gpus: int | None, nodes: int | None, per_node: float, per_gpu: float
) -> None:
    """GPUs and nodes are in the ratio of the pages, unless both are given."""
    made = fleet.fleet([subject(NODE)], gpus, nodes)
    assert (made.per_node, made.per_gpu) == (per_node, per_gpu)
    assert made == Fleet(1, 3, 2, nodes=per_node, gpus=3 * per_gpu)


def test_pages_without_gpus_beside_others_are_there_once() -> None:
    """They are multiplied only where there is nothing else to be multiplied."""
    node, other = subject(NODE), subject("up 1\n")
    assert fleet.scaled([node, other]) == [node]
    assert fleet.scaled([other]) == [other]
    assert fleet.fleet([other], None, 7).per_gpu == 7


def test_gpus_of_pages_that_have_none() -> None:
    """Without a UUID nothing says how many GPUs a page is."""
    with pytest.raises(UsageError, match="use --nodes"):
        fleet.fleet([subject("up 1\n")], 8, None)


def test_metrics_are_multiplied_by_what_tells_them_apart() -> None:
    """One for all nodes, one for each, or one for each GPU; a pod brings those that it names."""

    def metric(name: str) -> tuple[str, tuple[tuple[str, str], ...], str]:
        return ("N", (), name)

    shared, node, gpu, pod = map(metric, ("shared", "node", "gpu", "pod"))
    metrics = Metrics(
        here={shared, node, gpu, pod},
        other_nodes={shared},
        other_gpus={shared, node},
        other_pods={shared, node, gpu},
    )
    among = Fleet(1, page_gpus=2, page_pods=2, nodes=10, gpus=40)
    assert [metrics.times(one, among) for one in (shared, node, gpu, pod)] == [1, 10, 20, 20]
    assert metrics.per_pod(among) == 0.5
    assert metrics.per_pod(replace(among, page_pods=0)) == 0


# --- How much of them is played -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("interval_s", "window_s", "pages", "count"),
    [
        (15.0, None, 1, 240),
        (60.0, None, 4, 60),
        (5.0, 60.0, 1, 240),
        (1.0, 60.0, 1, 240),
        (1.0, 900.0, 1, 900),
        (7.0, None, 1, 240),
        (15.0, 60.0, 100, 4),
        (15.0, None, 1000, 4),
        (7200.0, None, 1, 1),
    ],
)
def test_an_hour_is_played_or_whole_windows(
    interval_s: float, window_s: float | None, pages: int, count: int
) -> None:
    """Many pages and short intervals are played for less, but for a window at least."""
    one = replace(subject(NODE), job=replace(JOB, interval_s=interval_s))
    assert scene.scrapes(one, window_s, pages) == count


def test_a_large_page_takes_no_more_memory_than_there_is() -> None:
    """Of a page of megabytes a few minutes are played."""
    one = replace(subject(NODE), body=b"x" * (8 << 20))
    assert scene.scrapes(one, None, 1) == 12
