"""The command line: one module a verb, exit codes, printing.

A verb reads its arguments, calls the floors below and prints. What it prints is decided there.
Heavy libraries are imported by the verb that needs them, never by ``cwgpu --version``.
"""
