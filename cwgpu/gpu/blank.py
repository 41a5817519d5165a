"""DCGM's values that mean "there is no value".

The exporter leaves such samples out, but old and custom builds let them through: a GPU would seem
to have two petabytes of memory or a temperature of nine trillion degrees. The values are those of
https://github.com/NVIDIA/go-dcgm/blob/main/pkg/dcgm/const.go and the exporter's own words for what
it could not read.
"""

# Each type has four, one after the other: blank, not found, not supported, not permitted.
_INT32_FIRST, _INT32_LAST = 2147483632.0, 2147483635.0
_FP64_FIRST, _FP64_LAST = 140737488355328.0, 140737488355331.0
# 9223372036854775792 .. 795 as a float; its neighbours are 1024 away, and no field counts so far.
_INT64 = 2.0**63

FLOOR = _INT32_FIRST
"""No value below this is blank."""

# Words of a field's name that say that its value stays far below the blanks of 32-bit integers.
_SMALL = frozenset(
    {
        *("ACTIVE", "CELSIUS", "CLOCK", "FAN", "FB", "OCCUPANCY", "POWER"),
        *("RATIO", "TEMP", "TEMPERATURE", "UTIL", "WATTS", "XID"),
    }
)
# Words that say that it need not: counts of bytes, millijoules and nanoseconds, bit masks and hertz
# (a memory clock of 2.6 GHz is beyond 2^31), even where a word from above is in the name too.
_LARGE = frozenset({"BYTES", "ENERGY", "HERTZ", "MASK", "VIOLATION"})

_TEXTS = frozenset(
    {
        "<<<NULL>>>",
        "<<<NOT_FOUND>>>",
        "<<<NOT_SUPPORTED>>>",
        "<<<NOT_PERMISSIONED>>>",
        # dcgm-exporter's own words, in a label and in place of a value.
        "SKIPPING DCGM VALUE",
        "ERROR - FAILED TO CONVERT TO STRING",
    }
)


def least(name: str) -> float:
    """Give the least value of this DCGM field that may mean that there is none."""
    return _INT64 if set(name.split("_")) & _LARGE else FLOOR


def is_blank(name: str, value: float) -> bool:
    """Tell whether this value of this DCGM field means that there is none.

    The blanks of 32-bit integers and of floats are numbers that a large field may really reach, so
    the field's name decides on them.
    """
    if value == _INT64:
        return True
    if value < least(name):
        return False
    words = set(name.split("_"))
    if _FP64_FIRST <= value <= _FP64_LAST:
        return True
    return _INT32_FIRST <= value <= _INT32_LAST and bool(words & _SMALL)


def is_blank_text(text: str) -> bool:
    """Tell whether this text, in place of a value or in a label, means that there is none."""
    return text in _TEXTS
