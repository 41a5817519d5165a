"""What somebody outside says the cluster is called."""

import threading
from collections.abc import Callable
from dataclasses import dataclass

LIMIT_S = 3.0
"""Longer nobody waits for a name; whoever knows it can write it."""


@dataclass(frozen=True, slots=True)
class Told:
    """An answer, or why there is none."""

    name: str = ""
    """Empty when they do not say."""
    fault: str = ""
    """Why nothing is known; empty when they were asked, or there is nobody to ask."""


def within(limit_s: float, what: str, ask: Callable[[], Told]) -> Told:
    """Ask, and give up after this time: whoever waits for the answer goes on without.

    ``ask`` raises nothing; ``what`` names what it reads.
    """
    answers: list[Told] = []
    # A thread that ends with the process: what it waits for may take longer than anybody waits.
    thread = threading.Thread(target=lambda: answers.append(ask()), daemon=True)
    thread.start()
    thread.join(limit_s)
    late = Told(fault=f"{what} were not there within {limit_s:g} s")
    return next(iter(answers), late)
