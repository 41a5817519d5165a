"""Bounds on what is read, so that a wrong file costs a complaint and not the memory."""

SIZE_BYTES = 8 * 1024 * 1024
"""A ConfigMap holds 1 MiB, so real files are far below."""

DEPTH = 100
"""Far below the deepest key of the models."""

NODES = 1_000_000
"""Values of one file, YAML aliases counted as what they stand for: some 300 MB in memory. A
ConfigMap full of keys has fewer."""
