"""How long to wait before another try.

Full jitter: a random share of a wait that doubles with every failure, so that many agents that
failed together do not come back together
(https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/).
"""


def full_jitter(attempt: int, random01: float, base_s: float = 1.0, cap_s: float = 60.0) -> float:
    """Give the seconds to wait after failure number ``attempt``, counted from 0.

    ``random01`` is a random number of 0 <= x < 1; the wait is that share of
    ``min(cap_s, base_s * 2**attempt)``.
    """
    doublings = min(attempt, 62)  # far beyond any cap, and far from where floats end
    return random01 * min(cap_s, base_s * 2.0**doublings)
