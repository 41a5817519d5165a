"""kill -9 at any moment: ``python -m tests.drill.kill`` does it two hundred times."""

from pathlib import Path

from tests.drill import kill


def test_a_kill_at_any_moment_loses_nothing_that_was_rendered(tmp_path: Path) -> None:
    """Once of each kind of moment; and only what was in a call in flight comes twice."""
    story = kill.play(tmp_path, len(kill.MOMENTS), seed=7)
    assert story.broken == []
    assert story.rendered > 0
