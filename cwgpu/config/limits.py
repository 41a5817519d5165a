"""Bounds on what is read, so that a wrong file costs a complaint and not the memory."""

SIZE_BYTES = 8 * 1024 * 1024
"""A ConfigMap holds 1 MiB, so real files are far below."""

DEPTH = 100
"""The deepest key of the models is 9 levels down."""

NODES = 1_000_000
"""Nodes after YAML aliases are followed; 8 MiB of honest YAML has fewer."""
