"""When a repeated act is due: on a grid of its own, spread over the interval by its identity.

As in Prometheus, targets of one interval are scraped at different moments, each always at the same
offset, so that the load is even and survives a restart. The moments are a quarter of a second
apart: what is due in one of them is done in a row, for a third less than each alone would cost a
processor that has turned to something else meanwhile.
"""

import hashlib
import math

_HASH_BYTES = 8
_APART_S = 0.25
_MOMENTS = 20  # of an interval, at least: those of a few seconds are spread, too
_FLOAT_BITS = 53  # what a float holds exactly, so that the share stays below 1


def offset_s(identity: bytes, interval_s: float) -> float:
    """Give the identity's place in the interval: 0 <= offset < interval, the same in every run."""
    digest = hashlib.blake2b(identity, digest_size=_HASH_BYTES).digest()
    bits = int.from_bytes(digest, "big") >> (8 * _HASH_BYTES - _FLOAT_BITS)
    apart_s = min(_APART_S, interval_s / _MOMENTS)
    return math.ldexp(bits, -_FLOAT_BITS) * interval_s // apart_s * apart_s


def next_due(now_s: float, offset_s: float, interval_s: float) -> float:
    """Give the first moment after ``now_s`` on the grid ``offset_s + k * interval_s``.

    Moments that passed meanwhile are not made up for.
    """
    # The division may be a little off, so the search begins one slot early.
    slot = math.floor((now_s - offset_s) / interval_s) - 1
    while (due := offset_s + slot * interval_s) <= now_s:
        slot += 1
    return due
