"""When things happen: the phase of a repeated act, and how long to wait after a failure.

Clocks, sleeping and random numbers never enter: they come in as arguments.
"""
