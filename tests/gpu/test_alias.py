"""Field names of DCGM 4.6 and their older ones."""

import json
from pathlib import Path

import pytest

from cwgpu.gpu import alias
from cwgpu.gpu.names import OLD_NAMES
from cwgpu.gpu.scale import FORMERS

# Old name -> new name, from the header of DCGM 4.6.0.
RENAMED = json.loads(
    (Path(__file__).parents[1] / "data" / "gpu" / "dcgm46-aliases.json").read_text()
)


def test_every_renamed_field_gets_its_old_name_back() -> None:
    """All 326 fields that DCGM 4.6 renamed are known, and no other."""
    assert {alias.old_name(new): old for old, new in RENAMED.items()} == {
        old: old for old in RENAMED
    }
    assert dict(OLD_NAMES) == {new: old for old, new in RENAMED.items()}
    assert len(OLD_NAMES) == 326


@pytest.mark.parametrize(
    "name",
    [
        "DCGM_FI_DEV_GPU_UTIL",
        "DCGM_FI_DEV_SM_CLOCK",
        # Nothing is known of an older field in another unit.
        "DCGM_FI_DEV_C2C_MAX_BANDWIDTH_BYTES_PER_SECOND",
        "dcgm_gpu_utilization",
        "up",
        "",
    ],
)
def test_other_names_stay(name: str) -> None:
    """What DCGM did not rename keeps its name."""
    assert alias.old_name(name) == name


def test_fields_in_base_units_get_the_old_name_too() -> None:
    """Those of DCGM 4.7 are called as the older ones, whose unit their values get."""
    assert alias.old_name("DCGM_FI_DEV_SM_CLOCK_HERTZ") == "DCGM_FI_DEV_SM_CLOCK"
    assert {alias.old_name(alias.old_name(name)) for name in FORMERS} == {
        former.name for former in FORMERS.values()
    }


def test_an_old_name_is_never_renamed_again() -> None:
    """No old name is some other field's new name, so renaming twice is renaming once."""
    assert not set(RENAMED) & set(OLD_NAMES)
