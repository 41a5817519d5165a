"""When Python looks for garbage that refers to itself.

What is made while modules are loaded stays: of 115,000 objects two in a hundred were garbage.
Looking through them again and again as they became more took a seventh of the time until the agent
ran, and looking through them later a tenth of the time in which 5,000 pods become targets.
"""

import gc

_LOADED = 400_000
"""Objects that may come before the first look: more than all our modules and libraries are."""
_RUNNING = 20_000
"""And before each later one. Nearly nothing that we make refers to itself, and what is looked
through in vain, by default after 700, is what waits for its flush: 2 % of all work."""
_OLDER = 2
"""Looks at what is young for each look at what is older. Libraries leave cycles behind of every
connection that fails; by default, 10, they would lie about for an hour, or a day with few
targets. What is old is still not looked at before a fourth of it is new."""


def later() -> None:
    """Let loading and what ends soon be over before anybody looks."""
    gc.set_threshold(_LOADED)


def seldom() -> None:
    """Take what there is for the program itself, and look at what comes from now on at times."""
    gc.freeze()
    gc.set_threshold(_RUNNING, _OLDER, _OLDER)
