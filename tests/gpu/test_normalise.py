"""Label names of every exporter version become the usual ones."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cwgpu.gpu import normalise

Pairs = tuple[tuple[str, str], ...]


@pytest.mark.parametrize(
    ("exposed", "expected"),
    [
        (
            # exporter -o
            (("gpu", "0"), ("uuid", "GPU-1"), ("device", "nvidia0"), ("container_name", "main"),
             ("pod_name", "p"), ("pod_namespace", "n")),
            (("gpu", "0"), ("UUID", "GPU-1"), ("device", "nvidia0"), ("container", "main"),
             ("pod", "p"), ("namespace", "n")),
        ),
        (
            # NVLink rows since 4.6.0
            (("nvlink", "3"), ("gpu_uuid", "GPU-1"), ("model_name", "H100"), ("hostname", "ip-1")),
            (("nvlink", "3"), ("UUID", "GPU-1"), ("modelName", "H100"), ("Hostname", "ip-1")),
        ),
        (
            # A custom CSV with a label field by its DCGM 4.6 name
            (("gpu", "0"), ("DCGM_FI_SYSTEM_DRIVER_VERSION", "580.95.05")),
            (("gpu", "0"), ("DCGM_FI_DRIVER_VERSION", "580.95.05")),
        ),
        (
            # usual already
            (("UUID", "GPU-1"), ("Hostname", "ip-1"), ("modelName", "T4"), ("pod", "p")),
            (("UUID", "GPU-1"), ("Hostname", "ip-1"), ("modelName", "T4"), ("pod", "p")),
        ),
        ((), ()),
    ],
)  # fmt: skip
def test_rows_of_all_versions_look_alike(exposed: Pairs, expected: Pairs) -> None:
    """Whatever version or option printed a row, its labels have the same names."""
    assert normalise.labels(exposed) == expected


@pytest.mark.parametrize(
    ("exposed", "expected"),
    [
        ((("pod", "new"), ("pod_name", "old")), (("pod", "new"), ("pod_name", "old"))),
        ((("pod_name", "old"), ("pod", "new")), (("pod_name", "old"), ("pod", "new"))),
        ((("uuid", "a"), ("gpu_uuid", "b")), (("UUID", "a"), ("gpu_uuid", "b"))),
    ],
)
def test_a_label_that_is_there_is_not_overwritten(exposed: Pairs, expected: Pairs) -> None:
    """Where the usual name has a value already, the other label keeps its own name."""
    assert normalise.labels(exposed) == expected


@pytest.mark.parametrize(
    ("exposed", "expected"),
    [
        ((("pod", ""), ("pod_name", "p")), (("pod", "p"),)),
        ((("pod_name", "p"), ("pod", "")), (("pod", "p"),)),
        ((("pod_name", ""), ("pod", "p")), (("pod_name", ""), ("pod", "p"))),
        # Idle GPUs of exporters before 3.4.1: empty means absent, and is left for others to judge.
        ((("container", ""), ("pod", "")), (("container", ""), ("pod", ""))),
        ((("container_name", ""), ("pod_name", "")), (("container", ""), ("pod", ""))),
    ],
)
def test_an_empty_label_makes_way(exposed: Pairs, expected: Pairs) -> None:
    """An empty value is no value, so it stands in nobody's way."""
    assert normalise.labels(exposed) == expected


def test_labels_without_a_value_go() -> None:
    """The exporter's words for a label field that it could not read never become a dimension."""
    exposed = (("gpu", "0"), ("DCGM_FI_DEV_SERIAL", "SKIPPING DCGM VALUE"), ("vgpu", "<<<NULL>>>"))
    assert normalise.labels(exposed) == (("gpu", "0"),)


NAMES = ["UUID", "uuid", "gpu_uuid", "pod", "pod_name", "Hostname", "hostname", "gpu",
         "DCGM_FI_DRIVER_VERSION", "DCGM_FI_SYSTEM_DRIVER_VERSION"]  # fmt: skip


@given(st.dictionaries(st.sampled_from(NAMES), st.sampled_from(["", "a", "b", "c"])))
def test_no_value_is_lost_and_no_name_repeats(exposed: dict[str, str]) -> None:
    """Values stay as they are, names stay unique, and doing it twice changes nothing more."""
    once = normalise.labels(tuple(exposed.items()))
    names = [name for name, _ in once]
    assert len(names) == len(set(names))
    assert sorted(value for _, value in once if value) == sorted(filter(None, exposed.values()))
    assert normalise.labels(once) == once
