"""The program's own HTTP server: health, readiness and self metrics.

Here belong routes and answers. State of its own never enters: what is said comes from functions
that the caller gives.
"""
