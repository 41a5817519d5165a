"""Whatever goes wrong between the agent and an API server: in the end its targets are right."""

from pathlib import Path

import pytest

from tests.agent import havoc


@pytest.mark.parametrize("seed", range(6))
async def test_targets_come_to_be_those_of_the_server(seed: int, tmp_path: Path) -> None:
    """Churn, cuts, silence, versions that expire, refusals, rotated tokens, rights that go."""
    end = await havoc.play(seed, tmp_path)
    assert end.wanted == end.expected, end.acts
