"""Configuration: from files and the environment to a frozen plan, with every fault explained.

Here belong reading files, positions in them, the pydantic models of what may be written, the
complaints about what was written, and the translation into ``cwgpu.plan``.
Decisions of a running agent never enter: whoever runs reads the plan only.
"""
