"""`cwgpu cost`: what it prints, what it refuses, and how it ends."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from cwgpu.cli import exits
from cwgpu.cli.cost import bill, prices
from cwgpu.cli.main import cli
from cwgpu.model.errors import ExpositionError, UsageError
from tests.cli import program
from tests.fakes.exporter import FakeExporter

DATA = Path(__file__).parents[1] / "data"
CONFIG = DATA / "cost/cwagent.json"
PAGE = DATA / "cost/node.prom"
LISTED = prices.read(prices.PACKAGED)

Json = dict[str, Any]


def cost(*arguments: object, config: Path = CONFIG) -> tuple[int, str, str]:
    """Run within this process; gives exit code, stdout and stderr."""
    words = ["cost", "-c", str(config), *map(str, arguments)]
    done = CliRunner().invoke(cli, words, standalone_mode=False, env={})
    if done.exception is not None:
        raise done.exception
    return done.return_value, done.stdout, done.stderr


def estimated(*arguments: object, config: Path = CONFIG) -> Json:
    """Give the estimate of pages that are good."""
    code, stdout, stderr = cost(*arguments, "-o", "json", config=config)
    assert (code, stderr) == (exits.OK, "")
    found: Json = json.loads(stdout)
    return found


def configured(path: Path, **changes: object) -> Path:
    """Write the example's configuration with other keys of ours; every 60 s, to save time."""
    document = json.loads(CONFIG.read_text("utf-8"))
    document["cwgpu"]["scrape_configs"][0]["scrape_interval"] = "60s"
    document["cwgpu"].update(changes)
    path.write_text(json.dumps(document), "utf-8")
    return path


# --- The estimate ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def thousand() -> Json:
    """The estimate for a thousand GPUs, and a thousand pods a day."""
    return estimated("--page", PAGE, "--gpus", 1000, "--pods-per-day", 1000)


def test_metrics_are_counted_by_dimension_set(thousand: Json) -> None:
    """Those with the pod are multiplied, those that all nodes share are not."""
    assert thousand["fleet"] == {
        "nodes": 125,
        "gpus": 1000,
        "pods_per_day": 1000,
        "pages": 1,
        "page_gpus": 8,
        "page_pods": 3,
    }
    found = thousand["metrics"]
    assert (found["pages"], found["fleet"]) == (14 * 3 + 14, 14 * 3 * 125 + 14)
    assert [
        (each["dimensions"], each["pages"], each["fleet"]) for each in found["by_dimension_set"]
    ] == [
        (["ClusterName", "Namespace", "Service", "job", "pod"], 42, 5250),
        (["ClusterName", "Namespace", "Service", "job"], 14, 14),
    ]


def test_a_month_is_730_hours_of_the_fleet(thousand: Json) -> None:
    """Events and bytes of an hour are those of the page, 125 times; a GB is 10^9 bytes."""
    page, hour, month = thousand["pages_hour"], thousand["hour"], thousand["month"]
    assert thousand["simulated_s"] == 1200
    assert page["samples"] == 14 * 8 * 720
    assert {name: 125 * count for name, count in page.items()} == hour
    assert month["log_gb"] == round(hour["bytes"] * 730 / 1e9, 3)
    assert month["metric_hours"] == 5264 * 730
    assert month["metric_hours_of_pod_starts"] == round(1000 * 730 / 24 * 14)


def test_items_are_priced_and_add_up(thousand: Json) -> None:
    """The bill is that of the list prices."""
    usd, month = thousand["usd_per_month"], thousand["month"]
    assert usd["custom_metrics"] == 5264 * 0.3 == 1579.2
    assert usd["pod_starts"] == pytest.approx(1000 * 14 / 24 * 0.3, abs=0.01)
    assert usd["log_ingestion"] == pytest.approx(month["log_gb"] * 0.5, abs=0.01)
    kept_gb = month["log_gb"] * 14 * 24 / 730 * 0.15
    assert usd["log_storage"] == pytest.approx(kept_gb * 0.03, abs=0.01)
    total = sum(value for name, value in usd.items() if name != "total")
    assert usd["total"] == pytest.approx(total, abs=0.02)


def test_every_packing_is_tried(thousand: Json) -> None:
    """Packing changes bytes and not metrics; the smallest are arrays of a minute by dimensions."""
    tried = thousand["what_if"]["packing"]
    assert len(tried) == 8
    assert {each["metrics"] for each in tried} == {5264}
    (same,) = [each for each in tried if each["configured"]]
    assert same["usd_difference"] == 0
    assert same["bytes_per_sample"] == thousand["bytes_per_sample"]
    assert {name: same[name] for name in thousand["packing"]} == thousand["packing"]
    smallest = min(tried, key=lambda each: each["bytes_per_sample"])
    best = {"group_by": "dimensions", "emit": "60s", "labels": "dimensions"}
    assert {name: smallest[name] for name in best} == best
    assert smallest["bytes_per_sample"] <= 12


def test_every_dimension_set_is_left_out(thousand: Json) -> None:
    """Its metrics go, and the samples that have no other set: those of GPUs without a pod."""
    pod, rest = thousand["what_if"]["without_dimension_set"]
    assert "pod" in pod["dimensions"]
    assert "pod" not in rest["dimensions"]
    assert (pod["metrics"], pod["lost_samples_percent"]) == (14, 0)
    assert (rest["metrics"], rest["lost_samples_percent"]) == (5250, 25)
    assert pod["usd_difference"] < rest["usd_difference"] < 0


def test_several_pages_are_several_nodes(tmp_path: Path) -> None:
    """What follows a page is one more; each is a target of its own, and metrics are told apart."""
    other = tmp_path / "other.prom"
    text = PAGE.read_text("utf-8").replace("GPU-", "GPU-f").replace('pod="', 'pod="b-')
    other.write_text(text, "utf-8")
    config = configured(tmp_path / "c.json")
    found = estimated("--page", PAGE, other, config=config)
    assert [each["name"] for each in found["pages"]] == [str(PAGE), str(other)]
    assert found["fleet"]["gpus"] == found["fleet"]["page_gpus"] == 16
    assert found["metrics"]["fleet"] == found["metrics"]["pages"] == 14 * (3 + 3 + 1)
    assert found["pages_hour"]["samples"] == 14 * 16 * 60


def test_table_has_the_same_figures(tmp_path: Path) -> None:
    """The table is made of the JSON, for a reader."""
    config = configured(tmp_path / "c.json", log_retention_days=1)
    code, stdout, stderr = cost("--page", PAGE, "--nodes", 125, config=config)
    found = estimated("--page", PAGE, "--nodes", 125, config=config)
    assert (code, stderr) == (exits.OK, "")
    first = stdout.splitlines()[0]
    assert first.startswith("Estimate for 1,000 GPUs on 125 nodes: USD a month of 730 hours")
    assert first.endswith(f"list prices of {LISTED.date}, us-east-1")
    for wanted in (
        f"{found['usd_per_month']['total']:,.2f}",
        f"{found['hour']['events']:,} an hour",
        "5,264",
        "kept for 1 day ",
        "(as it is)",
        "without 25 % of the samples",
        "an hour of scrapes",
    ):
        assert wanted in stdout


def test_numbers_of_a_fleet_keep_their_digits(tmp_path: Path) -> None:
    """Of a million and more, and of a part of a node."""
    config = configured(tmp_path / "c.json")
    _, many, _ = cost("--page", PAGE, "--gpus", 9876544, "--pods-per-day", 1234567, config=config)
    assert many.startswith("Estimate for 9,876,544 GPUs on 1,234,568 nodes: ")
    assert " 1,234,567 a day " in many
    _, few, _ = cost("--page", PAGE, "--gpus", 3, config=config)
    assert few.startswith("Estimate for 3 GPUs on 0.375 nodes: ")


def test_what_has_no_dimensions_and_no_retention(tmp_path: Path) -> None:
    """A metric without dimensions is one for all; logs without retention are said to grow."""
    config = configured(tmp_path / "c.json")
    document = json.loads(config.read_text("utf-8"))
    del document["cwgpu"]["log_retention_days"]
    prometheus = document["logs"]["metrics_collected"]["prometheus"]
    prometheus["emf_processor"]["metric_declaration"][0]["dimensions"] = [[]]
    config.write_text(json.dumps(document), "utf-8")
    _, stdout, _ = cost("--page", PAGE, "--nodes", 10, config=config)
    assert "kept for ever: this much more each month" in stdout
    assert "  none " in stdout
    assert estimated("--page", PAGE, "--nodes", 10, config=config)["metrics"]["fleet"] == 14


@pytest.mark.parametrize(("most", "said"), [(55, True), (56, False)])
def test_a_budget_is_held_against_it(most: int, said: bool, tmp_path: Path) -> None:  # noqa: FBT001 - a case
    """More metrics than the budget's are told on stderr; what `drop` would refuse is counted."""
    config = configured(tmp_path / "c.json", budget={"metrics": most, "action": "drop"})
    code, stdout, stderr = cost("--page", PAGE, "-o", "json", config=config)
    assert code == exits.OK
    found = json.loads(stdout)["metrics"]
    assert (found["pages"], found["fleet"], found["budget"]) == (56, 56, most)
    warning = "cwgpu: 56 custom metrics are more than the 55 of cwgpu.budget.metrics\n"
    assert stderr == (warning if said else "")


# --- What is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize("arguments", [(), ("--live", "--page", PAGE), ("--live", PAGE)])
def test_pages_or_targets(arguments: tuple[object, ...]) -> None:
    """Either pages are given or targets are looked for."""
    with pytest.raises(UsageError, match="--page FILE, or --live"):
        cost(*arguments)


@pytest.mark.parametrize(
    ("flag", "text"),
    [
        *(("--pods-per-day", text) for text in ("nan", "inf", "1e308", "-1", "x")),
        *((flag, text) for flag in ("--gpus", "--nodes") for text in ("0", "9" * 400)),
    ],
)
def test_numbers_that_no_fleet_has(flag: str, text: str) -> None:
    """They are refused before anything is multiplied by them."""
    with pytest.raises(click.BadParameter):
        cost("--page", PAGE, flag, text)


def test_a_page_that_is_none(tmp_path: Path) -> None:
    """A page that cannot be read or used is named."""
    with pytest.raises(UsageError, match=r"--page gone\.prom cannot be read"):
        cost("--page", "gone.prom")
    (tmp_path / "page.html").write_text("<html>", "utf-8")
    with pytest.raises(ExpositionError, match=r"page\.html: the page is refused"):
        cost("--page", tmp_path / "page.html")


def test_nothing_selected(tmp_path: Path) -> None:
    """An estimate of nothing ends as a dry run that selects nothing does."""
    config = configured(tmp_path / "c.json")
    web = ("--page", PAGE, "--label", "Service=web")
    code, stdout, stderr = cost(*web, "-o", "json", config=config)
    assert code == exits.NOTHING_FOUND
    assert "nothing on the pages is selected" in stderr
    found = json.loads(stdout)
    assert found["bytes_per_sample"] is None
    assert found["usd_per_month"]["total"] == 0
    code, stdout, stderr = cost(*web, config=config)
    assert (code, stdout) == (exits.NOTHING_FOUND, "")
    assert stderr == "cwgpu: nothing on the pages is selected: cwgpu explain page says why\n"
    assert cost(*web, config=config)[0] == exits.NOTHING_FOUND


# --- Targets that there are -----------------------------------------------------------------------


@pytest.fixture
def exporter() -> Iterator[FakeExporter]:
    """An exporter on loopback that serves the page."""
    with FakeExporter(PAGE.read_bytes()) as served:
        yield served


def live(config: Path, *targets: str) -> Path:
    """Write a configuration that scrapes these."""
    jobs = [
        {
            "job_name": "dcgm-exporter",
            "scrape_interval": "60s",
            "static_configs": [
                {
                    "targets": list(targets),
                    "labels": {"Service": "dcgm-exporter", "Namespace": "gpu-operator"},
                }
            ],
        }
    ]
    return configured(config, scrape_configs=jobs)


def test_live_is_what_the_targets_have(exporter: FakeExporter, tmp_path: Path) -> None:
    """Each target is scraped once; those that give no page are named and left out."""
    address = exporter.url.removeprefix("http://").partition("/")[0]
    config = live(tmp_path / "c.json", address, "127.0.0.1:1")
    code, stdout, stderr = cost("--live", "-o", "json", config=config)
    assert code == exits.OK
    assert "http://127.0.0.1:1/metrics: " in stderr
    found = json.loads(stdout)
    assert [each["name"] for each in found["pages"]] == [exporter.url]
    assert found["metrics"]["pages"] == 56
    assert len(exporter.requests) == 1


@pytest.mark.parametrize(
    ("targets", "code"), [((), exits.NOTHING_FOUND), (("127.0.0.1:1",), exits.UNAVAILABLE)]
)
def test_live_without_pages(targets: tuple[str, ...], code: int, tmp_path: Path) -> None:
    """No target, or none that answers, is told by the exit code."""
    found, stdout, _ = cost("--live", config=live(tmp_path / "c.json", *targets))
    assert (found, stdout) == (code, "")


def test_live_asks_no_more_than_it_may(exporter: FakeExporter, tmp_path: Path) -> None:
    """Of a job with more targets than target_limit none is scraped."""
    config = live(tmp_path / "c.json", "127.0.0.1:1", "127.0.0.1:2")
    document = json.loads(config.read_text("utf-8"))
    document["cwgpu"]["scrape_configs"][0]["target_limit"] = 1
    config.write_text(json.dumps(document), "utf-8")
    assert cost("--live", config=config)[0] == exits.NOTHING_FOUND


def test_pages_need_no_library_of_the_network() -> None:
    """An estimate from pages loads neither the SDK nor an HTTP client."""
    words = ("cost", "-c", str(CONFIG), "--page", str(DATA / "samples/01-a10g-one-pod-3.1.7.prom"))
    assert not program.imported(*words) & {"boto3", "aiohttp", "kubernetes"}


# --- Prices ---------------------------------------------------------------------------------------

FACTS = [
    (14_000, 3_400.0),
    (1_750, 525.0),
    (26_000, 4_600.0),
    (42_000, 6_200.0),
    (140_000, 16_000.0),
    (1_000_000, 64_500.0),
    (1_500_000, 74_500.0),
]


@pytest.mark.parametrize(("metrics", "usd"), FACTS)
def test_tiers(metrics: int, usd: float) -> None:
    """The first 10,000 metrics are the dearest, and so on."""
    found = bill.bill(LISTED, metrics=metrics, started_hours=0, gb=0, retention_days=None)
    assert found.custom_metrics == found.total == pytest.approx(usd)


def test_pod_starts_are_paid_at_the_tier_they_reach() -> None:
    """Hours of metrics that pods begin stand behind those that are there all month."""
    found = bill.bill(LISTED, metrics=9_999, started_hours=2 * 730, gb=0, retention_days=None)
    assert found.pod_starts == pytest.approx(0.3 + 0.1)


def test_logs_are_paid_for_twice() -> None:
    """Once as they come, and as long as they are kept."""
    month = bill.bill(LISTED, metrics=0, started_hours=0, gb=100, retention_days=None)
    year = bill.bill(LISTED, metrics=0, started_hours=0, gb=100, retention_days=365)
    assert month.log_ingestion == year.log_ingestion == 50
    assert month.log_storage == pytest.approx(100 * 0.15 * 0.03)
    assert year.log_storage == pytest.approx(12 * month.log_storage)


def listed(path: Path, **changes: object) -> Path:
    """Write our price list with other members; None takes one away."""
    document = {**json.loads(prices.PACKAGED.read_text("utf-8")), **changes}
    document = {name: value for name, value in document.items() if value is not None}
    path.write_text(json.dumps(document), "utf-8")
    return path


def test_other_prices(tmp_path: Path) -> None:
    """A price list of one's own takes the place of ours, with its date and region."""
    own = listed(
        tmp_path / "p.json",
        region="eu-north-1",
        date="2026-10-01",
        custom_metrics=[{"metrics": None, "usd_per_month": 1}],
    )
    found = estimated("--page", PAGE, "--prices", own, config=configured(tmp_path / "c.json"))
    assert (found["prices"]["date"], found["prices"]["region"]) == ("2026-10-01", "eu-north-1")
    assert found["usd_per_month"]["custom_metrics"] == 56


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"date": None}, "date is missing: see docs/cost.md"),
        ({"date": 2026}, "date is 2026, wanted a text of one line"),
        ({"regoin": "x"}, "regoin is no member: write region"),
        ({"zzz": 1}, "zzz is no member: known are date, region"),
        ({"sources": []}, "sources is [], wanted a list that is not empty"),
        ({"log_ingestion_usd_per_gb": "0.5"}, 'log_ingestion_usd_per_gb is "0.5", wanted a number'),
        ({"log_storage_ratio": True}, "log_storage_ratio is true, wanted a number"),
        (
            {"log_storage_ratio": -1},
            "log_storage_ratio is -1, wanted a number from 0 to a million",
        ),
        ({"log_storage_ratio": 10**400}, "log_storage_ratio is 1000"),
        (
            {"custom_metrics": [{"metrics": 10**400, "usd_per_month": 1}] * 2},
            "custom_metrics[0].metrics is 1000",
        ),
        (
            {"custom_metrics": [{"metrics": None, "usd_per_month": 1e308}]},
            "custom_metrics[0].usd_per_month is 1e+308, wanted a number from 0 to a million",
        ),
        ({"custom_metrics": [1]}, "custom_metrics[0] is 1, wanted an object with metrics"),
        (
            {"custom_metrics": [{"metrics": 5, "usd_per_month": 1}]},
            "custom_metrics[0].metrics is 5, wanted null",
        ),
        (
            {"custom_metrics": [{"metrics": None, "usd_per_month": 1}] * 2},
            "custom_metrics[0].metrics is null, wanted a whole number",
        ),
        (
            {"custom_metrics": [{"metrics": None, "usd": 1}]},
            "custom_metrics[0].usd is no member: known are metrics, usd_per_month",
        ),
    ],
)
def test_prices_that_are_wrong(changes: Json, complaint: str, tmp_path: Path) -> None:
    """The member is named, with what it is and what it should be."""
    path = listed(tmp_path / "p.json", **changes)
    with pytest.raises(UsageError) as raised:
        prices.read(path)
    assert str(raised.value).startswith(f"{path}: {complaint}")


def test_prices_that_are_no_list(tmp_path: Path) -> None:
    """A file that is missing, no JSON, or no object is told as such."""
    with pytest.raises(UsageError, match=r"--prices .*gone\.json cannot be read"):
        prices.read(tmp_path / "gone.json")
    (tmp_path / "p.json").write_text("{", "utf-8")
    with pytest.raises(UsageError, match=r"no JSON: .*see docs/cost"):
        prices.read(tmp_path / "p.json")
    (tmp_path / "p.json").write_text("[1]", "utf-8")
    with pytest.raises(UsageError, match=r"the file holds \[1\], wanted an object with date"):
        prices.read(tmp_path / "p.json")
