"""Which GPU a row is about."""

import pytest

from cwgpu.gpu import part


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ({"UUID": "GPU-1", "gpu": "0"}, ("GPU-1", "")),
        ({"UUID": "GPU-1", "GPU_I_ID": "7", "GPU_I_PROFILE": "1g.5gb"}, ("GPU-1", "7")),
        ({"uuid": "GPU-1"}, ("GPU-1", "")),
        ({"gpu_uuid": "GPU-1", "nvlink": "0"}, ("GPU-1", "")),
        ({"UUID": "GPU-1", "uuid": "GPU-2"}, ("GPU-1", "")),
        ({"UUID": "", "gpu": "0"}, None),
        ({"nvswitch": "nvswitch0"}, None),
        ({}, None),
    ],
)
def test_a_gpu_is_known_by_its_uuid(labels: dict[str, str], expected: object) -> None:
    """A slice has its number beside it, whose profile makes no difference."""
    assert part.of(tuple(labels.items())) == expected
