"""A directory of ready batches, one file each, and of events that are not in a batch yet.

Here belongs what is on the disk: its formats, and that nothing is lost or taken twice whenever the
process is killed, the disk is full or a file is damaged.

When to write, what to drop and when to try again never enter: see ``cwgpu.agent``.
"""
