"""What a source knows at a moment: the answer of every kind of discovery."""

from dataclasses import dataclass

from cwgpu.model.target import TargetGroup


@dataclass(frozen=True, slots=True)
class Findings:
    """Targets, and what is wrong with where they come from."""

    groups: tuple[TargetGroup, ...] = ()
    """All of them, in the source's order. What did not change is the same object as before."""
    faults: tuple[str, ...] = ()
    """What is wrong at present, one sentence each, again at every reading until it is mended."""
    denied: bool = False
    """One of the faults is that we may not know."""
    notes: tuple[str, ...] = ()
    """Why nothing is found where nothing is wrong."""
