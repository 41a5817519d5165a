"""The compiled configuration: what the agent does, with nothing left to interpret.

Here belong frozen values whose regexes are compiled and whose defaults are filled in.
Reading files, environment variables and pydantic never enter: that is ``cwgpu.config``.
"""
