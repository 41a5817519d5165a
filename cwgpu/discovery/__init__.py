"""Where targets come from: whatever a source knows becomes target groups.

Here belong the sources themselves: target groups written into the configuration, files that hold
them, and web services that answer with them. Policy never enters: which targets are kept, and with
what labels, is for relabelling to say (``cwgpu.prom``), and when to ask again is for the agent to
see to.
"""
