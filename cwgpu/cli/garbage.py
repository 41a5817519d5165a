"""When Python looks for garbage that refers to itself.

What is made while modules are loaded stays: of 115,000 objects two in a hundred were garbage.
Looking through them again and again as they became more took a seventh of the time until the agent
ran, and looking through them later a tenth of the time in which 5,000 pods become targets.
"""

import gc

_LOADED = 400_000
"""Objects that may come before the first look: more than all our modules and libraries are."""
_RUNNING = 5_000
"""And before each later one. Nothing that we make refers to itself, and what is looked through in
vain, by default after 700, is what waits for its flush: 2 % of all work. What libraries leave of a
connection that fails does refer to itself; 20,000 objects of that are 3 MB that lie about."""
_OLDER = 5
"""Looks at what is young for each look at what is older, and at all. By default, 10, what was not
found when it was young would lie about for an hour. What is old is not looked through before a
fourth of it is new, so this costs next to nothing."""


def later() -> None:
    """Let loading and what ends soon be over before anybody looks."""
    gc.set_threshold(_LOADED)


def seldom() -> None:
    """Take what there is for the program itself, and look at what comes from now on at times."""
    gc.freeze()
    gc.set_threshold(_RUNNING, _OLDER, _OLDER)
