"""What nobody has any more and is still there, because it refers to itself.

The agent looks for such garbage seldom, so what it makes over and over must go without being
looked for.
"""

import contextlib
import gc
from collections.abc import Iterator


@contextlib.contextmanager
def looked_for() -> Iterator[list[str]]:
    """Give a list that has, after the block, the types of ours of what the block left behind."""
    found: list[str] = []
    gc.collect()
    gc.disable()
    try:
        yield found
        gc.set_debug(gc.DEBUG_SAVEALL)
        gc.collect()
        types = [type(each) for each in gc.garbage]
        found += sorted({kind.__qualname__ for kind in types if _is_ours(kind)})
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()


def _is_ours(kind: type) -> bool:
    return kind.__module__.partition(".")[0] == "cwgpu"
