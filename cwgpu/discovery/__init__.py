"""Where targets come from: whatever a source knows becomes target groups.

Here belong the sources themselves: target groups written into the configuration, and files that
hold them. Policy never enters: which targets are kept, and with what labels, is for relabelling to
say (``cwgpu.prom``), and when to look again is the agent's to decide.
"""
