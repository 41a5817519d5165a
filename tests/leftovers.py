"""What nobody has any more and is still there, because it refers to itself.

The agent looks for such garbage seldom, so what it makes over and over must go without being
looked for.
"""

import contextlib
import gc
from collections.abc import Iterator
from types import FrameType


@contextlib.contextmanager
def looked_for() -> Iterator[list[str]]:
    """Give a list that has, after the block, what the block left behind of ours.

    Objects by their type, and frames, which errors keep, by their function.
    """
    found: list[str] = []
    gc.collect()
    gc.disable()
    try:
        yield found
        gc.set_debug(gc.DEBUG_SAVEALL)
        gc.collect()
        found += sorted({_name(each) for each in gc.garbage} - {""})
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()


def _name(left: object) -> str:
    if isinstance(left, FrameType):
        module, name = left.f_globals.get("__name__", ""), left.f_code.co_qualname
    else:
        module, name = type(left).__module__, type(left).__qualname__
    return name if module.partition(".")[0] == "cwgpu" else ""
