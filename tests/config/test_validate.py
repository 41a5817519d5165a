"""What does not fit is complained about, all of it at once."""

import json

import pytest

from cwgpu.config import document, shape
from cwgpu.config.agent import AgentFile
from cwgpu.config.document import Form
from cwgpu.config.field import UINT64_MAX
from cwgpu.config.prometheus import PrometheusFile
from cwgpu.config.report import Report
from cwgpu.config.validate import validate


def prometheus(text: str) -> tuple[PrometheusFile, list[tuple[int, str]]]:
    """Validate a prometheus.yml; give the model with the line and code of each complaint."""
    report = Report(document.read(text.encode(), "f", Form.YAML).root)
    model = validate(PrometheusFile, report)
    return model, [(each.line, each.code) for each in report.complaints]


def test_one_fault_does_not_hide_another() -> None:
    """Everything that is wrong is said, and what is right is read."""
    model, said = prometheus(
        "global: {scrape_interval: 5x, foo: 1}\n"
        "scrape_configs:\n"
        "- job_name: [a]\n"
        "  honor_labels: 'yes'\n"
        "  sample_limit: -1\n"
        "  relabel_configs:\n"
        "  -\n"
        "  - regexp: x\n"
        "  scheme: https\n"
    )
    assert sorted(said) == [
        (1, "bad-duration"),
        (1, "unknown-key"),
        (3, "wrong-type"),
        (4, "wrong-type"),
        (5, "wrong-type"),
        (7, "wrong-type"),
        (8, "unknown-key"),
    ]
    (job,) = model.scrape_configs
    assert (job.scheme, job.relabel_configs) == ("https", [])


@pytest.mark.parametrize(
    ("value", "right"),
    [(str(UINT64_MAX), True), (str(UINT64_MAX + 1), False), ("1e300", False), (".inf", False)],
)
def test_numbers_have_bounds(value: str, right: bool) -> None:  # noqa: FBT001
    """A limit is an unsigned integer of 64 bits."""
    _, said = prometheus(f"global: {{sample_limit: {value}}}\n")
    assert (said == []) is right


def test_thousands_of_digits_are_no_number() -> None:
    """A number that no field could hold costs nothing."""
    _, said = prometheus(f"global: {{sample_limit: {'9' * 100_000}}}\n")
    assert [code for _, code in said] == ["wrong-type"]


@pytest.mark.parametrize(
    ("written", "advice"),
    [
        ("scrape_intervall", "did you mean scrape_interval?"),
        ("Scrape_Interval", "did you mean scrape_interval?"),
        ("metrics_path", "did you mean scrape_configs[].metrics_path?"),
        (
            "zzz",
            (
                "it may have the keys scrape_interval, scrape_timeout, body_size_limit, "
                "sample_limit, target_limit, label_limit, label_name_length_limit, "
                "label_value_length_limit ..."
            ),
        ),
    ],
)
def test_an_unknown_key_is_sent_to_the_nearest(written: str, advice: str) -> None:
    """A slip is corrected, a misplaced key sent to its place, anything else told what there is."""
    report = Report(document.read(f"global: {{{written}: 1}}".encode(), "f", Form.YAML).root)
    validate(PrometheusFile, report)
    assert [each.help for each in report.complaints] == [advice]


@pytest.mark.parametrize("switch", [True, False])
def test_dcgm_is_a_switch_or_an_object(switch: bool) -> None:  # noqa: FBT001
    """A bool stands for all that is on by default; the rest stays off."""
    text = json.dumps({"cwgpu": {"dcgm": switch}})
    model = validate(AgentFile, Report(document.read(text.encode(), "f", Form.JSON).root))
    assert model.cwgpu is not None
    dcgm = model.cwgpu.dcgm
    assert {dcgm.labels, dcgm.blanks, dcgm.aliases, dcgm.rates} == {switch}
    assert {dcgm.units, dcgm.bounds, dcgm.xid_fatal} == {False}
    assert dcgm.idle is None


def test_every_default_is_valid() -> None:
    """An empty file gives the defaults."""
    assert prometheus("")[0] == PrometheusFile()


@pytest.mark.parametrize("root", [AgentFile, PrometheusFile])
def test_every_object_is_found_by_its_location(root: type[shape.Model]) -> None:
    """The model of an object is found by the way to any of its keys."""
    keys = list(shape.keys(root))
    for parent in [key for key in keys if key.model]:
        first = keys[keys.index(parent) + 1]
        assert shape.model_at(root, first.loc[:-1]) is parent.model


@pytest.mark.parametrize(
    ("written", "help_"),
    [
        ("__address__", "write [__address__]"),
        ("'a b'", "write ['a b']"),
        ("it's", "write ['it''s']"),
        ('"a"', 'write ["a"]'),
        ("7", ""),
        ("{}", ""),
    ],
)
def test_a_list_of_one(written: str, help_: str) -> None:
    """A text in the place of a list is shown as a list."""
    text = f"scrape_configs: [{{job_name: a, relabel_configs: [{{source_labels: {written}}}]}}]"
    report = Report(document.read(text.encode(), "f", Form.YAML).root)
    validate(PrometheusFile, report)
    assert [each.help for each in report.complaints] == [help_]
