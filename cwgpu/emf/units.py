"""The units that CloudWatch knows, spelled as it wants them.

Source: StandardUnit of the CloudWatch API,
https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_MetricDatum.html
"""

_SIZES = ("Bytes", "Kilobytes", "Megabytes", "Gigabytes", "Terabytes")
_BITS = ("Bits", "Kilobits", "Megabits", "Gigabits", "Terabits")
_AMOUNTS = ("Seconds", "Microseconds", "Milliseconds", *_SIZES, *_BITS, "Percent", "Count")

UNITS: frozenset[str] = frozenset(
    (
        *_AMOUNTS,
        *(f"{unit}/Second" for unit in (*_SIZES, *_BITS, "Count")),
        "None",
    )
)
"""All 27. ``None`` is the word for "no unit", and what a metric without a unit gets."""
