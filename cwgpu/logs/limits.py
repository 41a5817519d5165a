"""What one PutLogEvents call may hold.

Source: the PutLogEvents page named in the package, unless said otherwise.
"""

_HOUR_MS = 3_600_000

EVENT_OVERHEAD_BYTES = 26
"""Counted for each event on top of its message."""
BATCH_BYTES = 1_048_576
"""1 MiB, counted as UTF-8 bytes of the messages plus the overhead. Without a margin: should the
service count otherwise, a batch that it refuses is halved, and nothing is lost."""
BATCH_EVENTS = 10_000
BATCH_SPAN_MS = 24 * _HOUR_MS
"""Most time between a batch's first and last event."""
OLDEST_MS = 14 * 24 * _HOUR_MS
"""An event older than this is not stored; nor is one older than its log group keeps events."""
NEWEST_MS = 2 * _HOUR_MS
"""An event further in the future than this is not stored."""
